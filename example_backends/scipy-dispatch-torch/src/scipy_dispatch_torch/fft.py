"""Transforms of `scipy.fft` by `torch.fft`, which has the same definitions and norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ._tensors import COMPLEX, FLOATS, ORDERED, check, check_absent, implement_each

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy_dispatch.calls import BoundCall

    Computation = Callable[[], torch.Tensor]

_NUMBERS = (*ORDERED, *COMPLEX)


def transform(name: str) -> Callable[[BoundCall], Computation]:
    """Return the plans of a transform along one axis, or several."""
    function: Any = getattr(torch.fft, name)
    where = ("s", "axes") if name.endswith(("2", "n")) else ("n", "axis")

    def plan(call: BoundCall) -> Computation:
        x = call["x"]
        check(x, "x", _NUMBERS)
        check_absent(plan=call["plan"])
        # The precision in which SciPy computes.
        given = x if x.dtype in (*FLOATS, *COMPLEX) else x.double()
        settings = [call[each] for each in (*where, "norm")]
        return lambda: function(given, *settings).resolve_conj()

    return plan


def shift(name: str) -> Callable[[BoundCall], Computation]:
    def plan(call: BoundCall) -> Computation:
        check(call["x"], "x", _NUMBERS)
        return lambda: getattr(torch.fft, name)(call["x"], call["axes"])

    return plan


KINDS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TRANSFORMS = {f"{kind}{end}": transform(f"{kind}{end}") for kind in KINDS for end in ("", "2", "n")}
SHIFTS = {name: shift(name) for name in ("fftshift", "ifftshift")}
implement_each("fft", {**TRANSFORMS, **SHIFTS}, globals())
