"""A backend for its own array type that returns a record of every call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from spatch_core import DispatchContext


class Marker:
    """An array of a type that only the recorder supports."""


class Record(NamedTuple):
    """The arguments that reached the backend."""

    function: str
    dispatch_args: tuple[Any, ...]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def record(context: DispatchContext, /, *args: Any, **kwargs: Any) -> Record:
    return Record(context.function, context.dispatch_args, args, kwargs)


def description(identifiers: list[str], *more_types: str) -> dict[str, Any]:
    """Return a description of the backend, in which every function is recorded."""
    return {
        "name": "recorder",
        "primary_types": [f"{__name__}:Marker", *more_types],
        "secondary_types": ["~numpy:ndarray"],
        "functions": {
            identifier: {"function": f"{__name__}:record", "uses_context": True}
            for identifier in identifiers
        },
    }
