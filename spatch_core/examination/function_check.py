"""Checks whether the functions of a backend accept the calls that they get."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import (
    Parameter,
    Signature,
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
)
from typing import Any

from .._description import EVERY
from .._errors import Finding, replace
from .findings import error, warning
from .mentions import Mention, Role
from .signatures import find_signature, mismatches, other_defaults

_CONVERSIONS = {
    "to_default": ("x",),
    "from_default": ("x",),
    "copy_into": ("original", "converted"),
}
"""The positional arguments of each conversion."""
_UNBOUND = ("is an unbound method", "Name it through an instance, or make it a static method")


def check_callable(mention: Mention, thing: Any, default: Signature | None) -> Finding | None:
    """Return a finding if an implementation or `should_run` cannot take the calls that it gets.

    `default` is the signature of the library's function; None if it is not known.
    """
    if not callable(thing):
        return _not_callable(mention, thing, "Name a function")
    if mention.role is Role.SHOULD_RUN and _is_deferred(thing):
        return error(
            f"{mention.text!r} is a coroutine or generator function: a call never returns True, so "
            "it always defers",
            "Write a plain function that returns True",
        )
    signature = find_signature(thing)
    context = mention.takes_context
    if signature is None or default is None:
        return None
    faults = mismatches(default, signature, context)
    if not faults:
        return _check_defaults(mention, default, signature)
    first, rest = _split(signature)
    message = f"cannot take all calls of the library's function {default}: {'; '.join(faults)}"
    remedy = f"Take {'the context, and then ' * context}what the library's function takes"
    # A single cause that explains all mismatches is reported instead of them.
    if first in ("self", "cls") and not mismatches(default, rest, context):
        message, remedy = _UNBOUND
    elif context and not mismatches(default, signature, context=False):
        message, remedy = _no_context(mention)
    # The first parameter is a context only if the rest has the names of the library's parameters.
    elif not (context or mismatches(default, rest, context=False)) and (
        set() < _names(default) <= _names(rest)
    ):
        message = "takes a DispatchContext first, which it does not get without uses_context = true"
        remedy = f"Write uses_context = true, or take what the library's function takes: {default}"
    return error(f"{mention.text}{signature} {message}", remedy)


def check_every(
    mention: Mention, thing: Any, functions: Iterable[tuple[str, Signature]]
) -> Finding | None:
    """Return a finding if a function in the table ``functions."*"`` cannot serve `functions`."""
    finding = check_callable(mention, thing, None)
    signature = find_signature(thing)
    if finding is not None or signature is None:
        return finding
    if not any(each.kind <= each.VAR_POSITIONAL for each in signature.parameters.values()):
        return error(
            f"{mention.text}{signature} takes no DispatchContext, which names the called function",
            "Take it as the first argument, and then *args and **kwargs",
        )
    for identifier, default in functions:
        found = check_callable(mention, thing, default)
        if found is not None:
            message = found.message.replace("library's function ", f"library's {identifier}", 1)
            if message == found.message:  # the fault is the same for all functions
                return found
            remedy = f"Take *args and **kwargs, or give {identifier} a table of its own"
            return replace(found, message=message, remedy=remedy)
    return None


def check_conversion(mention: Mention, thing: Any) -> Finding | None:
    """Return a finding if a conversion cannot take its arguments.

    Examples
    --------
    >>> mention = Mention("to_default", Role.CONVERSION, "m:convert")
    >>> check_conversion(mention, lambda: None).message
    'm:convert() cannot be called as to_default(x): too many positional arguments'
    """
    names = _CONVERSIONS[mention.key]
    call = f"{mention.key}({', '.join(names)})"
    if not callable(thing):
        return _not_callable(mention, thing, f"Name a function that is called as {call}")
    if _is_deferred(thing):
        return error(
            f"{mention.text!r} is a coroutine or generator function, and {call} must return the "
            "converted object",
            "Write a plain function",
        )
    signature = find_signature(thing)
    failure = signature and _binding_failure(signature, names)
    if not (signature and failure):
        return None
    if _split(signature)[0] in ("self", "cls") and not _binding_failure(
        signature, ("self", *names)
    ):
        return error(f"{mention.text}{signature} {_UNBOUND[0]}", _UNBOUND[1])
    return error(
        f"{mention.text}{signature} cannot be called as {call}: {failure}",
        f"Take {' and '.join(names)} by position"
        + (", the caller's object first" if len(names) > 1 else ""),
    )


def _not_callable(mention: Mention, thing: Any, remedy: str) -> Finding:
    kind = type(thing).__qualname__
    return error(f"{mention.text!r} is not a function but of type {kind!r}", remedy)


def _binding_failure(signature: Signature, names: tuple[str, ...]) -> str:
    """Say why a call with these positional arguments fails; empty if it does not."""
    try:
        signature.bind(*names)
    except TypeError as failure:
        needed = [
            each.name
            for each in signature.parameters.values()
            if each.kind is Parameter.KEYWORD_ONLY and each.default is each.empty
        ]
        return f"it requires {needed[0]!r} by keyword" if needed else str(failure)
    return ""


def _check_defaults(mention: Mention, default: Signature, own: Signature) -> Finding | None:
    others = other_defaults(default, own, mention.takes_context)
    if not others:
        return None
    return warning(
        f"{mention.text}{own} has other default values than the library's function {default}, so "
        f"a call without these arguments means something else: {', '.join(others)}",
        "Take the library's default values",
    )


def _names(signature: Signature) -> set[str]:
    parameters = signature.parameters.values()
    return {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _is_deferred(thing: Any) -> bool:
    """Whether a call returns a coroutine or a generator instead of an answer."""
    call = getattr(type(thing), "__call__", None)  # noqa: B004  # of an object that is callable
    kinds = (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)
    return any(kind(thing) or kind(call) for kind in kinds)


def _split(signature: Signature) -> tuple[str, Signature]:
    """Return the name of the first positional parameter, and the signature without it."""
    parameters = [*signature.parameters.values()]
    if not parameters or parameters[0].kind > parameters[0].POSITIONAL_OR_KEYWORD:
        return "", signature
    return parameters[0].name, signature.replace(parameters=parameters[1:])


def _no_context(mention: Mention) -> tuple[str, str]:
    lacks, remedy = "takes no DispatchContext,", "Take it as the first argument"
    if mention.role is Role.SHOULD_RUN:
        return f"{lacks} which every should_run gets first", remedy
    if mention.library_function == EVERY:
        return f"{lacks} which the implementation of every function gets first", remedy
    return (
        f"{lacks} but the description says uses_context = true",
        f"{remedy}, or leave uses_context out",
    )
