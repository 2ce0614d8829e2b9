"""Solvers and factors of matrices that NumPy and SciPy have, for NumPy's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from . import factors

aten = torch.ops.aten


def register(environment: Any) -> None:
    """Register them, if SciPy is installed."""
    op = environment.register_op
    linalg = np.linalg

    op(aten._linalg_eigvals.default)(linalg.eigvals)

    try:
        import scipy.linalg as scipy
        from scipy import special
    except ImportError:
        return

    def factor(x: Any) -> Any:
        (getrf,) = scipy.lapack.get_lapack_funcs(("getrf",), (x,))
        outer = x.shape[:-2]
        lu, pivots = np.empty_like(x), np.empty((*outer, min(x.shape[-2:])), np.int32)
        for index in np.ndindex(outer):
            lu[index], pivots[index], _ = getrf(x[index])
        return lu, pivots

    factors.register(environment, np, factor)

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

    op(aten.triangular_solve.default)(
        lambda y, x, upper=True, transpose=False, unitriangular=False: (
            triangular(np.swapaxes(x, -1, -2), y, not upper, True, unitriangular)
            if transpose
            else triangular(x, y, upper, True, unitriangular),
            x,
        )
    )
    op(aten.linalg_pinv.atol_rtol_tensor)(_pinv)
    op(aten.linalg_matrix_exp.default)(lambda x: scipy.expm(x) if x.size else x)
    op(aten.special_airy_ai.default)(lambda x: special.airy(x)[0])

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


def _pinv(x: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if hermitian:  # one half of the matrix counts
        lower = np.tril(x, -1)
        diagonal = np.eye(x.shape[-1], dtype=x.dtype) * x.real
        x = lower + np.conj(np.swapaxes(lower, -1, -2)) + diagonal
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
