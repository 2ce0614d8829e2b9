"""The round trip of arguments: converted for the default implementation, and back after it.

For a list ``x`` of two arrays of a backend, ``there(x)`` is a list of the library's arrays. The
default implementation may return one of these, or a list that holds them: ``back`` gives the
caller's own objects in their places, and converts all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .converted_objects import name_of
from .leaves import Leaves


class Told(Protocol):
    """What a conversion tells the call that it is a part of."""

    def called(self) -> None:
        """Take note that the default implementation is about to run."""

    def converted(self, before: Any, after: Any) -> None:
        """Take note that an object was converted."""

    def refusal(self, reason: str) -> Exception:
        """Return the error of a result that cannot be converted."""
        ...


class Unconverted(Exception):  # noqa: N818  # it is caught where it is raised
    """Something cannot be converted; the argument says why."""


class RoundTrip:
    """Arguments with converted leaves, and the way back.

    Parameters
    ----------
    leaves : Leaves
        Of the arguments.
    made : dict of int to object
        By identity of the caller's leaves, what takes their places.
    back : dict of int to object
        By identity of what took their places, the caller's objects.
    """

    __slots__ = ("_back", "_leaves", "_made")

    def __init__(self, leaves: Leaves, made: dict[int, Any], back: dict[int, Any]) -> None:
        self._leaves = leaves
        self._made = made
        self._back = back

    def there(self, value: Any) -> Any:
        """Return an argument for the default implementation."""
        return self._leaves.replaced(value, self._made)

    def back(
        self,
        result: Any,
        is_library: Callable[[type], bool],
        from_default: Callable[..., Any],
        told: Told,
    ) -> Any:
        """Return a result for the caller.

        Raises
        ------
        Unconverted
            If ``from_default`` cannot convert it.
        """
        if id(result) in self._back:
            return self._back[id(result)]
        leaves = Leaves((result,), is_library)
        if not leaves.found:
            return result
        made: dict[int, Any] = {}
        for key, value in leaves.found.items():
            if key in self._back:
                made[key] = self._back[key]
                continue
            made[key] = new = converted(from_default, "from_default", value)
            if new is not value:
                told.converted(value, new)
        return leaves.replaced(result, made, self._leaves.origins(self._made))

    def write_back(
        self,
        values: list[Any],
        is_foreign: Callable[[type], bool],
        copy_into: Callable[..., Any],
        back: Callable[[Any], Any],
        told: Told,
    ) -> None:
        """Copy what was written into arguments back into the caller's objects."""
        leaves = Leaves(values, is_foreign)
        for value in leaves.found.values():
            written = self._made[id(value)]
            copy_into(value, written)
            told.converted(written, value)
        for new, value in [*leaves.made_of(self._made)]:
            restored = back(new)
            if type(value) is list and restored is not value:
                value[:] = restored
            elif type(value) is dict and restored is not value:
                value.clear()
                value.update(restored)


def converted(conversion: Callable[..., Any], name: str, value: Any) -> Any:
    """Return what a backend makes of an object.

    Raises
    ------
    Unconverted
        If the backend says that it cannot convert it.
    """
    try:
        made = conversion(value)
    except NotImplementedError as refusal:
        said = str(refusal) or f"{name} raised {type(refusal).__name__} for {name_of(value)}"
        raise Unconverted(said) from refusal
    if made is None:
        raise Unconverted(f"{name} returned None for {name_of(value)}")
    return made
