"""Checks whether the conversions of a backend take the objects that they are called with."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from .findings import Finding, error
from .function_check import is_deferred
from .signatures import find_signature

if TYPE_CHECKING:
    from .mentions import Mention

_PARAMETERS = {
    "to_default": ("x",),
    "from_default": ("x",),
    "copy_into": ("original", "converted"),
}
"""The arguments of each conversion, by position."""


def check_conversion(mention: Mention, thing: Any) -> Finding | None:
    """Return why a conversion cannot be called.

    Parameters
    ----------
    mention : Mention
        With the conversion's field as its key.
    thing : object
        The object that the identifier names.

    Examples
    --------
    >>> from spatch_core.examination.mentions import Mention, Role
    >>> mention = Mention("to_default", Role.CONVERSION, "m:convert")
    >>> check_conversion(mention, lambda: None).message
    'm:convert() cannot be called as to_default(x): too many positional arguments'
    """
    names = _PARAMETERS[mention.key]
    call = f"{mention.key}({', '.join(names)})"
    if not callable(thing):
        return error(
            f"{mention.text!r} is no function but of type {type(thing).__qualname__!r}",
            f"Name a function that is called as {call}",
        )
    if is_deferred(thing):
        return error(
            f"{mention.text!r} is a coroutine or generator function, and {call} must return what "
            "it makes",
            "Write a plain function",
        )
    own = find_signature(thing)
    failure = None if own is None else _failure(own, names)
    if own is None or failure is None:
        return None
    first = next(iter(own.parameters), "")
    if first in ("self", "cls") and _failure(own, ("self", *names)) is None:
        return error(
            f"{mention.text}{own} is a method without its object",
            "Name it through an instance, or make it a static method",
        )
    return error(
        f"{mention.text}{own} cannot be called as {call}: {failure}",
        f"Take {' and '.join(names)} by position"
        + (", the caller's object first" if len(names) > 1 else ""),
    )


def _failure(own: Signature, names: tuple[str, ...]) -> str | None:
    """Say why a call with these arguments by position fails; None if it does not."""
    try:
        own.bind(*names)
    except TypeError as failure:
        needed = [
            each.name
            for each in own.parameters.values()
            if each.kind is Parameter.KEYWORD_ONLY and each.default is each.empty
        ]
        return f"it requires {needed[0]!r} by keyword" if needed else str(failure)
    return None
