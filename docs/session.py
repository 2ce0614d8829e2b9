"""The directive ``session``: shell commands, and what they print when the page is built.

Each line is a command. The commands of a block run one after another in a temporary folder, which
is removed afterwards. If the directive names a folder, the temporary folder is a copy of it, and
its packages can be imported. Paths are shown relative to the temporary folder, or to the folder of
installed packages, so that a page is the same wherever it is built.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_CACHE = "__pycache__"


@dataclass(frozen=True)
class Answer:
    """What a command printed, and the code that it ended with."""

    command: str
    output: str
    code: int


class Session(Directive):
    """Shows commands with their output; those of a block all end with the same code."""

    has_content = True
    optional_arguments = 1
    option_spec = {"code": directives.nonnegative_int}  # noqa: RUF012  # as docutils has it

    def run(self) -> list[nodes.Node]:
        page = Path(self.state.document.current_source or "")
        folder = page.parent / self.arguments[0] if self.arguments else None
        for file in _files(folder):
            self.state.document.settings.record_dependencies.add(str(file))
        answers = run(list(self.content), folder)
        wanted = self.options.get("code", 0)
        for each in answers:
            if each.code != wanted:
                raise self.error(
                    f"{each.command} ended with code {each.code}, not {wanted}:\n{each.output}"
                )
        text = "\n\n".join(f"$ {each.command}\n{each.output}".rstrip() for each in answers)
        return [nodes.literal_block(text, text, language="text")]


def run(commands: Sequence[str], folder: Path | None = None) -> list[Answer]:
    """Run commands in an empty folder, or in a copy of one, without changing it."""
    with TemporaryDirectory() as temporary:
        place = Path(temporary).resolve() / "session"
        if folder is None:
            place.mkdir()
        else:
            copytree(folder, place, ignore=ignore_patterns(_CACHE))
        return [_run(each, place) for each in commands]


def _files(folder: Path | None) -> Iterator[Path]:
    """Yield what `run` copies."""
    if folder is not None:
        for each in sorted(folder.rglob("*")):
            if each.is_file() and _CACHE not in each.parts:
                yield each


def _run(command: str, place: Path) -> Answer:
    paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        # One that fails in a pipeline fails, whatever reads what it prints.
        ["bash", "-o", "pipefail", "-c", command],
        cwd=place,
        env={
            **os.environ,
            # The commands are those of this environment.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SPATCH_CORE_CACHE": "off",
            "COLUMNS": "80",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    output = done.stdout
    for path in sorted({str(place), *filter(None, sys.path)}, key=len, reverse=True):
        output = output.replace(path.rstrip(os.sep) + os.sep, "")
    return Answer(command, output.rstrip(), done.returncode)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("session", Session)
    return {"parallel_read_safe": True}
