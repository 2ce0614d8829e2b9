"""Checks for mistakes in registering implementations; imported only where one is likely."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_WRITE = 'write @backend.implements("library.module:function")'
_TAKES = "implements takes a library's function or its identifier, not"


def check_implements(given: Any, should_run: Any, uses_context: Any, frame: FrameType) -> None:
    """Raise if the arguments of `implements` are wrong, or its parentheses are missing.

    In ``@backend.implements`` without parentheses, the argument is the implementation. It then
    comes from the module that calls `implements`, and is not dispatchable.

    Parameters
    ----------
    given : object
        The first argument of `implements`.
    should_run, uses_context : object
        The other arguments.
    frame : types.FrameType
        The caller of `implements`.

    Raises
    ------
    TypeError
        If an argument is wrong.
    """
    if not isinstance(given, str):
        if not callable(given) and not hasattr(given, "__func__"):
            raise TypeError(f"{_TAKES} {given!r}: {_WRITE}")
        is_own = getattr(given, "__module__", None) == frame.f_globals.get("__name__")
        if isinstance(given, type) or (is_own and not hasattr(given, "explain")):
            kind = "the class" if isinstance(given, type) else "the backend's own function"
            raise TypeError(f"{_TAKES} {kind} {_name(given)}: {_WRITE}, with parentheses")
    if not isinstance(should_run, str) and not callable(should_run) and should_run is not None:
        raise TypeError(f"should_run takes a function or its identifier, not {should_run!r}")
    if not isinstance(uses_context, bool):
        raise TypeError(f"uses_context takes True or False, not {uses_context!r}")


def check_set_should_run(given: Any, frame: FrameType) -> None:
    """Raise if ``@backend.set_should_run`` was written without parentheses.

    The argument is then the function to decorate, whose name the caller has not bound to it yet.

    Parameters
    ----------
    given : object
        The argument of `set_should_run`, which is not a registered implementation.
    frame : types.FrameType
        The caller of `set_should_run`.

    Raises
    ------
    TypeError
        If the parentheses are missing.
    """
    name = str(getattr(given, "__name__", ""))
    is_own = getattr(given, "__module__", None) == frame.f_globals.get("__name__")
    named = frame.f_locals.get(name, frame.f_globals.get(name))
    if name and is_own and named is not given:
        raise TypeError(
            f"set_should_run is called before it decorates {_name(given)}: write "
            "@backend.set_should_run(implementation), with the function that it is for"
        )


def _name(function: object) -> str:
    return str(getattr(function, "__qualname__", function))
