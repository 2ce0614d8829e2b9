"""The decorator of a library: rules F about what it takes, and what it keeps."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from spatch_core import BackendSystem
from tests.function.conftest import Foreign, describe, make_system


def test_public_identity() -> None:
    """F3: `module=` and `qualname=` give the public identity."""

    def _private(x: Any) -> Any:
        return "default"

    system = make_system(describe(functions=["lib.public:Class.f"]))
    function: Any = system.dispatchable("x", module="lib.public", qualname="Class.f")(_private)
    assert function.__module__ == "lib.public"
    assert function.__qualname__ == "Class.f"
    assert function.__name__ == "f"
    assert dict(system.functions) == {"lib.public:Class.f": function}
    assert function(Foreign())[0] == "first"


@pytest.mark.parametrize(
    "value", [3, None, "lib:f", pytest.param(property(len), id="property")], ids=repr
)
def test_only_what_can_be_called_can_be_dispatchable(value: Any) -> None:
    """The decorator raises an error that names the mistake."""
    with pytest.raises(TypeError, match="only a function can be dispatchable"):
        make_system().dispatchable("x")(value)


@pytest.mark.parametrize(
    "kind",
    [
        property,
        staticmethod,
        classmethod,
        functools.cached_property,
        functools.singledispatchmethod,
    ],
)
def test_decorators_of_methods_stand_above(kind: Any) -> None:
    """The error says what to write; a static method would be called with its instance."""

    def method(x: Any) -> None: ...

    with pytest.raises(TypeError, match=rf"write @{kind.__name__} above @dispatchable\(") as caught:
        make_system().dispatchable("x")(kind(method))
    assert f"not a {kind.__name__}:" in str(caught.value)


def test_functions_map_identifiers_to_dispatchables() -> None:
    """F6: identifier -> dispatchable, without discovering anything."""
    system = BackendSystem(None, "MYLIB", backends=[{}])  # which would warn
    f: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
    assert dict(system.functions) == {"lib:f": f}
    with pytest.raises(TypeError):
        system.functions["lib:g"] = f  # type: ignore[index]
