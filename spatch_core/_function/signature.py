"""Signatures of wrappers, which become those of `inspect` when they are first looked at."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Signature:
    """The signature of a default implementation, for the ``__signature__`` of its wrapper.

    Importing `inspect` and reading signatures would take most of the time of a decoration. The
    object has the layout of `inspect.Signature`. It becomes one, with its content, as soon as
    it is asked for its class, as `inspect` does, or for anything else.

    Parameters
    ----------
    function : callable
        The default implementation.
    """

    # Those of `inspect.Signature`: CPython exchanges the class for one with the same slots.
    __slots__ = ("_parameters", "_return_annotation")

    _parameters: Any
    _return_annotation: Any

    def __init__(self, function: Any) -> None:
        self._parameters = (function,)

    @property  # type: ignore[misc]  # the class that the object has from now on
    def __class__(self) -> type:
        import inspect

        waiting = self._parameters
        # It is a mapping if another thread has put in the content, and not the class yet.
        if type(waiting) is tuple:
            found: Any = inspect.signature(waiting[0])
            self._return_annotation = found._return_annotation
            self._parameters = found._parameters
        object.__dict__["__class__"].__set__(self, inspect.Signature)
        # `isinstance`, which asks here, takes the object's own class for an answer that it knew.
        return _subclass(inspect.Signature)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def __repr__(self) -> str:
        return repr(self._real())

    def __str__(self) -> str:
        return str(self._real())

    def __eq__(self, other: object) -> bool:
        return bool(self._real() == other)

    def __hash__(self) -> int:
        return hash(self._real())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._real().__reduce_ex__(protocol)

    def _real(self) -> Any:
        """Return the object itself, which is one of `inspect` from now on."""
        self.__class__  # noqa: B018  # this makes it one
        return self


_subclasses: dict[type, type] = {}
"""What `_subclass` has made."""


def _subclass(cls: type) -> type:
    """Return a subclass that differs by its identity alone."""
    return _subclasses.get(cls) or _subclasses.setdefault(cls, type("Signature", (cls,), {}))
