"""Convolutions of `scipy.signal`, directly or by transforms, with gradients to both tensors."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from scipy_dispatch.calls import Deferred

from ._tensors import COMPLEX, FLOATS, check, check_absent, implement_each, padded

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy_dispatch.calls import BoundCall

    Computation = Callable[[], Tensor]

DIRECT = 2**10
"""The largest number of elements of a kernel that is added up; above it, transforms are faster."""
_NUMBERS = (*FLOATS, *COMPLEX)
_BORDERS = {"fill": "constant", "wrap": "wrap", "symm": "reflect"}


def pair(in1: Any, in2: Any, mode: Any) -> tuple[Tensor, Tensor]:
    """Return two tensors of one data type, for which PyTorch has SciPy's result."""
    if isinstance(in1, Tensor) is not isinstance(in2, Tensor):  # one is of NumPy
        like = in1 if isinstance(in1, Tensor) else in2
        in1, in2 = (torch.as_tensor(each, device=like.device) for each in (in1, in2))
    for name, each in (("in1", in1), ("in2", in2)):
        check(each, name, _NUMBERS)
    if in1.ndim != in2.ndim or not in1.ndim or not in1.numel() or not in2.numel():
        raise Deferred("the shapes are left to SciPy")
    if mode not in ("full", "same", "valid"):
        raise Deferred(f"mode={mode!r} is an error in SciPy")
    if mode == "valid" and any(a < b for a, b in zip(in1.shape, in2.shape, strict=True)):
        raise Deferred("mode='valid', and in2= is longer along an axis")
    dtype = torch.promote_types(in1.dtype, in2.dtype)
    return in1.to(dtype), in2.to(dtype)


def full(x: Tensor, kernel: Tensor, directly: bool) -> Tensor:
    """Return all sums of products of two tensors that overlap."""
    lengths = [a + b - 1 for a, b in zip(x.shape, kernel.shape, strict=True)]
    if directly and x.ndim <= 3:
        convolve = (functional.conv1d, functional.conv2d, functional.conv3d)[x.ndim - 1]
        turned = kernel.flip(list(range(x.ndim)))[None, None]
        return convolve(x[None, None], turned, padding=[n - 1 for n in kernel.shape])[0, 0]
    there, back = (torch.fft.rfftn, torch.fft.irfftn)
    if x.is_complex():
        there, back = (torch.fft.fftn, torch.fft.ifftn)
    result: Tensor = back(there(x, lengths) * there(kernel, lengths), lengths)
    return result


def part(result: Tensor, x: Tensor, kernel: Tensor, mode: str, late: bool = False) -> Tensor:
    """Return the part of a full result that `mode` means; `late`: of an even kernel, the later."""
    for axis, (length, taps) in enumerate(zip(x.shape, kernel.shape, strict=True)):
        if mode == "same":
            result = result.narrow(axis, (taps - (not late)) // 2, length)
        elif mode == "valid":
            result = result.narrow(axis, taps - 1, length - taps + 1)
    return result.contiguous()


def convolved(call: BoundCall, turns: bool = False) -> Computation:
    """Plan a convolution, or with `turns` a correlation, by `method`, if there is one."""
    x, kernel = pair(call["in1"], call["in2"], call["mode"])
    check_absent(axes=call["axes"])
    method = call["method"] or "fft"
    if method not in ("auto", "direct", "fft"):
        raise Deferred(f"method={method!r} is an error in SciPy")
    if turns:
        kernel = kernel.flip(list(range(kernel.ndim))).conj().resolve_conj()
    directly = method == "direct" or (method == "auto" and kernel.numel() <= DIRECT)
    return lambda: part(full(x, kernel, directly), x, kernel, call["mode"])


def of_images(call: BoundCall, turns: bool = False) -> Computation:
    x, kernel = pair(call["in1"], call["in2"], call["mode"])
    if x.ndim != 2 or call["boundary"] not in _BORDERS:
        raise Deferred("the shapes or the boundary are left to SciPy")
    if turns:
        kernel = kernel.flip([0, 1]).conj().resolve_conj()

    def compute() -> Tensor:
        large = x
        for axis, taps in enumerate(kernel.shape):
            border = _BORDERS[call["boundary"]]
            large = padded(large, axis, taps - 1, taps - 1, border, call["fillvalue"])
        turned = kernel.flip([0, 1])[None, None]
        result = functional.conv2d(large[None, None], turned)[0, 0]
        return part(result, x, kernel, call["mode"], late=turns)

    return compute


def hilbert(call: BoundCall) -> Computation:
    x, axis = call["x"], call["axis"]
    check(x, "x", FLOATS)
    check_absent(N=call["N"])
    if not x.ndim or not x.numel() or not -x.ndim <= axis < x.ndim:
        raise Deferred("the shape is left to SciPy")
    length = x.shape[axis]

    def compute() -> Tensor:
        spectrum = torch.fft.fft(x, dim=axis).movedim(axis, -1)
        factors = torch.zeros(length, dtype=x.dtype, device=x.device)
        factors[0] = 1
        factors[1 : math.ceil(length / 2)] = 2
        if length % 2 == 0:
            factors[length // 2] = 1
        result: Tensor = torch.fft.ifft(spectrum * factors).movedim(-1, axis)
        return result

    return compute


CONVOLUTIONS: dict[str, Callable[[BoundCall], Computation]] = {
    "convolve": convolved,
    "fftconvolve": convolved,
    "oaconvolve": convolved,
    "correlate": partial(convolved, turns=True),
    "convolve2d": of_images,
    "correlate2d": partial(of_images, turns=True),
    "hilbert": hilbert,
}
implement_each("signal", CONVOLUTIONS, globals())
