"""A dispatchable bound to one backend or to one type."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dispatcher import Record


class Invocation:
    """A dispatchable bound to a backend or to a type; see `Dispatchable.invoke`.

    Parameters
    ----------
    record : Dispatchable
        The function.
    backend : str or None
        The backend whose implementation runs; None if the types of the arguments decide.
    type : type or None
        A type to dispatch on besides the types of the arguments.
    """

    __slots__ = ("_backend", "_record", "_type")

    def __init__(self, record: Record, backend: str | None, type: type | None) -> None:
        self._record = record
        self._backend = backend
        self._type = type

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._record.dispatcher.invoke(self._record, self._backend, self._type, args, kwargs)

    def __repr__(self) -> str:
        options = {"backend": self._backend, "type": self._type}
        given = ", ".join(f"{key}={value!r}" for key, value in options.items() if value)
        return f"<{self._record.identifier} invoked with {given}>"

    def __reduce__(self) -> Any:
        return _invocation, (self._record.wrapper, self._backend, self._type)


def _invocation(function: Any, backend: str | None, type: type | None) -> Invocation:
    invocation: Invocation = function.invoke(backend=backend, type=type)
    return invocation
