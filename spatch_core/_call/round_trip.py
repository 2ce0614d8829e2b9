"""The round trip of arguments: converted for the default implementation, and back after it.

For a list ``x`` of two arrays of a backend, ``there(x)`` is a list of the library's arrays. The
default implementation may return one of these, or a list that holds them: ``back`` gives the
caller's own objects in their places, and converts all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .converted_objects import name_of
from .leaves import Leaves, has_same_items, is_container


class Told(Protocol):
    """The messages of a conversion to the call that it is a part of."""

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
        By identity of what took their places, the caller's objects; so are those that are
        converted back.
    """

    __slots__ = ("_back", "_kept", "_leaves", "_made")

    def __init__(self, leaves: Leaves, made: dict[int, Any], back: dict[int, Any]) -> None:
        self._leaves = leaves
        self._made = made
        self._back = back
        # What was converted back: an identity is that of one object as long as this lives.
        self._kept: list[Any] = []

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
        cls = type(result)
        if not is_container(cls):  # in half the time
            return self._restored(result, from_default, told) if is_library(cls) else result
        leaves = Leaves((result,), is_library, known=self._back)
        if not leaves.found:
            return result
        for key, value in leaves.found.items():
            if key not in self._back:
                self._restored(value, from_default, told)
        made = {key: self._back[key] for key in leaves.found}
        restored = leaves.replaced(result, made, self._leaves.origins(self._made))
        # The containers, too: other arguments and the result may hold the same ones.
        self._back.update(made)
        self._kept.append(leaves)
        return restored

    def _restored(self, value: Any, from_default: Callable[..., Any], told: Told) -> Any:
        """Convert an object of the library, for good."""
        self._back[id(value)] = new = converted(from_default, "from_default", value)
        self._kept.append(value)
        if new is not value:
            told.converted(value, new)
        return new

    def write_back(
        self,
        leaves: Leaves,
        is_library: Callable[[type], bool],
        from_default: Callable[..., Any],
        copy_into: Callable[..., Any],
        told: Told,
    ) -> None:
        """Copy what was written into arguments back into the caller's objects.

        `leaves` are those of the arguments, found before anything was written.
        """
        for key, value in leaves.found.items():
            copy_into(value, self._made[key])
            told.converted(self._made[key], value)
        pairs = [*leaves.made_of(self._made)]
        self._back.update((id(new), value) for new, value in pairs)
        for new, value in pairs:
            # Of a copy: what took the place of the container itself is the container.
            restored = self.back(new.copy(), is_library, from_default, told)
            if has_same_items(value, restored):
                continue
            if type(value) is list:
                value[:] = restored
            else:
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
    if made is None or made is NotImplemented:
        raise Unconverted(f"{name} returned {made} for {name_of(value)}")
    return made
