"""Signatures read by `inspect`, and errors about arguments that do not fit a signature.

Imported for callables other than plain functions, and for errors.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def inspected_parameters(
    default: Callable[..., Any], identifier: str
) -> dict[str, tuple[str | None, int | None]]:
    """Return the parameters of a callable.

    Returns
    -------
    dict of str to tuple
        For the name of each parameter, the name by which it can be passed by keyword and the
        position at which it can be passed by position; None where it cannot.

    Raises
    ------
    TypeError
        If the signature is unknown.
    """
    try:
        parameters = signature(default).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the signature of {identifier} cannot be determined ({error}); give the dispatch "
            "arguments as {name: position}"
        ) from error
    found: dict[str, tuple[str | None, int | None]] = {}
    for position, each in enumerate(parameters):
        if each.kind is each.POSITIONAL_ONLY:
            found[each.name] = None, position
        elif each.kind is each.POSITIONAL_OR_KEYWORD:
            found[each.name] = each.name, position
        elif each.kind is each.KEYWORD_ONLY:
            found[each.name] = each.name, None
    return found


def no_names(identifier: str, dispatch_args: object) -> TypeError:
    """Return the error for dispatch arguments in an unknown form."""
    return TypeError(
        f"{identifier}: the dispatch arguments are a name, several names in a list, a mapping "
        f"of names to positions or a callable that returns them, not {dispatch_args!r}"
    )


def no_parameter(identifier: str, name: object, known: Iterable[str]) -> TypeError:
    """Return the error for a parameter that is not in the signature."""
    return TypeError(
        f"{identifier} has no parameter {name!r}; it has {', '.join(known) or 'none'}. For "
        "dispatch arguments inside *args or **kwargs give a callable that returns them, or "
        "{name: position}"
    )


def no_arguments(identifier: str, found: object) -> TypeError:
    """Return the error for a finder that did not return an iterable."""
    what = "None" if found is None else f"an object of type {type(found).__qualname__!r}"
    return TypeError(
        f"{identifier}: the callable that finds its dispatch arguments returned "
        f"{what}, not several arguments in a tuple or list"
    )


def mismatch(
    identifier: str,
    default: Callable[..., Any],
    error: TypeError,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> TypeError:
    """Return the error for a call whose arguments the finder does not accept."""
    try:
        signature(default).bind(*args, **kwargs)
    except TypeError as wrong:  # the call is wrong, not the finder
        return TypeError(f"{identifier.partition(':')[2]}() {wrong}")
    except ValueError:  # the signature is unknown
        pass
    return TypeError(
        f"{identifier}: the callable that finds its dispatch arguments must take the "
        f"arguments of every call, as the function does, but {error}"
    )
