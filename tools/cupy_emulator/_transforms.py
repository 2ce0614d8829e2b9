"""`cupy.cuda.cufft`: plans of Fourier transforms, computed from the definition.

The source of cuFFT is not available. This module follows its documentation of the types of
transforms, the layout of the data and the scale, which is one in both directions (NVIDIA, "cuFFT
API Reference", "Fourier Transform Types" and "Data Layout"). It does not use NumPy's or SciPy's
transforms, so that SciPy is compared with an independent implementation. It does not reproduce
cuFFT's rounding.
"""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ._arrays import ndarray, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

FORWARD, INVERSE = -1, 1
_TYPES = {  # the names and numbers of cufftType, with the types of input and output
    "C2C": (0x29, np.complex64, np.complex64),
    "R2C": (0x2A, np.float32, np.complex64),
    "C2R": (0x2C, np.complex64, np.float32),
    "Z2Z": (0x69, np.complex128, np.complex128),
    "D2Z": (0x6A, np.float64, np.complex128),
    "Z2D": (0x6C, np.complex128, np.float64),
}
_DTYPES = {number: (np.dtype(given), np.dtype(made)) for number, given, made in _TYPES.values()}
_ROWS = 256
_here = threading.local()


class CuFFTError(RuntimeError):
    """The error that cuFFT reports for an invalid plan."""


class _Layout:
    """The layout of elements in memory.

    Parameters
    ----------
    shape : sequence of int
        The number of elements along each axis of one transform.
    embed : sequence of int
        The number of allocated elements along each axis.
    stride, distance : int
        The steps between adjacent elements, and between adjacent transforms of a batch.
    """

    def __init__(
        self, shape: Sequence[int], embed: Sequence[int], stride: int, distance: int
    ) -> None:
        self.shape = tuple(shape)
        steps = [stride * math.prod(embed[axis + 1 :]) for axis in range(len(embed))]
        self.steps = (distance, *steps)

    def of(self, array: ndarray, batch: int) -> np.ndarray:
        """Return a view of the elements in the memory of `array`; the first axis is the batch."""
        shape = (batch, *self.shape)
        last = sum((length - 1) * step for length, step in zip(shape, self.steps, strict=True))
        if last >= array.size:
            raise IndexError(f"the plan is for more than the {array.size} elements of the array")
        strides = [step * array.itemsize for step in self.steps]
        return np.lib.stride_tricks.as_strided(array.host, shape, strides)


