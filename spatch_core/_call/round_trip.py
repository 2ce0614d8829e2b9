"""The round trip of arguments: converted for the default implementation, and back after it.

For a list ``x`` of two arrays of a backend, ``there(x)`` is a list of the library's arrays. The
default implementation may return one of these, or a list that holds them: ``back`` gives the
caller's own objects in their places, and converts all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .converted_objects import name_of
from .nested_values import Leaves, has_same_items, is_container


class ConversionListener(Protocol):
    """Learns of the steps of a conversion."""

    def called(self) -> None:
        """Learn that the default implementation is about to run."""

    def converted(self, before: Any, after: Any) -> None:
        """Learn that an object was converted."""

    def refusal(self, reason: str) -> Exception:
        """Return the error for a result that cannot be converted."""
        ...


class Unconverted(Exception):  # noqa: N818  # it is caught where it is raised
    """Something cannot be converted; the argument says why."""


class RoundTrip:
    """Arguments with converted leaves, and the way back.

    Parameters
    ----------
    leaves : Leaves
        The leaves of the arguments.
    made : dict of int to object
        By identity of the caller's leaves, their replacements.
    back : dict of int to object
        By identity of replacements, the caller's objects. Results that are converted back are
        added.
    """

    __slots__ = ("_back", "_kept", "_leaves", "_made")

    def __init__(self, leaves: Leaves, made: dict[int, Any], back: dict[int, Any]) -> None:
        self._leaves = leaves
        self._made = made
        self._back = back
        # Keeps alive the objects whose identities are keys of `_back`, so that none is reused.
        self._kept: list[Any] = []

    def there(self, value: Any) -> Any:
        """Return an argument for the default implementation."""
        return self._leaves.replaced(value, self._made)

    def back(
        self,
        result: Any,
        is_library: Callable[[type], bool],
        from_default: Callable[..., Any],
        listener: ConversionListener,
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
        if not is_container(cls):  # the common case, in half the time
            return self._restored(result, from_default, listener) if is_library(cls) else result
        leaves = Leaves((result,), is_library, known=self._back)
        if not leaves.found:
            return result
        for key, value in leaves.found.items():
            if key not in self._back:
                self._restored(value, from_default, listener)
        made = {key: self._back[key] for key in leaves.found}
        restored = leaves.replaced(result, made, self._leaves.origins(self._made))
        # Containers are added, too: other arguments and the result may share them.
        self._back.update(made)
        self._kept.append(leaves)
        return restored

    def _restored(
        self, value: Any, from_default: Callable[..., Any], listener: ConversionListener
    ) -> Any:
        """Convert an object of the library; the outcome is kept for the whole round trip."""
        self._back[id(value)] = new = converted(from_default, "from_default", value)
        self._kept.append(value)
        if new is not value:
            listener.converted(value, new)
        return new

    def write_back(
        self,
        leaves: Leaves,
        is_library: Callable[[type], bool],
        from_default: Callable[..., Any],
        copy_into: Callable[..., Any],
        listener: ConversionListener,
    ) -> None:
        """Copy changes of converted arguments into the caller's objects.

        `leaves` are those of the arguments, found before the default implementation ran.
        """
        for key, value in leaves.found.items():
            copy_into(value, self._made[key])
            listener.converted(self._made[key], value)
        pairs = [*leaves.mutable_pairs(self._made)]
        # First, so that `back` returns the caller's containers instead of their replacements.
        self._back.update((id(new), value) for new, value in pairs)
        for new, value in pairs:
            # A copy, because `back` would return `value` itself for `new`.
            restored = self.back(new.copy(), is_library, from_default, listener)
            if has_same_items(value, restored):
                continue
            if type(value) is list:
                value[:] = restored
            else:
                value.clear()
                value.update(restored)


def converted(conversion: Callable[..., Any], name: str, value: Any) -> Any:
    """Return the converted object.

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
