"""The base of all strategies for sharing a call among threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ._call import Call, Deferred

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from ._call import Array
    from ._policy import Policy


class Strategy(ABC):
    """A strategy for sharing a call of a function among threads."""

    counted: ClassVar[str] = "input"
    """The parameter whose number of elements decides whether sharing pays."""

    def check(self, call: Call, policy: Policy) -> None:
        """Check that a call can be shared and is worth sharing.

        Raises
        ------
        Deferred
            If not, with the reason.
        """
        if policy.workers < 2 and policy.slabs is None:
            raise Deferred("there is one worker")
        try:
            elements = np.size(call[self.counted]) if call.input.size else 0
            if elements < max(policy.smallest, 1):
                raise Deferred(too_few(elements, policy.smallest))
            self.check_arguments(call, policy)
        except Deferred:
            raise
        except Exception as error:
            # For invalid arguments, SciPy's own message is the clearest.
            raise Deferred(f"SciPy is to report: {type(error).__name__}: {error}") from error

    @abstractmethod
    def check_arguments(self, call: Call, policy: Policy) -> None:
        """Raise `Deferred` if the call cannot be shared; any other exception if it is invalid."""

    @abstractmethod
    def compute(self, call: Call, policy: Policy) -> Any:
        """Return SciPy's result for a call that passed `check`.

        Raises
        ------
        Deferred
            If it turns out only during the computation that the call cannot be shared; no array
            has been changed then.
        """


@dataclass(frozen=True)
class FirstOf(Strategy):
    """Two strategies: the first where it is efficient, else the second.

    Attributes
    ----------
    first, otherwise : Strategy
        `first` is used if its expected gain is at least 0.9 times the number of workers, that is
        if slabs repeat little of each other's work.
    """

    first: Strategy
    otherwise: Strategy

    def check_arguments(self, call: Call, policy: Policy) -> None:
        try:
            self.first.check_arguments(call, _demanding(policy))
        except Deferred:
            self.otherwise.check_arguments(call, policy)

    def compute(self, call: Call, policy: Policy) -> Any:
        with suppress(Deferred):
            self.first.check_arguments(call, _demanding(policy))
            return self.first.compute(call, policy)
        self.otherwise.check_arguments(call, policy)
        return self.otherwise.compute(call, policy)


def _demanding(policy: Policy) -> Policy:
    return replace(policy, least_gain=0.9 * policy.workers)


def too_few(elements: int, smallest: int) -> str:
    """Return the reason against sharing a call with too few elements."""
    return f"{elements} elements are too few: threads pay from {smallest} on"


def plan(
    strategy: Strategy,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    policy: Policy,
) -> Callable[[], Any] | str:
    """Return what shares a call of a SciPy function among threads, or the reason against it."""
    try:
        call = Call(function, args, kwargs)
        strategy.check(call, policy)
    except Deferred as deferred:
        return str(deferred)

    def compute() -> Any:
        with suppress(Deferred):  # there may be a NaN
            return strategy.compute(call, policy)
        return function(*args, **kwargs)

    return compute


def evaluate(
    strategy: Strategy,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    policy: Policy,
) -> Any:
    """Return a SciPy function's result, sharing the work among threads if possible."""
    planned = plan(strategy, function, args, kwargs, policy)
    return function(*args, **kwargs) if isinstance(planned, str) else planned()


def given_output(call: Call) -> Array | None:
    """Return the array that the caller wants filled; None if SciPy would make a new one.

    Raises
    ------
    Deferred
        If that array cannot be filled slab by slab.
    """
    output = call["output"]
    if output is None:
        return None
    if isinstance(output, (type, np.dtype, str)):
        if call.input.dtype.kind == "c" or np.iscomplexobj(call.get("weights")):
            raise Deferred("SciPy is to judge a data type for the output of complex numbers")
        return None
    if type(output) is not np.ndarray:
        raise Deferred(f"the output is a {type(output).__name__}, not a numpy.ndarray")
    if not output.flags.writeable:
        raise Deferred("the output is read-only")
    if overlaps_itself(output):
        raise Deferred("elements of the output share memory with each other")
    return output


def overlaps_itself(array: Array) -> bool:
    """Return whether elements of an array may share memory, as in a broadcast array.

    Examples
    --------
    >>> overlaps_itself(np.zeros((4, 6))[::2, ::-3].T)
    False
    >>> overlaps_itself(np.broadcast_to(np.zeros(6), (4, 6)))
    True
    """
    end = array.itemsize
    axes = zip(map(abs, array.strides), array.shape, strict=True)
    for stride, length in sorted(axis for axis in axes if axis[1] > 1):
        if stride < end:
            return True
        end += stride * (length - 1)
    return False


def is_same_array(first: Array, second: Array) -> bool:
    """Return whether two arrays have the same elements in memory, in the same order."""
    layouts = [
        (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype)
        for array in (first, second)
    ]
    return layouts[0] == layouts[1]