class PlanNd:
    """A plan for a batch of transforms along one to three axes.

    Parameters
    ----------
    shape, inembed, istride, idist, onembed, ostride, odist, fft_type, batch
        As in ``cufftPlanMany``.
    order, last_axis, last_size
        Attributes that CuPy stores with a plan: the memory order of the array, and the axis
        along which a real array and its transform differ in length.
    """

    gpus = None

    def __init__(
        self,
        shape: Sequence[int],
        inembed: Sequence[int],
        istride: int,
        idist: int,
        onembed: Sequence[int],
        ostride: int,
        odist: int,
        fft_type: int,
        batch: int,
        order: str,
        last_axis: int,
        last_size: int | None,
    ) -> None:
        if batch and min(shape) < 1:
            raise CuFFTError("CUFFT_INVALID_SIZE")
        self.shape = tuple(shape)
        self.fft_type = fft_type
        self.batch = batch
        self.order = order
        self.last_axis = last_axis
        self.last_size = last_size
        self._given, self._made = _DTYPES[fft_type]
        half = (*self.shape[:-1], self.shape[-1] // 2 + 1)
        self._input = _Layout(half if self._gives_real else self.shape, inembed, istride, idist)
        self._output = _Layout(half if self._takes_real else self.shape, onembed, ostride, odist)

    @property
    def _takes_real(self) -> bool:
        return self._given.kind == "f"

    @property
    def _gives_real(self) -> bool:
        return self._made.kind == "f"

    def __enter__(self) -> Self:
        _here.plan = self
        return self

    def __exit__(self, *_: object) -> None:
        _here.plan = None

    def fft(self, a: ndarray, out: ndarray, direction: int) -> None:
        """Transform `a` into `out`, which may be the same array."""
        if a.dtype != self._given or out.dtype != self._made:
            raise TypeError(f"a plan from {self._given} to {self._made}, of {a.dtype}, {out.dtype}")
        given = self._input.of(a, self.batch)
        x = given.copy()
        if self._gives_real:
            given[...] = np.nan  # cuFFT may overwrite its input
            x = transformed(x, range(1, x.ndim - 1), INVERSE)
            result = np.real(transformed(_whole(x, self.shape[-1]), [-1], INVERSE))
        elif self._takes_real:
            x = transformed(x.astype(self._made), range(1, x.ndim), FORWARD)
            result = x[..., : self._output.shape[-1]]
        else:
            result = transformed(x, range(1, x.ndim), direction)
        self._output.of(out, self.batch)[...] = result

    def get_output_array(self, a: ndarray, order: str = "C") -> ndarray:
        """Return a new array for the result."""
        shape = list(a.shape)
        if self.last_size is not None and (self._takes_real or self._gives_real):
            shape[self.last_axis] = self.last_size
        made: ndarray = wrapped(np.full(shape, np.nan, self._made))
        return made if order == "C" else made.astype(self._made, order="F")

    def check_output_array(self, a: ndarray, out: ndarray) -> None:
        """Raise a ValueError if `out` does not fit the result."""
        made = self.get_output_array(a)
        if (out.shape, out.dtype) != (made.shape, made.dtype):
            raise ValueError(f"out must be {made.dtype} {made.shape}, not {out.dtype} {out.shape}")


class Plan1d(PlanNd):
    """A plan for a batch of adjacent lines.

    Parameters
    ----------
    nx : int
        The length of a line; for transforms from or to real numbers, that of the real line.
    fft_type, batch
        As in ``cufftPlan1d``.
    devices
        None: there is a single device.
    """

    def __init__(self, nx: int, fft_type: int, batch: int, *, devices: None = None) -> None:
        given, made = _DTYPES[fft_type]
        half = nx // 2 + 1
        taken, left = half if made.kind == "f" else nx, half if given.kind == "f" else nx
        super().__init__(
            (nx,), (taken,), 1, taken, (left,), 1, left, fft_type, batch, "C", -1, left
        )
        self.nx = nx


def transformed(x: np.ndarray, axes: Sequence[int], direction: int) -> np.ndarray:
    """Return the unscaled discrete Fourier transform along the axes."""
    for axis in axes:
        x = np.moveaxis(_lines_transformed(np.moveaxis(x, axis, -1), direction), -1, axis)
    return x


def _lines_transformed(x: np.ndarray, direction: int) -> np.ndarray:
    """Transform interleaved parts of the last axis recursively, and combine the results.

    The number of parts is the smallest factor of the length.

    J. W. Cooley and J. W. Tukey, "An algorithm for the machine calculation of complex Fourier
    series", Mathematics of Computation 19, 1965.
    """
    length = x.shape[-1]
    factor = _smallest_factor(length)
    if factor == length:
        starts = range(0, length, _ROWS)
        results = [x @ _roots(length, direction, start, x.dtype) for start in starts]
        return np.concatenate(results, axis=-1)
    rest = length // factor
    parts = x.reshape(*x.shape[:-1], rest, factor).swapaxes(-1, -2)
    parts = _lines_transformed(parts, direction)
    turns = _powers(np.arange(factor)[:, None] * np.arange(rest), length, direction)
    parts = parts * turns.astype(x.dtype)
    parts = _lines_transformed(parts.swapaxes(-1, -2), direction).swapaxes(-1, -2)
    return np.asarray(parts.reshape(x.shape))


# For a long prime length, each of these arrays is large.
@lru_cache(maxsize=8)
def _roots(length: int, direction: int, start: int, dtype: np.dtype[Any]) -> np.ndarray:
    """Return columns of the transform matrix, from column `start` on."""
    columns = np.arange(start, min(start + _ROWS, length))
    return _powers(np.arange(length)[:, None] * columns, length, direction).astype(dtype)


def _powers(exponents: np.ndarray, length: int, direction: int) -> np.ndarray:
    """Return powers of the root of unity of order `length`."""
    result: np.ndarray = np.exp(direction * 2j * np.pi / length * (exponents % length))
    return result


def _smallest_factor(length: int) -> int:
    for factor in range(2, math.isqrt(length) + 1):
        if length % factor == 0:
            return factor
    return length


def _whole(half: np.ndarray, length: int) -> np.ndarray:
    """Return whole lines, given the first half: the other elements are the complex conjugates.

    The imaginary part of the first element, or of the middle one, leads to imaginary results.
    """
    return np.concatenate([half, half[..., (length - 1) // 2 : 0 : -1].conj()], axis=-1)


def contents() -> dict[str, Any]:
    """Return the contents of `cupy.cuda.cufft`."""
    return {
        "CUFFT_FORWARD": FORWARD,
        "CUFFT_INVERSE": INVERSE,
        **{f"CUFFT_{name}": number for name, (number, _, _) in _TYPES.items()},
        "CuFFTError": CuFFTError,
        "Plan1d": Plan1d,
        "PlanNd": PlanNd,
        "get_current_plan": lambda: getattr(_here, "plan", None),
    }
