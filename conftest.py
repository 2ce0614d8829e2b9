"""Runs the code blocks of the README and of the docs as tests.

A block is skipped if it, or an earlier block of its page, uses an example distribution that is
not installed, or a library that an example is for.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from sybil import Example, Sybil
from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser, SkipParser

# For environments that were made before the package had a pytest plugin.
if "spatch_core.testing.pytest_plugin" not in sys.modules:
    pytest_plugins = ["spatch_core.testing.pytest_plugin"]

EXAMPLES = Path(__file__).parent / "example_backends"
MISSING = [
    name
    for name in sorted(
        {"dask", "distributed", "jax", "scipy", "tensorly", "torch"}
        | {path.name for path in EXAMPLES.glob("*/src/*") if path.name.isidentifier()}
    )
    if importlib.util.find_spec(name) is None
]
# An import in Python, or a word of a command.
USE = rf"^(?:(?:from|import) |\$ .*\b)({'|'.join(MISSING)})\b"


def pytest_configure(config: pytest.Config) -> None:
    # The blocks of a page share their names, so one worker of pytest-xdist runs a whole page.
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadfile"


def pytest_runtest_setup(item: pytest.Item) -> None:
    example = getattr(item, "example", None)
    if MISSING and isinstance(example, Example):
        text = example.document.text[: example.region.end]
        if uses := re.search(USE, text, re.MULTILINE):
            pytest.skip(f"{uses[1]} is not installed")


class DescriptionParser(CodeBlockParser):
    """A ``toml`` block is TOML; one with primary types is a backend's valid description."""

    language = "toml"

    def evaluate(self, example: Example) -> None:
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib
        fields = tomllib.loads(example.parsed)
        if "primary_types" in fields:
            from spatch_core._description import Source
            from spatch_core._parsing import parse_description

            parse_description(fields, Source(file=example.path))


class ConsoleParser(CodeBlockParser):
    """The commands of a ``console`` block succeed and print the output below them.

    A command starts with ``$``. ``...`` stands for any text. A command without output below it
    may print anything.
    """

    language = "console"

    def evaluate(self, example: Example) -> str | None:
        for part in re.split(r"^\$ ", example.parsed, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            found = subprocess.run(
                command,
                shell=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env={**os.environ, "PATH": _path(), "COLUMNS": "80", "NO_COLOR": "1"},
                check=False,
            )
            if found.returncode:
                return f"{command} ended with code {found.returncode}:\n{found.stdout}"
            if expected.strip() and not _agrees(expected, found.stdout):
                return f"{command} should print\n{expected}\nbut printed\n{found.stdout}"
        return None


def _path() -> str:
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])


def _agrees(expected: str, found: str) -> bool:
    lines = (re.sub(r"\s+", " ", text).strip() for text in (expected, found))
    wanted, printed = lines
    pattern = re.sub(r"([*?\[])", r"[\1]", wanted).replace("...", "*")
    return fnmatchcase(printed, pattern)


def _fresh_namespace(namespace: dict[str, Any]) -> None:
    # A class or function of a page needs a module.
    namespace["__name__"] = "__main__"


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), DescriptionParser(), ConsoleParser(), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
    excludes=["example_backends/*/README.md"],  # the examples' own
    setup=_fresh_namespace,
).pytest()
