"""The environment variables of the helpers, and text that may be indented."""

from __future__ import annotations

import os
from collections.abc import Iterable
from textwrap import dedent

NO_CACHE = {"SPATCH_CORE_CACHE": "off"}
"""Variables so that tests depend on no earlier run, and leave nothing behind."""


def folders(path: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the folders of the argument `path`.

    Raises
    ------
    TypeError
        If it is one path instead of several.
    """
    if isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path takes several folders: write path=[{path!r}]")
    return [os.fspath(each) for each in path]


def dedented(content: str) -> str:
    """Return text without the indentation that all of its lines have, and empty lines before."""
    return dedent(content).lstrip("\n")
