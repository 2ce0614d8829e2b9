"""Strategies for sharing a call among threads: by slabs, pass by pass, and by points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import ndimage

from scipy_dispatch.calls import BoundCall, Deferred
from scipy_dispatch.reach import WHOLE, Reach

from . import _pool
from ._split import choose, cut, part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scipy_dispatch.planning import Prepared
    from scipy_dispatch.reach import Read

    from ._split import Array, Policy, Slab, Split


class Strategy:
    """A strategy for sharing a call of a function among threads."""

    counted: ClassVar[str] = "input"
    """The parameter whose number of elements decides whether sharing pays."""

    def plan(self, call: BoundCall, policy: Policy) -> Callable[[], Any]:
        """Return what computes SciPy's result.

        Raises `Deferred` if the call cannot be shared. Any other exception means that the arguments
        are invalid.
        """
        raise NotImplementedError


def too_few(elements: int, smallest: int) -> str:
    """Return the reason against sharing a call with too few elements."""
    return f"{elements} elements are too few: threads pay from {smallest} on"


def plan(
    strategy: Strategy,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    policy: Policy,
) -> Prepared:
    """Return what shares a call of a SciPy function among threads, or the reason against it."""
    if policy.workers < 2 and policy.slabs is None:
        return "there is one worker"
    try:
        call = BoundCall.bind(function, args, kwargs)
        array = call["input"]
        if type(array) is not np.ndarray:
            return f"the input is a {type(array).__name__}, not a numpy.ndarray"
        for name, value in call.arguments.items():
            if hasattr(value, "__next__"):
                return f"{name} is an iterator, which can be read once only"
        elements = np.size(call[strategy.counted]) if array.size else 0
        if elements < max(policy.smallest, 1):
            return too_few(elements, policy.smallest)
        return strategy.plan(call, policy)
    except Deferred as deferred:
        return str(deferred)
    except Exception as error:  # noqa: BLE001 - SciPy's own message is the clearest
        return f"SciPy reports the error: {type(error).__name__}: {error}"


def evaluate(
    strategy: Strategy, function: Callable[..., Any], arguments: dict[str, Any], policy: Policy
) -> Any:
    """Return a SciPy function's result, sharing the work among threads if possible."""
    planned = plan(strategy, function, (), arguments, policy)
    return function(**arguments) if isinstance(planned, str) else planned()


def _given_output(call: BoundCall, in_place: bool = False) -> Array | None:
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
    if 0 in output.strides and output.size > 1:
        raise Deferred("elements of the output share memory with each other")
    for name, value in call.arguments.items():
        if name == "output" or (in_place and name == "input" and value is output):
            continue
        if isinstance(value, np.ndarray) and np.may_share_memory(output, value):
            raise Deferred(f"the output shares memory with {name}")
    return output


@dataclass(frozen=True)
class Slabs(Strategy):
    """Run SciPy's function on slabs of the input, each with the neighbours that it reads."""

    # The reach along every axis, from a call and its number of dimensions.
    reaches: Read
    # A parameter that takes an array of the input's shape, which is split along with it.
    companion: str = ""
    # Whether the function returns an ``output`` array; it returns None otherwise.
    returns_output: bool = True
    # Whether the result has the input's shape.
    keeps_shape: bool = True
    # The length along the axes that can be split of the smallest input that the function takes.
    least: int = 1
    # Whether SciPy may compute a running minimum or maximum.
    runs: bool = False

    def plan(self, call: BoundCall, policy: Policy) -> Callable[[], Any]:
        array = call["input"]
        reaches = self.reaches(call, array.ndim)
        if call["output"] is array:
            # Other threads would overwrite the neighbours of a slab.
            reaches = [WHOLE if reach and reach.radius else reach for reach in reaches]
        split = choose(array.shape, array.strides, reaches, policy)
        # A NaN that the boundary mode adds is harmless: no element precedes it.
        if self.runs and array.dtype.kind == "f" and np.isnan(array.min()):
            raise Deferred("after a NaN, SciPy's result depends on all of the line before it")
        output = _given_output(call, in_place=True)
        companion = self._companion(call)
        shape, axis = array.shape, split.axis
        if companion is not None and companion.shape != shape:
            raise Deferred(f"{self.companion} is not of the shape of the input")
        if output is not None and (output.ndim != len(shape) or output.shape[axis] != shape[axis]):
            raise Deferred("the output is not of the shape of the result")
        return lambda: self._compute(call, split, output, policy)

    def _companion(self, call: BoundCall) -> Array | None:
        value = call[self.companion] if self.companion else None
        return None if value is None else np.asarray(value)

    def _compute(self, call: BoundCall, split: Split, output: Array | None, policy: Policy) -> Any:
        source, companion = call["input"], self._companion(call)
        slabs = cut(source.shape[split.axis], split.number, split.reach)
        result = self._new_result(call) if output is None else output

        def compute_slab(slab: Slab) -> None:
            axis = split.axis
            arguments = {"input": part(source, axis, slab.low, slab.high)}
            if companion is not None:
                arguments[self.companion] = part(companion, axis, slab.low, slab.high)
            target = part(result, axis, slab.start, slab.stop)
            if (slab.low, slab.high) == (slab.start, slab.stop):
                call(**arguments, output=target)
                return
            shape = list(result.shape)
            shape[axis] = slab.high - slab.low
            computed = np.empty(shape, result.dtype)
            call(**arguments, output=computed)
            target[...] = part(computed, axis, slab.start - slab.low, slab.stop - slab.low)

        _pool.run(compute_slab, slabs, policy.workers)
        return result if output is None or self.returns_output else None

    def _new_result(self, call: BoundCall) -> Array:
        """Allocate the result with the shape and type that SciPy gives it.

        Both are taken from a call with the smallest possible input. That call also raises
        SciPy's own error for invalid arguments.
        """
        shape = call["input"].shape
        reaches = self.reaches(call, len(shape))
        whole = [reach is WHOLE and not self.keeps_shape for reach in reaches]
        lengths = zip(shape, whole, strict=True)
        least = [length if kept else min(length, self.least) for length, kept in lengths]
        arguments: dict[str, Any] = {"input": np.zeros(least, call["input"].dtype)}
        if call["iterations"] is not None:
            # Repeated, SciPy reads beyond the ends of an input shorter than the structure.
            arguments["iterations"] = 1
        if self._companion(call) is not None:
            arguments[self.companion] = np.zeros(least, bool)
        example = call(**arguments)
        sides = zip(shape, example.shape, whole, strict=True)
        return np.empty([other if kept else own for own, other, kept in sides], example.dtype)


