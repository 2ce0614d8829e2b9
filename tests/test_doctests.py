"""The examples in docstrings run as they are written."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import spatch_core

PACKAGE = Path(spatch_core.__file__).parent
MODULES = [
    ".".join(("spatch_core", *file.relative_to(PACKAGE).with_suffix("").parts))
    for file in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))

    assert result.attempted
    assert result.failed == 0
