"""The directive ``session``: shell commands and the output that they print at build time.

Each line of a block is a command. The commands of a block run one after another in a temporary
folder, which is deleted afterwards. If the directive names a folder, the temporary folder is a
copy of it, and packages in it can be imported. Paths in the output are shown relative to the
temporary folder, or to the folder on ``sys.path`` that contains them, so that a page does not
depend on the machine that builds it.
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
    """The output and the exit code of a command."""

    command: str
    output: str
    code: int


class Session(Directive):
    """Show commands with their output; all commands of a block must end with the same exit code."""

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
    """Yield the files that `run` copies."""
    if folder is not None:
        for each in sorted(folder.rglob("*")):
            if each.is_file() and _CACHE not in each.parts:
                yield each


def _run(command: str, place: Path) -> Answer:
    paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        # With pipefail, a command that fails inside a pipeline fails the whole pipeline.
        ["bash", "-o", "pipefail", "-c", command],
        cwd=place,
        env={
            **os.environ,
            # Commands are looked up in the running environment first.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
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
    """Register the directive."""
    app.add_directive("session", Session)
    return {"parallel_read_safe": True}