@dataclass(frozen=True)
class Passes(Strategy):
    """Passes of a 1-d function: the first from input to output, the others within the output.

    Each pass runs along whole lines of another axis, so no single axis could be split for all.
    """

    function: Callable[..., Any]
    # How each pass is split.
    slabs: Slabs
    # Yields the further arguments of the 1-d function for each pass.
    passes: Callable[[BoundCall], Iterator[dict[str, Any]]]

    def plan(self, call: BoundCall, policy: Policy) -> Callable[[], Any]:
        reason = Deferred("nothing is done along any axis")
        for arguments in self.passes(call):
            arguments.update(input=call["input"], output=call["output"])
            try:
                self.slabs.plan(BoundCall(self.function, arguments), policy)
            except Deferred as deferred:
                reason = deferred
            else:  # one pass can be shared
                return lambda: self._compute(call, policy)
        raise reason

    def _compute(self, call: BoundCall, policy: Policy) -> Any:
        source, output = call["input"], _given_output(call, in_place=True)
        if output is None:
            example = call(input=np.zeros([1] * source.ndim, source.dtype))
            output = np.empty(source.shape, example.dtype)
        for arguments in self.passes(call):
            arguments.update(input=source, output=output)
            evaluate(self.slabs, self.function, arguments, policy)
            source = output
        return output


@dataclass(frozen=True)
class FirstOf(Strategy):
    """Slabs where they repeat little of each other's work, else passes."""

    slabs: Slabs
    passes: Passes

    def plan(self, call: BoundCall, policy: Policy) -> Callable[[], Any]:
        try:
            return self.slabs.plan(call, policy._replace(least_gain=0.9 * policy.workers))
        except Deferred:
            return self.passes.plan(call, policy)


@dataclass(frozen=True)
class Points(Strategy):
    """`scipy.ndimage.map_coordinates`: the points are split, not the input."""

    # How the preceding spline filter is shared.
    spline_filter: Passes

    counted = "coordinates"

    def plan(self, call: BoundCall, policy: Policy) -> Callable[[], Any]:
        coordinates = np.asarray(call["coordinates"])
        points = coordinates[0]
        split = choose(points.shape, points.strides, [Reach()] * points.ndim, policy)
        is_filtered = bool(call["prefilter"] and call["order"] > 1)
        if is_filtered and call["mode"] in ("nearest", "grid-constant"):
            raise Deferred(
                f"with mode={call['mode']!r} SciPy pads the input before the spline filter, "
                "and only its own single call knows by how much"
            )
        output = _given_output(call)
        if output is not None and output.shape != points.shape:
            raise Deferred("the output is not of the shape of the result")

        def compute() -> Any:
            source, result = call["input"], output
            if result is None:
                least = np.zeros([1] * source.ndim, source.dtype)
                example = call(input=least, coordinates=np.zeros((len(coordinates), 1)))
                result = np.empty(points.shape, example.dtype)
            if is_filtered:
                dtype = np.complex128 if source.dtype.kind == "c" else np.float64
                further = {"order": call["order"], "output": dtype, "mode": call["mode"]}
                arguments = {"input": source, **further}
                source = evaluate(self.spline_filter, ndimage.spline_filter, arguments, policy)

            def compute_slab(slab: Slab) -> None:
                call(
                    input=source,
                    coordinates=part(coordinates, split.axis + 1, slab.start, slab.stop),
                    output=part(result, split.axis, slab.start, slab.stop),
                    prefilter=False,
                )

            slabs = cut(points.shape[split.axis], split.number, split.reach)
            _pool.run(compute_slab, slabs, policy.workers)
            return result

        return compute
