"""The base of all strategies for sharing a call among threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ._call import Deferred, bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from ._call import Array, Call
    from ._policy import Policy


class Strategy(ABC):
    """A strategy for sharing a call of a function among threads."""

    counted: ClassVar[str] = "input"
    """The parameter whose number of elements decides whether sharing pays."""

    @abstractmethod
    def plan(self, call: Call, policy: Policy) -> Callable[[], Any]:
        """Return what computes SciPy's result.

        Raises
        ------
        Deferred
            If the call cannot be shared. What is returned raises it too, if that turns out only
            during the computation; no array has been changed then.
        Exception
            Any other, if the arguments are invalid.
        """


@dataclass(frozen=True)
class FirstOf(Strategy):
    """Two strategies: the first where it is efficient, else the second.

    `first` is used if its expected gain is at least 0.9 times the number of workers, that is if
    slabs repeat little of each other's work.
    """

    first: Strategy
    otherwise: Strategy

    def plan(self, call: Call, policy: Policy) -> Callable[[], Any]:
        try:
            first = self.first.plan(call, replace(policy, least_gain=0.9 * policy.workers))
        except Deferred:
            return self.otherwise.plan(call, policy)

        def compute() -> Any:
            with suppress(Deferred):
                return first()
            return self.otherwise.plan(call, policy)()

        return compute


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
        call = bind(function, args, kwargs)
        if policy.workers < 2 and policy.slabs is None:
            return "there is one worker"
        elements = np.size(call[strategy.counted]) if call["input"].size else 0
        if elements < max(policy.smallest, 1):
            return too_few(elements, policy.smallest)
        shared = strategy.plan(call, policy)
    except Deferred as deferred:
        return str(deferred)
    except Exception as error:  # noqa: BLE001 - SciPy's own message is the clearest
        return f"SciPy reports the error: {type(error).__name__}: {error}"

    def compute() -> Any:
        with suppress(Deferred):  # there may be a NaN
            return shared()
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


def given_output(call: Call, in_place: bool = False) -> Array | None:
    """Return the array that the caller wants filled; None if SciPy would make a new one.

    Raises `Deferred` if that array cannot be filled slab by slab. `in_place` allows it to be the
    input.
    """
    output = call["output"]
    if output is None:
        return None
    if isinstance(output, (type, np.dtype, str)):
        if call["input"].dtype.kind == "c" or np.iscomplexobj(call["weights"]):
            raise Deferred("a data type for the output of complex numbers is left to SciPy")
        return None
    if type(output) is not np.ndarray:
        raise Deferred(f"the output is a {type(output).__name__}, not a numpy.ndarray")
    if not output.flags.writeable:
        raise Deferred("the output is read-only")
    if overlaps_itself(output):
        raise Deferred("elements of the output share memory with each other")
    for name, value in call.arguments.items():
        if name == "output" or (in_place and name == "input" and value is output):
            continue
        if isinstance(value, np.ndarray) and np.may_share_memory(output, value):
            raise Deferred(f"the output shares memory with {name}")
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
