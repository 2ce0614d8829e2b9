"""Special functions, and GELU in terms of one."""

from __future__ import annotations

import math
from typing import Any

import torch

aten = torch.ops.aten

SPECIAL = {
    "erf": "erf",
    "erfc": "erfc",
    "lgamma": "gammaln",
    "digamma": "digamma",
    "i0": "i0",
    "special_i0e": "i0e",
    "special_i1": "i1",
    "special_i1e": "i1e",
    "special_ndtri": "ndtri",
    "special_log_ndtr": "log_ndtr",
    "erfinv": "erfinv",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "special_xlog1py": "xlog1py",
    "special_zeta": "zeta",
    "xlogy": "xlogy",
    "special_erfcx": "erfcx",
    "special_bessel_j0": "j0",
    "special_bessel_j1": "j1",
    "special_bessel_y0": "y0",
    "special_bessel_y1": "y1",
    "special_modified_bessel_i0": "i0",
    "special_modified_bessel_i1": "i1",
    "special_modified_bessel_k0": "k0",
    "special_modified_bessel_k1": "k1",
    "special_scaled_modified_bessel_k0": "k0e",
    "special_scaled_modified_bessel_k1": "k1e",
    "special_entr": "entr",
}


def register(environment: Any, xp: Any) -> None:
    """Register them, as far as SciPy or JAX has them."""
    try:
        special = _special(xp)
    except ImportError:
        return
    for name, function in SPECIAL.items():
        packet, found = getattr(aten, name), getattr(special, function, None)
        if found is not None:
            overload = "default" if "default" in packet.overloads() else "Tensor"
            environment.register_op(getattr(packet, overload))(found)

    @environment.register_op(aten.polygamma.default)
    def polygamma(n: int, x: Any) -> Any:
        return special.polygamma(n, x)

    def entropy(x: Any) -> Any:
        return xp.where(xp.isnan(x), x, special.entr(x))

    environment.register_op(aten.special_entr.default)(entropy)
    _register_gelu(environment.register_op, xp, special)


def _special(xp: Any) -> Any:
    if xp.__name__ == "numpy":
        import scipy.special

        return scipy.special
    import jax.scipy.special

    return jax.scipy.special


def _register_gelu(op: Any, xp: Any, special: Any) -> None:
    erf = special.erf

    def gelu(x: Any, approximate: str = "none") -> Any:
        if approximate == "tanh":
            inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
            return 0.5 * x * (1 + xp.tanh(inner))
        return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))

    def backward(g: Any, x: Any, approximate: str = "none") -> Any:
        if approximate == "tanh":
            slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
            t = xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))
            return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)
        density = xp.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
        return g * (0.5 * (1 + erf(x * math.sqrt(0.5))) + x * density)

    op(aten.gelu.default)(gelu)
    op(aten.gelu_backward.default)(backward)
