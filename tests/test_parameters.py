"""Dispatch arguments in signatures: which argument of a call decides, and mistakes in naming it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from spatch_core import BackendSystem


class Mine:
    """The type of the backend."""


def answer(*args: Any, **kwargs: Any) -> str:
    return "backend"


class Backend:
    """Implements every function for its type."""

    name = "mine"
    primary_types = (f"{__name__}:Mine",)
    functions = {"*": {"function": answer, "uses_context": True}}  # noqa: RUF012  # a description


def plain(x: Any, y: Any = 1, *rest: Any, key: Any = 2, **options: Any) -> str:
    return "default"


def many_locals(x: Any, *, y: Any = 1) -> Any:
    z = ["default"]
    return z[0]


def signed(*args: Any, **kwargs: Any) -> str:
    return "default"


signed.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]


def oddly_signed() -> None: ...


oddly_signed.__signature__ = 3  # type: ignore[attr-defined]


def dispatchable(function: Any, names: Any) -> Any:
    system = BackendSystem(None, "TEST_PARAMETERS", backends=[Backend])
    return system.dispatchable(names, module="lib", qualname="f")(function)


@pytest.mark.parametrize(
    "mapping",
    [{"x": -1}, {"x": 64}, {"x": "0"}, {"x": True}, {"x": 1.0}, {0: 0}, {None: 0}, {"x": 0, 1: 1}],
    ids=repr,
)
def test_a_wrong_mapping_is_refused(mapping: Any) -> None:
    """The error repeats the value and names the function."""
    with pytest.raises(TypeError, match="lib:f: dispatch arguments map names to positions"):
        dispatchable(plain, mapping)


@pytest.mark.parametrize("name", ["z", "rest", "options", "self", "", 3], ids=repr)
def test_an_unknown_name_is_refused(name: Any) -> None:
    """The error lists the parameters, and the remedy for ``*args`` and ``**kwargs``."""
    with pytest.raises(TypeError, match=r"lib:f has no parameter .*x, y, key.*callable"):
        dispatchable(plain, [name])


def test_other_mistakes_are_refused_where_the_function_is_decorated() -> None:
    """Each message says what to write."""
    with pytest.raises(TypeError, match="it has none"):
        dispatchable(lambda: None, "x")
    with pytest.raises(TypeError, match="no parameter 'z'"):
        dispatchable(many_locals, "z")
    with pytest.raises(TypeError, match=r"lib:f: the dispatch arguments are a name, .* not 3"):
        dispatchable(plain, 3)
    with pytest.raises(TypeError, match=r"cannot be determined.*\{name: position\}") as caught:
        dispatchable(oddly_signed, "x")
    assert isinstance(caught.value.__cause__, (TypeError, ValueError))
