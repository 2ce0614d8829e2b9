"""Tensors as SciPy sees arrays: data types, borders, outputs, and the plans of functions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from scipy_dispatch.calls import BoundCall, Deferred, signature_of
from scipy_dispatch.planning import PlannedBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scipy_dispatch.planning import Plan, Prepared

backend = PlannedBackend("torch")

FLOATS = (torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
ORDERED = (*FLOATS, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def implement_each(
    module: str,
    functions: dict[str, Callable[[BoundCall], Callable[[], Any]]],
    namespace: dict[str, Any],
) -> None:
    """Register functions that plan a call, or raise `Deferred` with a reason.

    The arguments of a call are bound by the signature of SciPy's function.
    """
    scipys = import_module(f"scipy.{module}")
    plans = {name: _plan(getattr(scipys, name), each) for name, each in functions.items()}
    backend.plans_each(f"scipy_dispatch.{module}", plans, namespace)


def _plan(scipys: Any, function: Callable[[BoundCall], Callable[[], Any]]) -> Plan:
    def plan(*args: Any, **kwargs: Any) -> Prepared:
        try:
            return function(BoundCall.bind(scipys, args, kwargs))
        except (TypeError, ValueError) as error:
            return f"the arguments do not fit: {error}"

    plan.__signature__ = signature_of(scipys)  # type: ignore[attr-defined]  # what `inspect` reads
    return plan


def check(x: Any, name: str, dtypes: Sequence[torch.dtype]) -> None:
    """Raise `Deferred` unless `x` is a tensor of one of the data types."""
    if not isinstance(x, Tensor):
        raise Deferred(f"{name}= is a {type(x).__name__}, not a tensor")
    if x.dtype not in dtypes:
        names = ", ".join(str(each).removeprefix("torch.") for each in dtypes)
        raise Deferred(f"{name}= is of {x.dtype}; with SciPy's results PyTorch has {names} here")


def check_absent(**arguments: Any) -> None:
    """Raise `Deferred` if one of these arguments is given."""
    for name, value in arguments.items():
        if value is not None:
            raise Deferred(f"{name}={value!r}, which this backend does not have")


def as_numbers(value: Any, name: str) -> np.ndarray[Any, Any]:
    """Return weights or a footprint as an array; gradients to them are not computed."""
    if isinstance(value, Tensor):
        if value.requires_grad:
            raise Deferred(f"{name}= requires a gradient, which this backend does not compute")
        value = value.detach().cpu().numpy()
    return np.asarray(value)


def axis_of(axis: Any, ndim: int) -> int:
    """Return an axis as a number from 0 on."""
    if not -ndim <= axis < ndim:
        raise Deferred(f"axis {axis} of {ndim} axes is an error in SciPy")
    return int(axis) % ndim


def each_axis(x: Tensor, axes: Any, *values: Any) -> list[tuple[Any, ...]]:
    """Return the axes, each with its value of every parameter; one value is for all."""
    if axes is None:
        numbers = list(range(x.ndim))
    else:
        numbers = [axis_of(axis, x.ndim) for axis in np.atleast_1d(axes).tolist()]
    if len(set(numbers)) < len(numbers):
        raise Deferred(f"axes={axes!r} is an error in SciPy")
    columns = []
    for value in values:
        several = np.iterable(value) and not isinstance(value, str)
        columns.append(list(value) if several else [value] * len(numbers))
        if len(columns[-1]) != len(numbers):
            raise Deferred(f"{value!r} for {len(numbers)} axes is an error in SciPy")
    return list(zip(numbers, *columns, strict=True))


def outside(length: int, before: int, after: int, mode: str) -> np.ndarray[Any, Any]:
    """Return the elements of a line, by number, that continue it at both ends.

    Examples
    --------
    >>> outside(3, 2, 1, "reflect").tolist(), outside(3, 2, 1, "mirror").tolist()
    ([1, 0, 0, 1, 2, 2], [2, 1, 0, 1, 2, 1])
    """
    places = np.arange(-before, length + after)
    if mode == "nearest":
        return places.clip(0, length - 1)
    if mode in ("wrap", "grid-wrap"):
        return places % length
    period = max(2 * length - 2, 1) if mode == "mirror" else 2 * length
    places %= period
    last = period - (mode != "mirror")
    return np.where(places < length, places, last - places)


def padded(x: Tensor, axis: int, before: int, after: int, mode: Any, cval: float) -> Tensor:
    """Return a tensor that goes on at both ends of an axis as `mode` says."""
    if mode in ("constant", "grid-constant"):
        shape = list(x.shape)
        ends = []
        for shape[axis] in (before, after):
            ends.append(torch.full(shape, cval, dtype=x.dtype, device=x.device))
        return torch.cat([ends[0], x, ends[1]], axis)
    places = torch.from_numpy(outside(x.shape[axis], before, after, mode))
    return x.index_select(axis, places.to(x.device))


def check_border(x: Tensor, mode: Any, cval: Any) -> None:
    """Raise `Deferred` for modes that SciPy refuses, and constants that the type cannot hold."""
    modes = [mode] if isinstance(mode, str) else list(mode)
    known = {"reflect", "grid-mirror", "mirror", "nearest", "wrap", "grid-wrap"}
    if not known | {"constant", "grid-constant"} >= set(modes):
        raise Deferred(f"mode={mode!r} is an error in SciPy")
    if x.dtype not in FLOATS and not known.issuperset(modes):
        limits = torch.iinfo(x.dtype)
        if not (float(cval).is_integer() and limits.min <= cval <= limits.max):
            raise Deferred(f"cval={cval!r} is no number of {x.dtype}")


def check_output(x: Tensor, output: Any) -> None:
    """Raise `Deferred` unless the output is None, or a tensor like the input."""
    if output is None:
        return
    if not isinstance(output, Tensor):
        raise Deferred(f"output={output!r}; results have the data type of the input")
    if (output.shape, output.dtype) != (x.shape, x.dtype):
        raise Deferred("output= is not like the input")
    if x.requires_grad:
        raise Deferred("output= is given, and the input requires a gradient")


def delivered(result: Tensor, output: Tensor | None) -> Tensor:
    """Return the result, or the tensor that the caller gave for it."""
    return result if output is None else output.copy_(result)
