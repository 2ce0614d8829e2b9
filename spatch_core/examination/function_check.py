"""Checks whether implementations can take the calls of the functions of a library."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any

from .._description.fields import EVERY
from .findings import Finding, error, warning
from .mentions import Mention, Role
from .signatures import find_signature, mismatches, other_defaults

if TYPE_CHECKING:
    from inspect import Signature


def check_callable(mention: Mention, thing: Any, default: Signature | None) -> Finding | None:
    """Return why an implementation or `should_run` cannot take the calls that it would get."""
    if not callable(thing):
        return error(
            f"{mention.text!r} is no function but of type {type(thing).__qualname__!r}",
            "Name a function",
        )
    if mention.role is Role.SHOULD_RUN and is_deferred(thing):
        return error(
            f"{mention.text!r} is a coroutine or generator function: what it returns is never "
            "True, so that it always defers",
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
    # Report the cause alone where one explains all mismatches.
    if first in ("self", "cls") and not mismatches(default, rest, context):
        message = "is a method without its object"
        remedy = "Name it through an instance, or make it a static method"
    elif context and not mismatches(default, signature, context=False):
        message, remedy = _no_context(mention)
    # Only with the library's own names: else the first one may be the library's, renamed.
    elif not (context or mismatches(default, rest, context=False)) and (
        set() < _names(default) <= _names(rest)
    ):
        message = "takes a DispatchContext first, which it does not get without uses_context = true"
        remedy = f"Write uses_context = true, or take what the library's function takes: {default}"
    return error(f"{mention.text}{signature} {message}", remedy)


def check_every(
    mention: Mention, thing: Any, functions: Iterable[tuple[str, Signature]]
) -> Finding | None:
    """Return why the implementation of every other function, or its `should_run`, cannot be it.

    Parameters
    ----------
    mention : Mention
        In the table ``functions."*"``.
    thing : object
        The object that its identifier names.
    functions : iterable of pairs of str and inspect.Signature
        Those of the library that it serves, as far as they are known.
    """
    finding = check_callable(mention, thing, None)
    signature = find_signature(thing)
    if finding is not None or signature is None:
        return finding
    if not any(each.kind <= each.VAR_POSITIONAL for each in signature.parameters.values()):
        return error(
            f"{mention.text}{signature} takes no DispatchContext, which says which function is "
            "called",
            "Take it as the first argument, and then *args and **kwargs",
        )
    for identifier, default in functions:
        found = check_callable(mention, thing, default)
        if found is not None:
            message = found.message.replace("library's function ", f"library's {identifier}", 1)
            if message == found.message:  # it is about the context
                return found
            remedy = f"Take *args and **kwargs, or give {identifier} a table of its own"
            return replace(found, message=message, remedy=remedy)
    return None


def _check_defaults(mention: Mention, default: Signature, own: Signature) -> Finding | None:
    others = other_defaults(default, own, mention.takes_context)
    if not others:
        return None
    return warning(
        f"{mention.text}{own} has other default values than the library's function {default}, so "
        f"that a call without them means something else: {', '.join(others)}",
        "Take the library's default values",
    )


def _names(signature: Signature) -> set[str]:
    parameters = signature.parameters.values()
    return {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def is_deferred(thing: Any) -> bool:
    """Whether a call returns a coroutine or a generator instead of an answer."""
    call = getattr(type(thing), "__call__", None)  # noqa: B004  # its kind is asked for
    kinds = (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)
    return any(kind(thing) or kind(call) for kind in kinds)


def _split(signature: Signature) -> tuple[str, Signature]:
    """Return the name of the first parameter that takes one argument by position, and the rest."""
    parameters = [*signature.parameters.values()]
    if not parameters or parameters[0].kind > parameters[0].POSITIONAL_OR_KEYWORD:
        return "", signature
    return parameters[0].name, signature.replace(parameters=parameters[1:])


def _no_context(mention: Mention) -> tuple[str, str]:
    if mention.role is Role.SHOULD_RUN:
        return (
            "takes no DispatchContext, which every should_run gets first",
            "Take it as the first argument",
        )
    if mention.library_function == EVERY:
        return (
            "takes no DispatchContext, which the implementation of every function gets first",
            "Take it as the first argument",
        )
    return (
        "takes no DispatchContext, but the description says uses_context = true",
        "Take it as the first argument, or leave uses_context out",
    )
