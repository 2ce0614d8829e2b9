"""Parameters: the places of dispatch arguments in the signature of a function."""

from __future__ import annotations

from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

# Attributes that give a function another signature than that of its code.
SIGNED = {"__wrapped__", "__signature__"}

# A sanity limit: a wrapper has a variable for each position up to the last dispatch argument.
_MOST_POSITIONS = 64


class Parameter:
    """The place of a dispatch argument in a signature.

    Parameters
    ----------
    name : str or None
        Its name, if it can be passed by keyword.
    position : int or None
        Its position, if it can be passed by position.
    label : str, optional
        The name by which the library names it, also if it cannot be passed by keyword.
    """

    __slots__ = ("label", "name", "position")

    def __init__(self, name: str | None, position: int | None, label: str | None = None) -> None:
        self.name = name
        self.position = position
        self.label = name if label is None else label


def find_parameters(
    default: Callable[..., Any],
    dispatch_args: str | Iterable[str] | Mapping[str, int | None],
    identifier: str,
) -> tuple[Parameter, ...]:
    """Find the places of the dispatch arguments in the signature of `default`.

    Parameters
    ----------
    default : callable
        The default implementation.
    dispatch_args : str, iterable of str, or mapping of str to int or None
        Their names, or their names and positions.
    identifier : str
        The function's identifier, for the messages.

    Raises
    ------
    TypeError
        If there is no such parameter, or the signature is unknown.
    """
    positions: Any = dispatch_args
    if hasattr(positions, "items"):
        return tuple(
            _checked(Parameter(name, position), identifier) for name, position in positions.items()
        )
    try:
        names = (dispatch_args,) if isinstance(dispatch_args, str) else tuple(dispatch_args)
    except TypeError:
        from ._inspected import no_names  # a library that is right needs it never

        raise no_names(identifier, dispatch_args) from None
    if not names:
        return ()  # without a look at the signature, which the function need not have
    places = _simple_signature(default)
    if places is None:
        from ._inspected import inspected_parameters  # few functions need it

        found = inspected_parameters(default, identifier)
        places = {label: Parameter(name, position, label) for label, name, position in found}
    for name in names:
        if name not in places:
            from ._inspected import no_parameter  # a library that is right needs it never

            raise no_parameter(identifier, name, places)
    return tuple(places[name] for name in names)


def _checked(parameter: Parameter, identifier: str) -> Parameter:
    position = parameter.position
    if not isinstance(parameter.name, str) or not (
        position is None or (type(position) is int and 0 <= position < _MOST_POSITIONS)
    ):
        raise TypeError(
            f"{identifier}: dispatch arguments map names to positions from 0, or to None for "
            f"those passed by keyword alone, not {parameter.name!r} to {position!r}"
        )
    return parameter


def _simple_signature(default: Callable[..., Any]) -> dict[str, Parameter] | None:
    """Read the parameters of a plain function; None for any other callable.

    `inspect.signature` works for all callables, but is slow to import and to run.
    """
    if type(default) is not FunctionType or default.__dict__.keys() & SIGNED:
        return None
    code = default.__code__
    positional = code.co_argcount
    names = code.co_varnames
    places = {
        name: Parameter(None if position < code.co_posonlyargcount else name, position, name)
        for position, name in enumerate(names[:positional])
    }
    for name in names[positional : positional + code.co_kwonlyargcount]:
        places[name] = Parameter(name, None)
    return places
