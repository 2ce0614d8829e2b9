"""For backends: a call with its arguments by the names of SciPy's parameters.

Examples
--------
>>> from scipy import ndimage
>>> call = BoundCall.bind(ndimage.uniform_filter, ([1, 2, 3],), {"size": 3})
>>> call["size"], call["mode"], call["no such parameter"]
(3, 'reflect', None)
>>> call(size=1)
array([1, 2, 3])
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["BoundCall", "Deferred", "signature_of"]


class Deferred(Exception):  # noqa: N818 - not an error: SciPy runs the call itself
    """The reason for which a backend leaves a call to SciPy."""


@dataclass(frozen=True)
class BoundCall:
    """A function and its arguments.

    Parameters
    ----------
    function : callable
        A function of SciPy or of `scipy_dispatch`.
    arguments : mapping of str to object
        Those that the caller passed, by name; defaults are absent.
    """

    function: Callable[..., Any]
    arguments: Mapping[str, Any]

    @classmethod
    def bind(
        cls, function: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]
    ) -> BoundCall:
        """Return the call; raise TypeError if the arguments do not fit the signature."""
        signature = signature_of(function)
        arguments: dict[str, Any] = {}
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                arguments.update(value)
            else:
                arguments[name] = value
        return cls(function, arguments)

    def __getitem__(self, name: str) -> Any:
        """Return an argument or its default; None if the installed SciPy lacks the parameter."""
        if name in self.arguments:
            return self.arguments[name]
        parameter = signature_of(self.function).parameters.get(name)
        return None if parameter is None else parameter.default

    def __call__(self, **changes: Any) -> Any:
        """Call the function with some of the arguments replaced."""
        return self.function(**{**self.arguments, **changes})

    def replaced(self, **changes: Any) -> BoundCall:
        """Return this call with some arguments replaced; those that SciPy lacks are dropped."""
        known = signature_of(self.function).parameters
        kept = {name: value for name, value in changes.items() if name in known}
        return BoundCall(self.function, {**self.arguments, **kept})

    def without(self, *names: str) -> BoundCall:
        """Return this call without some of its arguments."""
        kept = {name: value for name, value in self.arguments.items() if name not in names}
        return BoundCall(self.function, kept)

    def axes(self, ndim: int) -> tuple[int, ...]:
        """Return the axes along which a filter of an array of `ndim` dimensions works.

        Raises
        ------
        Deferred
            If they are out of order: some functions match windows, origins and modes with the axes
            in the order given, others in the order of the array's axes.
        ValueError
            If there is no such axis.
        """
        axes = self["axes"] if self["axis"] is None else self["axis"]
        if axes is None:
            return tuple(range(ndim))
        found = list(axes) if np.iterable(axes) else [axes]
        for axis in found:
            if not -ndim <= axis < ndim:
                raise ValueError(f"there is no axis {axis}")
        found = [int(axis) % ndim for axis in found]
        if found != sorted(found):
            raise Deferred("the axes are out of order")
        return tuple(found)

    def each(self, name: str, number: int) -> list[Any]:
        """Return the values of a parameter that takes one, or one for each of `number` axes."""
        value = self[name]
        if isinstance(value, str) or not np.iterable(value):
            return [value] * number
        values = list(value)
        if len(values) != number:
            raise ValueError(f"{name} has {len(values)} values for {number} axes")
        return values


@lru_cache(maxsize=256)
def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function."""
    return inspect.signature(function)
