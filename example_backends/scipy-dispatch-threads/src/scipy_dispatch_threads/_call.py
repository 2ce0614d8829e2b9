"""A call of a SciPy function: binding its arguments and reading them as SciPy does."""

from __future__ import annotations

import functools
import inspect

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Deferred(Exception):  # noqa: N818 - not an error: SciPy runs the call itself
    """The call cannot or should not be split: SciPy runs it as one call, for the given reason."""


class Call:
    """A call of a SciPy function.

    Parameters
    ----------
    function : callable
        SciPy's function.
    args, kwargs : tuple, dict
        The arguments, as the caller gave them.

    Attributes
    ----------
    input : numpy.ndarray
        The array to be filtered.

    Raises
    ------
    Deferred
        If the arguments do not allow the input to be cut into slabs.
    """

    __slots__ = ("arguments", "function", "input", "signature")

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function = function
        self.signature = signature_of(function)
        try:
            self.arguments = self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise Deferred(f"SciPy is to report: {error}") from error
        self.input: Array = self.arguments["input"]
        if type(self.input) is not np.ndarray:
            raise Deferred(f"the input is a {type(self.input).__name__}, not a numpy.ndarray")
        for name, value in self.arguments.items():
            if hasattr(value, "__next__"):
                raise Deferred(f"{name} is an iterator, which can be read once only")

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter: the given argument or the default."""
        if name in self.arguments:
            return self.arguments[name]
        parameter = self.signature.parameters[name]
        return {} if parameter.kind is parameter.VAR_KEYWORD else parameter.default

    def get(self, name: str) -> Any:
        """Return the value of a parameter; None if the installed SciPy lacks the parameter."""
        return self[name] if name in self.signature.parameters else None

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that the function works along, from its parameter ``axes``."""
        axes = self.get("axes")
        if axes is None:
            return tuple(range(self.input.ndim))
        found = [self.axis_of(axis) for axis in (axes if np.iterable(axes) else [axes])]
        if found != sorted(found):
            # Some functions match windows, origins and modes with the axes in the order given,
            # others in the order of the array's axes.
            raise Deferred("the axes are out of order")
        return tuple(found)

    def axis_of(self, axis: int) -> int:
        """Return an axis as a non-negative number."""
        if not -self.input.ndim <= axis < self.input.ndim:
            raise ValueError(f"there is no axis {axis}")
        return int(axis) % self.input.ndim

    def each(self, name: str, number: int | None = None) -> list[Any]:
        """Return the value of a parameter for each of the axes.

        Parameters
        ----------
        name : str
            A parameter that takes one value, or one for each of the axes.
        number : int, optional
            The number of axes; the length of `axes` by default.
        """
        value = self[name]
        number = len(self.axes) if number is None else number
        values = [value] * number
        if np.iterable(value) and not isinstance(value, str):
            values = list(value)
        if len(values) != number:
            raise ValueError(f"{name} has {len(values)} values for {number} axes")
        return values

    def __call__(self, **replacements: Any) -> Any:
        """Call the function with some of the arguments replaced."""
        arguments = {**self.arguments, **replacements}
        bound = inspect.BoundArguments(self.signature, arguments)
        return self.function(*bound.args, **bound.kwargs)


@functools.cache
def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function."""
    return inspect.signature(function)
