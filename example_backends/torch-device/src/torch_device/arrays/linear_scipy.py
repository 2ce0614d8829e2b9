"""Solvers and factors of matrices that NumPy and SciPy have, for NumPy's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .linear import factor_as_gradients_expect

aten = torch.ops.aten


def register(environment: Any) -> None:
    """Register them, if SciPy is installed."""
    op = environment.register_op
    linalg = np.linalg

    # NumPy raises the error of a singular matrix itself.
    environment.register_kernel(
        aten._linalg_check_errors.default, lambda info, name, *, is_matrix: None
    )
    op(aten._linalg_eigvals.default)(linalg.eigvals)

    def info_of(x: Any) -> Any:
        return np.zeros(x.shape[:-2], np.int32)

    try:
        import scipy.linalg as scipy
    except ImportError:
        return

    def batched(function: Any, *arrays: Any) -> Any:
        """Call a function for each matrix of stacks of the same shape."""
        outer = arrays[0].shape[:-2]
        found = [function(*(each[index] for each in arrays)) for index in np.ndindex(outer)]
        if not found:
            return None
        if not isinstance(found[0], tuple):
            return np.stack(found).reshape((*outer, *found[0].shape))
        return tuple(
            np.stack(each).reshape((*outer, *each[0].shape)) for each in zip(*found, strict=True)
        )

    def factor(x: Any) -> Any:
        """Return the factors in one matrix, the pivots from 1, the permutation and its sign."""

        def one(matrix: Any) -> Any:
            (lu, pivots, _) = scipy.lapack.get_lapack_funcs(("getrf",), (matrix,))[0](matrix)
            order = np.arange(matrix.shape[0])
            for i, j in enumerate(pivots):
                order[[i, j]] = order[[j, i]]
            return lu, (pivots + 1).astype(np.int32), order, _sign(pivots)

        return batched(one, x)

    @op(aten.linalg_lu_factor_ex.default)
    def lu_factor(x: Any, pivot: bool = True, check_errors: bool = False) -> Any:
        found = factor(x) if pivot and x.size else None
        return NotImplemented if found is None else (found[0], found[1], info_of(x))

    @op(aten.linalg_lu.default)
    def lu(x: Any, pivot: bool = True) -> Any:
        found = factor(x) if pivot and x.size else None
        return NotImplemented if found is None else _split(found)

    def _split(found: Any) -> Any:
        lu, _, order, _ = found
        m, n = lu.shape[-2:]
        k = min(m, n)
        lower = np.tril(lu[..., :, :k], -1) + np.eye(m, k, dtype=lu.dtype)
        swap = np.swapaxes(np.eye(m, dtype=lu.dtype)[order], -1, -2)
        return swap, lower, np.triu(lu[..., :k, :])

    @op(aten._linalg_det.default)
    def det(x: Any) -> Any:
        found = factor(x) if x.size else None
        if found is None:
            return NotImplemented
        diagonal = np.diagonal(found[0], axis1=-2, axis2=-1)
        return np.prod(diagonal, axis=-1) * found[3], found[0], found[1]

    @op(aten._linalg_slogdet.default)
    def slogdet(x: Any) -> Any:
        found = factor(x) if x.size else None
        if found is None:
            return NotImplemented
        diagonal = np.diagonal(found[0], axis1=-2, axis2=-1)
        size = np.abs(diagonal)
        sign = np.prod(diagonal / np.where(size == 0, 1, size), axis=-1) * found[3]
        return sign, np.sum(np.log(size), axis=-1), found[0], found[1]

    for each in (aten._linalg_det.default, aten._linalg_slogdet.default):
        factor_as_gradients_expect(environment, each, by_cpu=False)

    @op(aten._linalg_solve_ex.default)
    def solve(x: Any, y: Any, left: bool = True, check_errors: bool = False) -> Any:
        is_vector = y.ndim == 1 or (y.ndim == x.ndim - 1 and y.shape == x.shape[:-1])
        right = y[..., None] if is_vector else y
        found = factor(x) if x.size and left else None
        if found is None:
            return NotImplemented
        result = linalg.solve(x, right)
        return result[..., 0] if is_vector else result, found[0], found[1], info_of(x)

    @op(aten.linalg_solve_triangular.default)
    def triangular(
        x: Any, y: Any, upper: bool, left: bool = True, unitriangular: bool = False
    ) -> Any:
        if unitriangular:
            eye = np.eye(x.shape[-1], dtype=x.dtype)
            x = (np.triu(x, 1) if upper else np.tril(x, -1)) + eye
        x = np.triu(x) if upper else np.tril(x)
        if left:
            return linalg.solve(x, y)
        return np.swapaxes(linalg.solve(np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)), -1, -2)

    op(aten.linalg_pinv.atol_rtol_tensor)(_pinv)
    op(aten.linalg_matrix_exp.default)(lambda x: scipy.expm(x) if x.size else x)

    def cholesky(x: Any, upper: bool = False) -> Any:
        found = linalg.cholesky(np.conj(np.swapaxes(x, -1, -2)) if upper else x)
        return np.conj(np.swapaxes(found, -1, -2)) if upper else found

    op(aten.cholesky.default)(cholesky)

    @op(aten.cholesky_inverse.default)
    def cholesky_inverse(x: Any, upper: bool = False) -> Any:
        x = np.triu(x) if upper else np.tril(x)
        turned = np.conj(np.swapaxes(x, -1, -2))
        return linalg.inv(np.matmul(turned, x) if upper else np.matmul(x, turned))

    @op(aten._cholesky_solve_helper.default)
    def cholesky_solve(y: Any, x: Any, upper: bool) -> Any:
        x = np.triu(x) if upper else np.tril(x)
        turned = np.conj(np.swapaxes(x, -1, -2))
        return linalg.solve(np.matmul(turned, x) if upper else np.matmul(x, turned), y)


def _sign(pivots: Any) -> Any:
    count = int(np.sum(pivots != np.arange(len(pivots))))
    return np.asarray(-1.0 if count % 2 else 1.0)


def _pinv(x: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if hermitian:  # one half of the matrix counts
        x = np.tril(x) + np.conj(np.swapaxes(np.tril(x, -1), -1, -2))
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    top = np.max(s, axis=-1, keepdims=True, initial=0)
    if rtol is None:
        default = max(x.shape[-2:]) * np.finfo(x.dtype).eps
        rtol = 0.0 if atol is not None and np.all(atol > 0) else default
    limit = np.maximum(
        np.asarray(0.0 if atol is None else atol)[..., None], np.asarray(rtol)[..., None] * top
    )
    inverse = np.where(s > limit, 1 / np.where(s > limit, s, 1), 0).astype(s.dtype)
    turned = np.conj(np.swapaxes(vh, -1, -2)) * inverse[..., None, :]
    return np.matmul(turned, np.conj(np.swapaxes(u, -1, -2)))
