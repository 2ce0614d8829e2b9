"""Operators for which JAX has functions of its own, or differs from NumPy."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import torch

aten = torch.ops.aten


def register(environment: Any) -> None:
    """Register them."""
    op = environment.register_op
    op(aten._linalg_eigvals.default)(jnp.linalg.eigvals)
    op(aten.linalg_matrix_exp.default)(lambda x: jsp.linalg.expm(x) if x.size else x)

    # PyTorch reads one half of a matrix, where JAX takes the mean of both.
    @op(aten._linalg_eigh.default)
    def eigh(x: Any, uplo: str = "L", vectors: bool = True) -> Any:
        values, found = jnp.linalg.eigh(x, uplo, symmetrize_input=False)
        return values, found if vectors else jnp.zeros((0,), x.dtype)

    @op(aten.linalg_cholesky_ex.default)
    def cholesky(x: Any, upper: bool = False, check_errors: bool = False) -> Any:
        found = jax.lax.linalg.cholesky(x, symmetrize_input=False)
        found = jnp.conj(jnp.swapaxes(found, -1, -2)) if upper else found
        return found, jnp.zeros(x.shape[:-2], jnp.int32)

    @op(aten.linalg_solve_triangular.default)
    def triangular(
        x: Any, y: Any, upper: bool, left: bool = True, unitriangular: bool = False
    ) -> Any:
        if not left:
            x, y, upper = jnp.swapaxes(x, -1, -2), jnp.swapaxes(y, -1, -2), not upper
        outer = jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x, y = (jnp.broadcast_to(each, (*outer, *each.shape[-2:])) for each in (x, y))
        found = jsp.linalg.solve_triangular(x, y, lower=not upper, unit_diagonal=unitriangular)
        return found if left else jnp.swapaxes(found, -1, -2)

    @op(aten.polygamma.default)
    def polygamma(n: int, x: Any) -> Any:
        if n == 0:
            return jsp.special.digamma(x)
        found = jsp.special.polygamma(n, jnp.where(x < 0, 1 - x, x))
        # JAX's own series does not reach far below zero.
        rest = math.pi * _derivative_of_cotangent(n, x)
        return jnp.where(x < 0, (-1) ** n * found - rest, found)


def _derivative_of_cotangent(n: int, x: Any) -> Any:
    """Return the n-th derivative of the cotangent of pi times x."""
    # A polynomial of the cotangent c, whose own derivative is -pi (1 + c**2).
    coefficients = [0.0, 1.0]
    for _ in range(n):
        slopes = [k * each for k, each in enumerate(coefficients)][1:]
        coefficients = [
            -math.pi * (a + b)
            for a, b in zip([*slopes, 0.0, 0.0], [0.0, 0.0, *slopes], strict=True)
        ]
    c = 1 / jnp.tan(math.pi * (x - jnp.round(x)))
    return jnp.polyval(jnp.asarray(coefficients[::-1], x.dtype), c)
