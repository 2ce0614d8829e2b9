"""What all ways of sharing a call among threads have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ._call import Call, Deferred

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._call import Array
    from ._policy import Policy


class Strategy(ABC):
    """A way of sharing a call of a function among threads."""

    def check(self, call: Call, policy: Policy) -> None:
        """Say whether a call can be shared, and is worth sharing.

        Raises
        ------
        Deferred
            If not, with the reason.
        """
        if policy.workers < 2 and policy.slabs is None:
            raise Deferred("there is one worker")
        try:
            elements = self.elements(call) if call.input.size else 0
            if elements < max(policy.smallest, 1):
                raise Deferred(
                    f"{elements} elements are too few: threads pay from {policy.smallest} on"
                )
            self.check_arguments(call, policy)
        except Deferred:
            raise
        except Exception as error:
            # Whatever is wrong, SciPy says it best.
            raise Deferred(f"SciPy is to report: {type(error).__name__}: {error}") from error

    def elements(self, call: Call) -> int:
        """Return how many elements the result has, more or less."""
        return call.input.size

    @abstractmethod
    def check_arguments(self, call: Call, policy: Policy) -> None:
        """Raise `Deferred` if the call cannot be shared; anything else if it is wrong."""

    @abstractmethod
    def compute(self, call: Call, policy: Policy) -> Any:
        """Return what SciPy returns, of a call that was checked.

        Raises
        ------
        Deferred
            If it turns out only now that the call cannot be shared; nothing is changed then.
        """


@dataclass(frozen=True)
class FirstOf(Strategy):
    """The first of two ways that can share a call.

    Attributes
    ----------
    first, otherwise : Strategy
        The first one is taken if most of the threads' work is not done twice.
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


def evaluate(
    strategy: Strategy,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    policy: Policy,
) -> Any:
    """Return what a function of SciPy returns: shared among threads if possible.

    Raises
    ------
    Exception
        What SciPy raises.
    """
    with suppress(Deferred):
        call = Call(function, args, kwargs)
        strategy.check(call, policy)
        return strategy.compute(call, policy)
    return function(*args, **kwargs)


def given_output(call: Call) -> Array | None:
    """Return the array that the caller wants filled; None if a new one is to be made.

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
    """Whether elements of an array may lie on each other, as in a broadcast one.

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
    """Whether two arrays are the same elements in the same order."""
    layouts = [
        (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype)
        for array in (first, second)
    ]
    return layouts[0] == layouts[1]
