"""Errors for mistakes in making a system and in decorating; imported where one is possible."""

from __future__ import annotations

from os.path import exists
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn, Protocol

    from .._dispatch_arguments import Function

    class Record(Protocol):
        """The part of `Dispatchable` that a warning needs."""

        identifier: str
        function: Function
        origin: object


def check_parentheses(given: Any, frame: FrameType) -> None:
    """Raise if ``@system.dispatchable`` was written without parentheses.

    Then the function to decorate is passed as the dispatch arguments. Unlike a finder, it is
    defined by the code that calls `dispatchable`, and not bound to a name yet.

    Parameters
    ----------
    given : object
        The first argument of `dispatchable`; no name in the frame is bound to it.
    frame : types.FrameType
        The caller of `dispatchable`.

    Raises
    ------
    TypeError
        If the parentheses are missing.
    """
    if isinstance(given, type):
        raise TypeError(_WITHOUT.format(given.__qualname__) + _CLASS)
    code = getattr(given, "__code__", None)
    if isinstance(code, CodeType) and any(each is code for each in frame.f_code.co_consts):
        raise TypeError(_WITHOUT.format(given.__qualname__))


_WITHOUT = (
    "dispatchable is called before it decorates {}: write @dispatchable() to dispatch on all "
    'arguments, or @dispatchable("x") to dispatch on the argument x'
)
_CLASS = "; decorate the methods of a class, or a function that makes its instances"


def check_callable(default: Any) -> None:
    """Raise unless `default` can be dispatchable: it is callable, no class and no static method.

    Raises
    ------
    TypeError
        If it is not.
    """
    if isinstance(default, type):
        raise TypeError(
            f"the class {default.__qualname__} cannot be dispatchable, because a function would "
            "take its place" + _CLASS
        )
    is_method = isinstance(default, staticmethod) or not callable(default)
    if is_method and hasattr(type(default), "__get__"):  # property, classmethod and the like
        name = type(default).__name__
        raise TypeError(
            f"only a function can be dispatchable, not a {name}: "
            f"write @{name} above @dispatchable(...)"
        )
    if not callable(default):
        raise TypeError(
            f"only a function can be dispatchable, not {default!r}; "
            "is it decorated with @dispatchable(), with parentheses?"
        )


def refuse_method(default: Any) -> NoReturn:
    """Raise for a method that no backend may replace.

    Parameters
    ----------
    default : callable
        Its name is one of those of `decorator.UNDISPATCHABLE`.

    Raises
    ------
    TypeError
        In every case.
    """
    why = {
        "__hash__": "equal objects must have one hash, with any backends installed",
        "__init__": "the instance is made already; decorate a function or a class method "
        "that makes instances",
        "__new__": "a call of the class calls __init__ as well; decorate a function or a class "
        "method that makes instances",
    }
    name = getattr(default, "__qualname__", default.__name__)
    raise TypeError(f"{name} cannot be dispatchable: {why[default.__name__]}")


def check_system(
    group: Any, environ_prefix: Any, default_types: Any, backends: Any, secondary_types: Any = ()
) -> None:
    """Raise if arguments of `BackendSystem` are wrong.

    Raises
    ------
    TypeError
        If one is of a wrong type.
    ValueError
        If `environ_prefix` cannot start the name of an environment variable.
    """
    if group is not None and not isinstance(group, str):
        raise TypeError(
            "group takes the name of an entry point group, e.g. 'mylib.backends', or None, "
            f"not {group!r}"
        )
    if not isinstance(environ_prefix, str):
        raise TypeError(f"environ_prefix takes a string, e.g. 'MYLIB', not {environ_prefix!r}")
    if not environ_prefix.isidentifier():
        raise ValueError(
            f"environ_prefix must start names of variables, e.g. 'MYLIB', not {environ_prefix!r}"
        )
    if not _is_several(default_types):
        raise TypeError("default_primary_types takes several type patterns, in a list")
    if not _is_several(secondary_types):
        raise TypeError("default_secondary_types takes several type patterns, in a list")
    if not _is_several(backends) or hasattr(backends, "keys"):
        raise TypeError("backends takes several descriptions, in a list")


def check_protocol(protocol: Any) -> None:
    """Raise unless `protocol` can be the name of the method of overriding types.

    Raises
    ------
    TypeError
        If it is no string.
    ValueError
        If it is not of the form ``__name__``, or is one of Python's own.
    """
    if not isinstance(protocol, str):
        raise TypeError(f"protocol takes the name of a class method, not {protocol!r}")
    is_special = protocol.isidentifier() and protocol[:2] == protocol[-2:] == "__"
    if not is_special or len(protocol) < _SHORTEST or hasattr(type, protocol):
        raise ValueError(
            "protocol takes a name of the form '__mylib_function__' that Python itself does not "
            f"use, not {protocol!r}"
        )


_SHORTEST = len("__x__")


def _is_several(given: object) -> bool:
    return not isinstance(given, str) and hasattr(given, "__iter__")


def warn_of_duplicate(earlier: Record, default: Any, origin: object) -> None:
    """Warn if another function takes the identity of an earlier one.

    It does not warn if a module is imported again, which then has another spec, nor in an
    interactive session, whose code comes from no file.

    Parameters
    ----------
    earlier : Record
        The function that has the identity.
    default : callable
        The default implementation that is being decorated.
    origin : object
        The spec of the module that defines it.
    """
    replaced = earlier.function.default
    if default is replaced or (
        earlier.origin is not origin
        and getattr(default, "__module__", None) == getattr(replaced, "__module__", None)
    ):
        return
    places = [_place(replaced), _place(default)]
    if "" in places:
        return
    from .._callers_line import warn_caller
    from .._errors import DuplicateFunctionWarning

    warn_caller(DuplicateFunctionWarning(earlier.identifier, *places))


def _place(default: Any) -> str:
    """Return where a function is defined, ``"file:line"``; empty if it comes from no file."""
    while hasattr(default, "__wrapped__"):
        default = default.__wrapped__
    code = getattr(default, "__code__", None)
    if code is None or not exists(code.co_filename):
        return ""
    return f"{code.co_filename}:{code.co_firstlineno}"
