"""Transforms of `scipy.fft` by `torch.fft`, which has the same definitions and norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ._tensors import COMPLEX, FLOATS, ORDERED, check, check_absent, implement_each, implements

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Plan = Callable[[], Tensor]

_NUMBERS = (*ORDERED, *COMPLEX)


def ready(x: Any, plan: Any) -> Tensor:
    """Return the tensor in the precision in which SciPy computes."""
    check(x, "x", _NUMBERS)
    check_absent(plan=plan)
    tensor: Tensor = x
    return tensor if x.dtype in (*FLOATS, *COMPLEX) else tensor.double()


def along_one(name: str) -> Callable[..., Plan]:
    transform = getattr(torch.fft, name)

    def plan(
        x: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Plan:
        given = ready(x, plan)
        return lambda: transform(given, n, axis, norm).resolve_conj()

    return plan


def along_several(name: str, default: tuple[int, int] | None) -> Callable[..., Plan]:
    transform = getattr(torch.fft, name)

    def plan(
        x: Any,
        s: Any = None,
        axes: Any = default,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Plan:
        given = ready(x, plan)
        return lambda: transform(given, s, axes, norm).resolve_conj()

    return plan


KINDS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TRANSFORMS = {
    **{name: along_one(name) for name in KINDS},
    **{f"{name}2": along_several(f"{name}2", (-2, -1)) for name in KINDS},
    **{f"{name}n": along_several(f"{name}n", None) for name in KINDS},
}
implement_each("fft", TRANSFORMS, globals())


@implements("fft:fftshift")
def fftshift(x: Any, axes: Any = None) -> Plan:
    check(x, "x", _NUMBERS)
    return lambda: torch.fft.fftshift(x, axes)


@implements("fft:ifftshift")
def ifftshift(x: Any, axes: Any = None) -> Plan:
    check(x, "x", _NUMBERS)
    return lambda: torch.fft.ifftshift(x, axes)
