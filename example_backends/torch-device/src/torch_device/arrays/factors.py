"""Operators around the factors of matrices: A without its rows' order is L times U."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any, factor: Any) -> None:
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

    def permutation(pivots: Any, size: int, dtype: Any) -> Any:
        rows = xp.eye(size, dtype=dtype)[order_of(pivots, size)]
        return xp.swapaxes(rows, -1, -2)

    @op(aten.linalg_lu_factor_ex.default)
    def lu_factor(x: Any, pivot: bool = True, check_errors: bool = False) -> Any:
        if not pivot:
            return NotImplemented
        return (*factored(x), xp.zeros(x.shape[:-2], xp.int32))

    @op(aten.linalg_lu.default)
    def lu(x: Any, pivot: bool = True) -> Any:
        if not pivot:
            return NotImplemented
        found, pivots = factored(x)
        return (permutation(pivots, x.shape[-2], x.dtype), *split(found))

    @op(aten.lu_unpack.default)
    def unpack(lu: Any, pivots: Any, with_data: bool = True, with_pivots: bool = True) -> Any:
        empty = xp.zeros((0,), lu.dtype)
        rows = permutation(pivots, lu.shape[-2], lu.dtype) if with_pivots else empty
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

    @op(aten.linalg_householder_product.default)
    def householder(x: Any, tau: Any) -> Any:
        found = xp.broadcast_to(xp.eye(*x.shape[-2:], dtype=x.dtype), x.shape)
        return reflected(x, tau, found, range(tau.shape[-1] - 1, -1, -1), xp.asarray)

    def reflected(x: Any, tau: Any, y: Any, order: Any, of_tau: Any) -> Any:
        """Return the product of reflections with a matrix, the last of `order` outermost."""
        for i in order:
            column = x[..., i : i + 1]
            rows = xp.arange(x.shape[-2])[:, None]
            v = xp.where(rows < i, 0, xp.where(rows == i, 1, column)).astype(x.dtype)
            y = y - of_tau(tau)[..., None, i : i + 1] * v * xp.matmul(turned(v), y)
        return y

    @op(aten.ormqr.default)
    def ormqr(x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False) -> Any:
        if not left:  # y Q is the adjoint of Q's adjoint times y's
            return turned(ormqr(x, tau, turned(y), transpose=not transpose))
        order = range(tau.shape[-1]) if transpose else range(tau.shape[-1] - 1, -1, -1)
        return reflected(x, tau, y, order, xp.conj if transpose else xp.asarray)

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
    # What has failed has raised an error already.
    environment.register_kernel(
        aten._linalg_check_errors.default, lambda info, name, *, is_matrix: None
    )


def _determinant(factored: Any) -> Any:
    """Return a kernel whose factors are those that gradients expect.

    PyTorch factors the transposed matrix where a real matrix is contiguous, which spares LAPACK a
    copy, and the gradient asks for the layout again. Both matrices have the same determinant.
    """

    def kernel(x: torch.Tensor) -> Any:
        return factored(x.mT if x.is_contiguous() and not x.is_complex() else x)

    return kernel
