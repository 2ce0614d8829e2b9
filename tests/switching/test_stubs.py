"""Stubs of attributes that follow the current backend: rule W13."""

from __future__ import annotations

import sys
from pathlib import Path

from spatch_core import BackendSystem
from spatch_core.switching import stub


class Backend:
    name = "b"
    primary_types = ("m:T",)
    attributes = {  # noqa: RUF012  # a description in code
        "lib:float64": "no.such.module:float64",
        "lib:_private": "no.such.module:x",
        "lib.sub:other": "no.such.module:x",
        "lib:class": "no.such.module:x",
    }


def test_a_stub_has_the_names_that_can_have_a_value() -> None:
    """W13: those of the library and of all backends; nothing is imported."""
    system = BackendSystem(None, "STUBBED", backends=[Backend])
    own = {"pi": 3.14, "flag": True, "array": list, "path": Path(), "float64": 1.0, "none": None}
    lines = stub(system, "lib", own).splitlines()
    assert lines[1:] == [
        "import builtins as _builtins",
        "from typing import Any as _Any",
        "",
        "array: _builtins.type[_Any]",
        "flag: _builtins.bool",
        "float64: _builtins.float",
        "none: _Any",
        "path: _Any",
        "pi: _builtins.float",
    ]
    assert stub(system, "lib.sub").splitlines()[4:] == ["other: _Any"]
    assert "no" not in sys.modules
