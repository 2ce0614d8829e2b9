"""Calls of the functions of the Python array API standard (2024.12), by NumPy's names for them.

Each gets two lengths in metres, `x` of shape (3, 3) and `y` of the same shape, and their ratio `r`,
and says the power of the metre in the result; None for a result without unit.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy  # noqa: ICN001  # `np` is the same without its annotations

np: Any = numpy
Call = Callable[[Any, Any, Any], Any]
Power = Fraction | int | None

ELEMENTWISE: dict[str, tuple[Call, Any]] = {
    **{
        name: (lambda x, y, r, name=name: getattr(np, name)(x), 1)
        for name in (
            *("abs", "ceil", "conj", "floor", "imag", "negative", "positive", "real"),
            *("round", "trunc"),
        )
    },
    **{
        name: (lambda x, y, r, name=name: getattr(np, name)(x, y), 1)
        for name in ("add", "hypot", "maximum", "minimum", "nextafter", "remainder", "subtract")
    },
    **{
        name: (lambda x, y, r, name=name: getattr(np, name)(r / (r + 3.0)), 0)
        for name in (
            *("arccos", "arcsin", "arctan", "arctanh", "cos", "cosh", "exp", "expm1"),
            *("log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh", "arcsinh"),
        )
    },
    **{
        name: (lambda x, y, r, name=name: getattr(np, name)(x, y), None)
        for name in (
            *("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"),
            *("logical_and", "logical_or", "logical_xor"),
        )
    },
    **{
        name: (lambda x, y, r, name=name: getattr(np, name)(x), None)
        for name in ("isfinite", "isinf", "isnan", "logical_not", "sign", "signbit")
    },
    "acosh": (lambda x, y, r: np.arccosh(r + 1.0), 0),
    "atan2": (lambda x, y, r: np.arctan2(x, y), 0),
    "clip": (lambda x, y, r: np.clip(x, y, y + y), 1),
    "copysign": (lambda x, y, r: np.copysign(x, -r), 1),
    "divide": (lambda x, y, r: x / y, 0),
    "floor_divide": (lambda x, y, r: x // y, 0),
    "logaddexp": (lambda x, y, r: np.logaddexp(r, r), 0),
    "multiply": (lambda x, y, r: x * y, 2),
    "pow": (lambda x, y, r: x**3, 3),
    "reciprocal": (lambda x, y, r: np.reciprocal(x), -1),
    "sqrt": (lambda x, y, r: np.sqrt(x), Fraction(1, 2)),
    "square": (lambda x, y, r: np.square(x), 2),
}
CREATION: dict[str, tuple[Call, Any]] = {
    "empty_like": (lambda x, y, r: np.empty_like(x) * 0.0, 1),
    "full_like": (lambda x, y, r: np.full_like(x, y[0, 0]), 1),
    "meshgrid": (lambda x, y, r: np.meshgrid(x[0], x[1])[1], 1),
    "ones_like": (lambda x, y, r: np.ones_like(x) * r, None),
    "tril": (lambda x, y, r: np.tril(x), 1),
    "triu": (lambda x, y, r: np.triu(x), 1),
    "zeros_like": (lambda x, y, r: np.zeros_like(x), 1),
    "linspace": (lambda x, y, r: np.linspace(x[0, 0], y[0, 0], 5), 1),
}
LINEAR: dict[str, tuple[Call, Any]] = {
    "matmul": (lambda x, y, r: x @ y, 2),
    "matrix_transpose": (lambda x, y, r: np.matrix_transpose(x), 1),
    "tensordot": (lambda x, y, r: np.tensordot(x, y), 2),
    "vecdot": (lambda x, y, r: np.vecdot(x, y), 2),
    "linalg.cholesky": (lambda x, y, r: np.linalg.cholesky(x @ x.T), 1),
    "linalg.cross": (lambda x, y, r: np.linalg.cross(x, y), 2),
    "linalg.det": (lambda x, y, r: np.linalg.det(x), 3),
    "linalg.diagonal": (lambda x, y, r: np.linalg.diagonal(x), 1),
    "linalg.eigh": (lambda x, y, r: np.linalg.eigh(x + x.T)[0], 1),
    "linalg.eigvalsh": (lambda x, y, r: np.linalg.eigvalsh(x + x.T), 1),
    "linalg.inv": (lambda x, y, r: np.linalg.inv(x), -1),
    "linalg.matrix_norm": (lambda x, y, r: np.linalg.matrix_norm(x), 1),
    "linalg.matrix_rank": (lambda x, y, r: np.linalg.matrix_rank(x), None),
    "linalg.outer": (lambda x, y, r: np.linalg.outer(x[0], y[0]), 2),
    "linalg.pinv": (lambda x, y, r: np.linalg.pinv(x), -1),
    "linalg.qr": (lambda x, y, r: np.linalg.qr(x)[1], 1),
    "linalg.solve": (lambda x, y, r: np.linalg.solve(x, y @ y), 1),
    "linalg.svd": (lambda x, y, r: np.linalg.svd(x)[1], 1),
    "linalg.svdvals": (lambda x, y, r: np.linalg.svdvals(x), 1),
    "linalg.trace": (lambda x, y, r: np.linalg.trace(x), 1),
    "linalg.vector_norm": (lambda x, y, r: np.linalg.vector_norm(x), 1),
}
MANIPULATION: dict[str, tuple[Call, Any]] = {
    "broadcast_arrays": (lambda x, y, r: np.broadcast_arrays(x, y[0])[1], 1),
    "broadcast_to": (lambda x, y, r: np.broadcast_to(x, (2, 3, 3)), 1),
    "concat": (lambda x, y, r: np.concatenate([x, y], axis=1), 1),
    "expand_dims": (lambda x, y, r: np.expand_dims(x, 0), 1),
    "flip": (lambda x, y, r: np.flip(x), 1),
    "moveaxis": (lambda x, y, r: np.moveaxis(x, 0, 1), 1),
    "permute_dims": (lambda x, y, r: np.transpose(x, (1, 0)), 1),
    "repeat": (lambda x, y, r: np.repeat(x, 2), 1),
    "reshape": (lambda x, y, r: np.reshape(x, 9), 1),
    "roll": (lambda x, y, r: np.roll(x, 1), 1),
    "squeeze": (lambda x, y, r: np.squeeze(x[:1]), 1),
    "stack": (lambda x, y, r: np.stack((x, y)), 1),
    "tile": (lambda x, y, r: np.tile(x, 2), 1),
    "unstack": (lambda x, y, r: np.unstack(x)[2], 1),
}
REST: dict[str, tuple[Call, Any]] = {
    "argmax": (lambda x, y, r: np.argmax(x), None),
    "argmin": (lambda x, y, r: np.argmin(x), None),
    "count_nonzero": (lambda x, y, r: np.count_nonzero(x), None),
    "nonzero": (lambda x, y, r: np.nonzero(x)[0], None),
    "searchsorted": (lambda x, y, r: np.searchsorted(np.sort(x[0]), y[0]), None),
    "where": (lambda x, y, r: np.where(x > y, x, y), 1),
    "unique_all": (lambda x, y, r: np.unique_all(x).values, 1),
    "unique_counts": (lambda x, y, r: np.unique_counts(x).values, 1),
    "unique_inverse": (lambda x, y, r: np.unique_inverse(x).values, 1),
    "unique_values": (lambda x, y, r: np.sort(np.unique_values(x)), 1),
    "argsort": (lambda x, y, r: np.argsort(x), None),
    "sort": (lambda x, y, r: np.sort(x), 1),
    "cumulative_prod": (lambda x, y, r: np.cumulative_prod(r, axis=0), 0),
    "cumulative_sum": (lambda x, y, r: np.cumulative_sum(x, axis=0), 1),
    "max": (lambda x, y, r: np.max(x), 1),
    "mean": (lambda x, y, r: np.mean(x, axis=1), 1),
    "min": (lambda x, y, r: np.min(x), 1),
    "prod": (lambda x, y, r: np.prod(x, axis=0), 3),
    "std": (lambda x, y, r: np.std(x), 1),
    "sum": (lambda x, y, r: np.sum(x), 1),
    "var": (lambda x, y, r: np.var(x), 2),
    "take": (lambda x, y, r: np.take(x, np.array([0, 2])), 1),
    "take_along_axis": (lambda x, y, r: np.take_along_axis(x, np.argsort(x), -1), 1),
    "all": (lambda x, y, r: np.all(x), None),
    "any": (lambda x, y, r: np.any(x), None),
    "diff": (lambda x, y, r: np.diff(x), 1),
}
CALLS = {**ELEMENTWISE, **CREATION, **LINEAR, **MANIPULATION, **REST}
"""By the standard's names. Left out are functions of data types and of integers, and creation
without an array, which no units reach."""

X = np.array([[2.5, 0.5, 1.25], [0.75, 3.5, 0.25], [1.5, 0.125, 4.5]])
Y = np.array([[1.0, 2.0, 3.0], [0.5, 1.5, 2.5], [2.0, 1.0, 0.25]])
