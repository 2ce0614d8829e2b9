"""What `inspect` tells of a dispatchable: always what it tells of the default implementation."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import run_python


class Foreign:
    """A backend's type."""


def first(*args: Any, **kwargs: Any) -> str:
    return "first"


def f(x: int, n: Any = "n", *rest: Any, key: str = "key", **options: Any) -> str:
    return "default"


def positional(x: Any, y: Any = None, /) -> Any:
    return x, y


def make(default: Any = f, dispatch_args: Any = "x", *implemented: str) -> Any:
    description = {
        "name": "first",
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {f"lib:{name}": {"function": f"{__name__}:first"} for name in implemented},
    }
    system = BackendSystem(None, "MYLIB", backends=[description])
    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(default)


DEFAULTS = [f, positional, lambda x: x]


@pytest.mark.parametrize("implemented", [(), ("f",)], ids=["no backend", "a backend"])
@pytest.mark.parametrize("dispatch_args", ["x", None])
@pytest.mark.parametrize("default", DEFAULTS, ids=["f", "positional", "lambda"])
def test_it_tells_the_librarys_own(default: Any, dispatch_args: Any, implemented: Any) -> None:
    """F1: Before the first call, after it, and while calls are traced."""
    system, function = make(default, dispatch_args, *implemented)

    def check() -> None:
        assert function.__defaults__ == default.__defaults__
        assert function.__kwdefaults__ == default.__kwdefaults__
        assert inspect.signature(function) == inspect.signature(default)
        assert inspect.getsource(function) == inspect.getsource(default)

    for _ in range(2):
        check()
        function(1)
    with system.backend_opts(trace=True):
        check()
        function(1)
        check()


def test_a_function_without_signature_has_none() -> None:
    """The error is that of the function itself."""
    _, function = make(max, {"x": 0})
    for each in (max, function):
        with pytest.raises(ValueError, match="no signature found"):
            inspect.signature(each)


def test_decorating_imports_no_inspect() -> None:
    """A library's import stays light."""
    done = run_python(
        """
        import sys
        sys.modules.pop("inspect", None)  # an environment may import it when Python starts
        from spatch_core import BackendSystem

        system = BackendSystem(None, "MYLIB")

        @system.dispatchable("x")
        def f(x, y=1):
            return x

        print("inspect" in sys.modules)
        import inspect
        print(inspect.signature(f))
        """,
    )
    assert done.stdout.splitlines() == ["False", "(x, y=1)"]
