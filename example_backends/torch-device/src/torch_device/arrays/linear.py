"""Products and decompositions of matrices."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op
    op([aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default])(xp.matmul)
    op(aten.vdot.default)(lambda x, y: xp.matmul(xp.conj(x), y))

    def added(function: Any) -> Any:
        def call(x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
            product = function(a, b)
            # PyTorch takes these numbers in the dtype of the result.
            if (alpha.__class__ is float or beta.__class__ is float) and x.dtype.kind in "iu":
                alpha, beta = int(alpha), int(beta)
            product = product if alpha == 1 else product * alpha
            if beta == 0:  # PyTorch ignores NaN in `x` then
                return product
            return product + (x if beta == 1 else x * beta)

        return call

    for name in ("addmm", "addmv", "baddbmm"):
        op(getattr(aten, name).default)(added(xp.matmul))
    op(aten.addbmm.default)(added(lambda a, b: xp.sum(xp.matmul(a, b), axis=0)))
    op(aten.addr.default)(added(xp.outer))

    linalg = xp.linalg
    op(aten.linalg_inv_ex.default)(
        lambda x, check_errors=False: (linalg.inv(x), xp.zeros(x.shape[:-2], xp.int32))
    )

    @op(aten.linalg_cholesky_ex.default)
    def cholesky(x: Any, upper: bool = False, check_errors: bool = False) -> Any:
        found = linalg.cholesky(x)
        found = xp.conj(xp.swapaxes(found, -1, -2)) if upper else found
        return found, xp.zeros(x.shape[:-2], xp.int32)

    @op(aten._linalg_eigh.default)
    def eigh(x: Any, uplo: str = "L", vectors: bool = True) -> Any:
        values, found = linalg.eigh(x, uplo)
        return values, found if vectors else xp.zeros((0,), x.dtype)

    @op(aten._linalg_svd.default)
    def svd(x: Any, full: bool = False, vectors: bool = True, driver: Any = None) -> Any:
        if not vectors:
            empty = xp.zeros((0,), x.dtype)
            return empty, linalg.svd(x, compute_uv=False), empty
        return tuple(linalg.svd(x, full_matrices=full))

    @op(aten.linalg_qr.default)
    def qr(x: Any, mode: str = "reduced") -> Any:
        if mode == "r":
            return xp.zeros((0,), x.dtype), linalg.qr(x, "r")
        return tuple(linalg.qr(x, mode))

    op(aten.linalg_eig.default)(lambda x: tuple(linalg.eig(x)))
    op(aten.trace.default)(xp.trace)
    op(aten.linalg_cross.default)(
        lambda x, y, dim=-1: xp.cross(*xp.broadcast_arrays(x, y), axis=dim)
    )

    @op(aten._trilinear.default)
    def trilinear(
        a: Any,
        b: Any,
        c: Any,
        a_dims: Any,
        b_dims: Any,
        c_dims: Any,
        summed: Any,
        unrolled: int = 1,
    ) -> Any:
        product = xp.expand_dims(a, tuple(a_dims)) * xp.expand_dims(b, tuple(b_dims))
        product = product * xp.expand_dims(c, tuple(c_dims))
        return xp.sum(product, axis=tuple(summed)) if summed else product

    _register_fourier(op, xp)


def _register_fourier(op: Any, xp: Any) -> None:
    fft = xp.fft
    norms = {0: "backward", 1: "ortho", 2: "forward"}
    inverse = {0: "forward", 1: "ortho", 2: "backward"}

    @op(aten._fft_c2c.default)
    def c2c(x: Any, dim: Any, normalization: int, forward: bool) -> Any:
        if not dim:
            return x
        if forward:
            return fft.fftn(x, axes=tuple(dim), norm=norms[normalization])
        return fft.ifftn(x, axes=tuple(dim), norm=inverse[normalization])

    @op(aten._fft_r2c.default)
    def r2c(x: Any, dim: Any, normalization: int, onesided: bool) -> Any:
        function = fft.rfftn if onesided else fft.fftn
        return function(x, axes=tuple(dim), norm=norms[normalization])

    @op(aten._fft_c2r.default)
    def c2r(x: Any, dim: Any, normalization: int, last: int) -> Any:
        sizes = [x.shape[each] for each in dim[:-1]] + [last]
        return fft.irfftn(x, s=sizes, axes=tuple(dim), norm=inverse[normalization])
