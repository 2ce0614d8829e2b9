"""Objects of a library, made again from the content of pickles."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.types import BackendOptions


class Foreign:
    """A backend's type."""


def first(x: Any) -> str:
    return "first"


system = BackendSystem(
    None,
    "RESTORINGLIB",
    backends=[
        {
            "name": "first",
            "primary_types": [f"{__name__}:Foreign"],
            "functions": {"lib:f": {"function": f"{__name__}:first"}},
        }
    ],
)


@system.dispatchable("x", module="lib", qualname="f")
def f(x: Any) -> str:
    return "default"


def test_each_kind_is_made_again() -> None:
    """`BackendSystem.restore` is what pickles name, so what it takes stays."""
    options = system.restore("options", {"options": {"prioritize": ("first",), "trace": True}})
    assert isinstance(options, BackendOptions)
    assert (options.prioritized, options.trace) == (("first",), [])
    function = system.restore("function", {"options": {"disable": ("first",)}, "function": f})
    assert function(Foreign()) == "default"
    assert f(Foreign()) == "first"
    invocation = system.restore("invocation", {"function": f, "options": {"backend": "first"}})
    assert invocation(3) == "first"


def test_a_kind_of_a_later_version_is_named() -> None:
    with pytest.raises(ValueError, match=r"later version of spatch-core.*'block'"):
        system.restore("block", {})
