"""Arguments of the helpers: environment variables, folders, and indented text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from textwrap import dedent


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
    """Return text without the common indentation and without leading empty lines."""
    return dedent(content).lstrip("\n")
