"""A call of SciPy's tests, prepared for a backend."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scipy_tests._routes import Array, Route


class NotServedError(Exception):
    """The backend leaves the call to SciPy, however its arrays are made; the message says why."""


class Given:
    """A call whose NumPy arrays are replaced by arrays of a route.

    Parameters
    ----------
    route : Route
        The route that the call takes.
    dispatchable : callable
        The function of `scipy_dispatch`.
    args, kwargs : sequence, mapping
        The arguments, which stay unchanged: arrays that remain NumPy's are copied.

    Raises
    ------
    NotServedError
        If the backend rejects the call. First all arrays are converted to the route's, then only
        the first.
    """

    def __init__(
        self, route: Route, dispatchable: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        self._route, self._function = route, dispatchable
        reasons = []
        for way in route.ways():
            for most in (None, 1) if way else (0,):
                try:
                    self._give(way, most, args, kwargs)
                except (TypeError, ValueError) as error:
                    reasons.append(f"there is no such array: {error}")
                    continue
                if way and not self._made:
                    raise NotServedError("no array is among the arguments")
                reason = self._why_not()
                if reason is None:
                    return
                reasons.append(reason)
        raise NotServedError(reasons[0])

    def _give(
        self,
        way: Callable[[Array], Any] | None,
        most: int | None,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        # Keyed by identity, so that arguments that are the same array for SciPy are so for the
        # backend.
        self._pairs: dict[int, tuple[Array, Any]] = {}
        self._made = 0

        def there(value: Any) -> Any:
            if type(value) is np.ndarray:
                if id(value) not in self._pairs:
                    if way and self._route.takes(value) and (most is None or self._made < most):
                        self._made += 1
                        self._pairs[id(value)] = value, way(value)
                    else:
                        self._pairs[id(value)] = value, copied(value)
                return self._pairs[id(value)][1]
            if type(value) in (list, tuple):
                return type(value)(map(there, value))
            if type(value) is dict:
                return {key: there(each) for key, each in value.items()}
            return value

        self._args = [there(each) for each in args]
        self._kwargs = {key: there(each) for key, each in kwargs.items()}

    def _why_not(self) -> str | None:
        try:
            with self._route.asking():
                explained = self._function.explain(*self._args, **self._kwargs)
        except TypeError:
            # The call itself reports arguments that do not fit.
            return None
        if explained.selected == self._route.name:
            return None
        reasons = {each.backend: each.reason for each in explained.backends}
        return str(reasons.get(self._route.name) or "the backend has no such function")

    def answer(self) -> Any:
        """Make the call and return its result, converted to NumPy arrays."""
        with self._route.asking():
            self._result = self._function(*self._args, **self._kwargs)
            return self._result if self._route.is_scipy else self._fetched(self._result)

    def is_filled(self, expected: Any) -> bool:
        """Return whether the result is the given output array, if SciPy's result `expected` is."""
        pairs = self._pairs.values()
        return all(theirs is self._result for ours, theirs in pairs if ours is expected)

    def _fetched(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._fetched(each) for each in value]
        if isinstance(value, dict):
            return {self._key(key): self._fetched(each) for key, each in value.items()}
        return self._route.fetched(value)

    def _key(self, key: Any) -> Any:
        fetched = self._route.fetched(key)
        return fetched.item() if isinstance(fetched, np.ndarray) else fetched

    def may_overwrite(self) -> bool:
        """Return whether the call is allowed to overwrite its arrays."""
        names = list(signature(self._function).parameters)
        given = {**dict(zip(names, self._args, strict=False)), **self._kwargs}
        return any(map(given.get, ("overwrite_x", "overwrite_data")))

    def pairs(self) -> Iterator[tuple[Array, Any]]:
        """Yield each array of the test with the corresponding argument as a NumPy array."""
        for here, there in self._pairs.values():
            yield here, self._route.fetched(there)


def copied(array: Array) -> Array:
    """Return a copy with the same order of axes in memory and the same writeable flag."""
    copy: Array = array.copy("K")
    copy.flags.writeable = array.flags.writeable
    return copy
