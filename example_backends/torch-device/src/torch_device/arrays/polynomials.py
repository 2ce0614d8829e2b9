"""Orthogonal polynomials by their recurrences, and distances between rows."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten

# By name: the polynomial of degree 1, and the next one of two.
RECURRENCES: dict[str, Any] = {
    "chebyshev_polynomial_t": (lambda x: x, lambda n, x, a, b: 2 * x * b - a),
    "chebyshev_polynomial_u": (lambda x: 2 * x, lambda n, x, a, b: 2 * x * b - a),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, lambda n, x, a, b: 2 * x * b - a),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, lambda n, x, a, b: 2 * x * b - a),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda n, x, a, b: 2 * x * b - 2 * n * a),
    "hermite_polynomial_he": (lambda x: x, lambda n, x, a, b: x * b - n * a),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda n, x, a, b: ((2 * n + 1 - x) * b - n * a) / (n + 1),
    ),
    "legendre_polynomial_p": (
        lambda x: x,
        lambda n, x, a, b: ((2 * n + 1) * x * b - n * a) / (n + 1),
    ),
}


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    def polynomial(first: Any, following: Any, *, is_shifted: bool) -> Any:
        def call(x: Any, n: Any) -> Any:
            x, n = xp.asarray(x), xp.asarray(n)
            x = x if x.dtype.kind == "f" else x.astype(xp.float32)
            x = 2 * x - 1 if is_shifted else x
            degrees = xp.trunc(n)
            found = xp.where(degrees < 0, xp.zeros_like(x), xp.ones_like(x))
            a, b = xp.ones_like(x), first(x)
            for degree in range(1, int(xp.max(degrees, initial=0)) + 1):
                found = xp.where(degrees == degree, b, found)
                a, b = b, following(degree, x, a, b)
            return found

        return call

    for name, (first, following) in RECURRENCES.items():
        packets = [(f"special_{name}", False)]
        if name.startswith("chebyshev"):
            packets.append((f"special_shifted_{name}", True))
        for packet, is_shifted in packets:
            made = polynomial(first, following, is_shifted=is_shifted)
            op(getattr(aten, packet).default)(made)

    def distance(difference: Any, p: float) -> Any:
        difference = xp.abs(difference)
        if p == 0:
            return xp.sum((difference != 0).astype(difference.dtype), axis=-1)
        if p == float("inf"):
            return xp.max(difference, axis=-1, initial=0)
        if p == 2:
            return xp.sqrt(xp.sum(difference * difference, axis=-1))
        return xp.sum(difference**p, axis=-1) ** (1 / p)

    op(aten._cdist_forward.default)(
        lambda x, y, p, mode=None: distance(x[..., :, None, :] - y[..., None, :, :], p)
    )

    @op(aten._pdist_forward.default)
    def pairwise(x: Any, p: float = 2) -> Any:
        i, j = xp.triu_indices(x.shape[0], 1)
        return distance(x[i] - x[j], p)

    def distance_backward(g: Any, difference: Any, p: float, found: Any) -> Any:
        """Return the gradient of the differences."""
        g, found, sign = g[..., None], found[..., None], xp.sign(difference)
        size = xp.abs(difference)
        if p == 0:
            return xp.zeros_like(difference)
        if p == 1:
            return g * sign
        if p == float("inf"):
            return g * sign * (size == found)
        # Where two rows are equal, the gradient is zero; so is a power of zero below 1.
        scale = g / xp.where(found == 0, 1, found) ** (p - 1)
        power = xp.where(size == 0, 1, size) ** (p - 1)
        return xp.where((found == 0) | (size == 0), 0, scale * sign * power)

    @op(aten._cdist_backward.default)
    def cdist_backward(g: Any, x: Any, y: Any, p: float, found: Any) -> Any:
        difference = x[..., :, None, :] - y[..., None, :, :]
        return xp.sum(distance_backward(g, difference, p, found), axis=-2)

    @op(aten._pdist_backward.default)
    def pairwise_backward(g: Any, x: Any, p: float, found: Any) -> Any:
        i, j = xp.triu_indices(x.shape[0], 1)
        part = distance_backward(g, x[i] - x[j], p, found)
        if xp.__name__ == "numpy":
            total = xp.zeros(x.shape, part.dtype)
            xp.add.at(total, i, part)
            xp.subtract.at(total, j, part)
            return total
        return xp.zeros(x.shape, part.dtype).at[i].add(part).at[j].add(-part)

    op(aten.frexp.Tensor)(lambda x: tuple(xp.frexp(x)))
    op(aten.special_spherical_bessel_j0.default)(
        lambda x: xp.where(xp.abs(x) < 0.5, xp.sinc(x / xp.pi), xp.sin(x) / xp.where(x == 0, 1, x))
    )
