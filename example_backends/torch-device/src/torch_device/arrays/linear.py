"""Products and decompositions of matrices, and Fourier transforms."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op
    op([aten.mm.default, aten.bmm.default, aten.mv.default])(xp.matmul)

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

    op([aten.addmm.default, aten.baddbmm.default])(added(xp.matmul))
    op(aten.addbmm.default)(added(lambda a, b: xp.sum(xp.matmul(a, b), axis=0)))

    linalg = xp.linalg
    op(aten.linalg_inv_ex.default)(
        lambda x, check_errors=False: (linalg.inv(x), xp.zeros(x.shape[:-2], xp.int32))
    )

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


def register_factors(environment: Any, xp: Any, factor: Any) -> None:
    """Register them for the functions of an array library.

    Parameters
    ----------
    environment : BackendEnvironment
        The device.
    xp : module
        The array library.
    factor : callable
        Takes stacks of matrices; returns both factors in one, and LAPACK's pivots from 0.
    """
    op = environment.register_op

    def factored(x: Any) -> Any:
        pivots = min(x.shape[-2:])
        if not x.size:
            return x, xp.zeros((*x.shape[:-2], pivots), xp.int32)
        lu, pivots = factor(x)
        return lu, (pivots + 1).astype(xp.int32)

    def order_of(pivots: Any, size: int) -> Any:
        """Return which row of A each row of L times U is."""
        rows = xp.arange(size)
        order = xp.broadcast_to(rows, (*pivots.shape[:-1], size))
        for i in range(pivots.shape[-1]):
            j = pivots[..., i : i + 1] - 1
            one, other = order[..., i : i + 1], xp.take_along_axis(order, j, axis=-1)
            order = xp.where(rows == i, other, xp.where(rows == j, one, order))
        return order

    def sign_of(pivots: Any) -> Any:
        moved = pivots != xp.arange(1, pivots.shape[-1] + 1)
        return 1 - 2 * (xp.sum(moved, axis=-1) % 2)

    def split(lu: Any) -> Any:
        m, n = lu.shape[-2:]
        k = min(m, n)
        lower = xp.tril(lu[..., :, :k], -1) + xp.eye(m, k, dtype=lu.dtype)
        return lower, xp.triu(lu[..., :k, :])

    @op(aten.linalg_lu_factor_ex.default)
    def lu_factor(x: Any, pivot: bool = True, check_errors: bool = False) -> Any:
        if not pivot:
            return NotImplemented
        return (*factored(x), xp.zeros(x.shape[:-2], xp.int32))

    @op(aten.lu_unpack.default)
    def unpack(lu: Any, pivots: Any, with_data: bool = True, with_pivots: bool = True) -> Any:
        rows = empty = xp.zeros((0,), lu.dtype)
        if with_pivots:
            size = lu.shape[-2]
            rows = xp.swapaxes(xp.eye(size, dtype=lu.dtype)[order_of(pivots, size)], -1, -2)
        return (rows, *(split(lu) if with_data else (empty, empty)))

    def turned(x: Any) -> Any:
        return xp.conj(xp.swapaxes(x, -1, -2))

    @op(aten.linalg_lu_solve.default)
    def lu_solve(lu: Any, pivots: Any, y: Any, left: bool = True, adjoint: bool = False) -> Any:
        if not left:
            return turned(lu_solve(lu, pivots, turned(y), adjoint=not adjoint))
        outer = xp.broadcast_shapes(lu.shape[:-2], y.shape[:-2])
        y = xp.broadcast_to(y, (*outer, *y.shape[-2:]))
        if not y.size:
            return y
        lower, upper = split(lu)
        order = order_of(pivots, lu.shape[-1])
        if adjoint:
            order = xp.argsort(order, axis=-1)
            y = xp.linalg.solve(turned(lower), xp.linalg.solve(turned(upper), y))
        order = xp.broadcast_to(order[..., None], y.shape)
        y = xp.take_along_axis(y, order, axis=-2)
        return y if adjoint else xp.linalg.solve(upper, xp.linalg.solve(lower, y))

    @op(aten._linalg_solve_ex.default)
    def solve(x: Any, y: Any, left: bool = True, check_errors: bool = False) -> Any:
        is_vector = y.ndim == 1 or (y.ndim == x.ndim - 1 and y.shape == x.shape[:-1])
        lu, pivots = factored(x)
        found = lu_solve(lu, pivots, y[..., None] if is_vector else y, left)
        found = found[..., 0] if is_vector else found
        return found, lu, pivots, xp.zeros(x.shape[:-2], xp.int32)

    @op(aten._linalg_det.default)
    def det(x: Any) -> Any:
        found, pivots = factored(x)
        diagonal = xp.diagonal(found, axis1=-2, axis2=-1)
        return xp.prod(diagonal, axis=-1) * sign_of(pivots), found, pivots

    @op(aten._linalg_slogdet.default)
    def slogdet(x: Any) -> Any:
        found, pivots = factored(x)
        diagonal = xp.diagonal(found, axis1=-2, axis2=-1)
        size = xp.abs(diagonal)
        sign = xp.prod(diagonal / xp.where(size == 0, 1, size), axis=-1) * sign_of(pivots)
        sign = xp.where(xp.any(size == 0, axis=-1), 0, sign).astype(x.dtype)
        return sign, xp.sum(xp.log(size), axis=-1), found, pivots

    for each in (aten._linalg_det.default, aten._linalg_slogdet.default):
        environment.register_kernel(each, _determinant(environment.kernels.functional(each)))


def _determinant(factored: Any) -> Any:
    """Return a kernel whose factors are those that gradients expect.

    PyTorch factors the transposed matrix where a real matrix is contiguous, which spares LAPACK a
    copy, and the gradient asks for the layout again. Both matrices have the same determinant.
    """

    def kernel(x: torch.Tensor) -> Any:
        return factored(x.mT if x.is_contiguous() and not x.is_complex() else x)

    return kernel
