"""Signatures that `inspect` has to read, and errors about arguments that do not fit one."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core._signature.inspected_signatures import inspected_parameters, mismatch, no_arguments
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]


def function(a: Any, /, b: Any, *rest: Any, c: Any = None, **options: Any) -> None: ...


@pytest.mark.parametrize(
    ("default", "expected"),
    [
        pytest.param(function, {"a": (None, 0), "b": ("b", 1), "c": ("c", None)}, id="every kind"),
        pytest.param(
            functools.partial(function, 1), {"b": ("b", 0), "c": ("c", None)}, id="partial"
        ),
        pytest.param(len, {"obj": (None, 0)}, id="builtin"),
        pytest.param(lambda *args: None, {}, id="none"),
    ],
)
def test_parameters_have_their_places(default: Any, expected: dict[str, Any]) -> None:
    """F5: ``*args`` and ``**kwargs`` have no place."""
    assert inspected_parameters(default, "lib:f") == expected


def test_a_callable_without_a_signature_is_named() -> None:
    """F5: the error says what to give instead."""

    class Unsigned:
        __signature__ = "none"

        def __call__(self, *args: Any) -> None: ...

    with pytest.raises(TypeError, match=r"lib:f cannot be determined .*\{name: position\}"):
        inspected_parameters(Unsigned(), "lib:f")


def test_the_call_is_blamed_where_it_does_not_fit_the_function() -> None:
    """Otherwise the finder is blamed, which must accept the function's arguments."""
    error = TypeError("finder() takes 1 argument")
    of_call = mismatch("lib:Class.f", function, error, (), {})
    assert str(of_call).startswith("Class.f() missing a required")
    of_finder = mismatch("lib:f", function, error, (1, 2), {})
    assert str(of_finder).endswith("but finder() takes 1 argument")


@pytest.mark.parametrize(("found", "text"), [(None, "None"), (3, "an object of type 'int'")])
def test_what_a_finder_returned_is_named(found: Any, text: str) -> None:
    assert f"returned {text}, not" in str(no_arguments("lib:f", found))


def test_plain_functions_do_without() -> None:
    """F13: `inspect` would take most of the time of an import."""
    code = """
        import sys
        from spatch_core import BackendSystem
        system = BackendSystem(None, "LIB")
        names = ["spatch_core._signature.inspected_signatures", "inspect"]
        @system.dispatchable("x")
        def f(x): return x
        print([name in sys.modules for name in names])
        system.dispatchable("obj", identifier="lib:g")(len)
        print([name in sys.modules for name in names])
    """
    done = run_python(code, path=[CORE], options=["-S"])
    assert done.stdout.splitlines() == ["[False, False]", "[True, True]"]
