"""What the helpers share: their environment variables, and text that may be indented."""

from __future__ import annotations

from textwrap import dedent

NO_CACHE = {"SPATCH_CORE_CACHE": "off"}
"""Variables so that tests depend on no earlier run, and leave nothing behind."""


def dedented(content: str) -> str:
    """Return text without the indentation that all of its lines have, and empty lines before."""
    return dedent(content).lstrip("\n")
