"""Operators on elements, for NumPy and JAX alike. PyTorch's dtypes are put on the results later."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

aten = torch.ops.aten

UNARY = {
    **dict.fromkeys(("abs", "ceil", "floor", "trunc", "exp", "exp2", "expm1", "log1p", "sqrt")),
    **dict.fromkeys(("sin", "cos", "tan", "sinh", "cosh", "tanh", "isnan", "isinf")),
    **dict.fromkeys(("isposinf", "isneginf", "angle")),
    **dict.fromkeys(("log", "log2", "log10", "logical_not", "signbit", "deg2rad", "rad2deg")),
    "neg": "negative",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "bitwise_not": "invert",
    "_conj_physical": "conj",
}
FLOATING = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "deg2rad", "rad2deg"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
}
"""Those of integers and booleans too, whose results are floating-point."""
BINARY: dict[str, str | None] = {
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or")),
    **dict.fromkeys(("logical_xor", "hypot", "nextafter", "copysign", "gcd", "lcm", "heaviside")),
    **dict.fromkeys(("logaddexp", "logaddexp2", "fmod", "remainder", "floor_divide")),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor")),
}
BINARY |= {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"}
BINARY |= {"gt": "greater", "ge": "greater_equal"}

SPECIAL = {
    **dict.fromkeys(("erf", "erfc", "digamma", "i0", "erfinv")),
    "lgamma": "gammaln",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    **{f"special_bessel_{name}": name for name in ("j0", "j1", "y0", "y1")},
    **{f"special_modified_bessel_{name}": name for name in ("i0", "i1", "k0", "k1")},
    **{f"special_scaled_modified_bessel_{name}": f"{name}e" for name in ("k0", "k1")},
    **{f"special_{name}": name for name in ("i0e", "i1", "i1e", "ndtri", "zeta", "erfcx")},
}


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    is_numpy = xp.__name__ == "numpy"

    def floating(x: Any) -> Any:
        return xp.issubdtype(x.dtype, xp.inexact)

    def single(x: Any) -> Any:
        # PyTorch's float of integers is float32, which is also faster.
        return x if floating(x) else x.astype(xp.float32)

    def precise(function: Any) -> Any:
        """Return a function that computes as PyTorch does where NumPy takes float16."""

        def call(*arrays: Any) -> Any:
            return function(*[x.astype(xp.float32) if x.dtype.kind in "biu" else x for x in arrays])

        return call if is_numpy else function

    for name, function in UNARY.items():
        found = getattr(xp, function or name)
        op(getattr(aten, name).default)(precise(found) if name in FLOATING else found)
    op(aten.atan2.default)(precise(xp.arctan2))
    for name, function in BINARY.items():
        packet, found = getattr(aten, name), getattr(xp, function or name)
        op(packet.Tensor if "Tensor" in packet.overloads() else packet.default)(found)
        if "Scalar" in packet.overloads() and name != "copysign":
            op(packet.Scalar)(_scalar(xp, found))

    @op(aten.add.Tensor)
    def add(x: Any, y: Any, alpha: Any = 1) -> Any:
        return xp.add(x, y) if alpha == 1 else xp.add(x, xp.multiply(y, alpha))

    @op(aten.sub.Tensor)
    def sub(x: Any, y: Any, alpha: Any = 1) -> Any:
        return xp.subtract(x, y) if alpha == 1 else xp.subtract(x, xp.multiply(y, alpha))

    def divide(x: Any, y: Any) -> Any:
        return xp.divide(single(x), y)

    def divide_mode(x: Any, y: Any, rounding_mode: Any = None) -> Any:
        if rounding_mode is None:
            return divide(x, y)
        if rounding_mode == "floor":
            return xp.floor_divide(x, y)
        if floating(x) or floating(xp.asarray(y)):
            return xp.trunc(xp.divide(x, y))
        quotient = xp.floor_divide(x, y)
        return xp.where((quotient < 0) & (quotient * y != x), quotient + 1, quotient)

    def multiply(x: Any, y: Any) -> Any:
        try:
            return xp.multiply(x, y)
        except OverflowError:  # a number beyond the dtype, such as -1 beside unsigned integers
            return _scalar(xp, xp.multiply)(x, y)

    op(aten.mul.Tensor)(multiply)
    op(aten.div.Tensor)(divide)
    op(aten.div.Tensor_mode)(divide_mode)

    @op([aten.pow.Tensor_Tensor, aten.pow.Tensor_Scalar])
    def power(x: Any, y: Any) -> Any:
        if type(y) is int:
            if y < 0 and x.dtype.kind in "biu":
                raise RuntimeError("Integers to negative integer powers are not allowed.")
            return xp.square(x) if y == 2 else xp.power(x, y)
        if not isinstance(y, (int, float, complex)) and y.dtype.kind == "i":
            x = xp.asarray(x)
            if x.dtype.kind in "iu":  # NumPy refuses negative powers, of which JAX makes nonsense
                return xp.where((y < 0) & (xp.abs(x) != 1), 0, xp.power(x, xp.abs(y)))
        return xp.power(x, y)

    op(aten.pow.Scalar)(lambda x, y: power(xp.asarray(x, _kind(xp, x, y)), y))

    # NumPy's clip turns NaN limits into errors of their own.
    @op([aten.clamp.default, aten.clamp.Tensor])
    def clamp(x: Any, low: Any = None, high: Any = None) -> Any:
        if low is not None:
            x = xp.maximum(x, low)
        return x if high is None else xp.minimum(x, high)

    op([aten.clamp_min.default, aten.clamp_min.Tensor])(xp.maximum)
    op([aten.clamp_max.default, aten.clamp_max.Tensor])(xp.minimum)
    op(aten.reciprocal.default)(lambda x: 1 / single(x))
    op(aten.rsqrt.default)(lambda x: 1 / xp.sqrt(single(x)))

    @op([aten.sign.default, aten.sgn.default])
    def sign(x: Any) -> Any:
        if xp.iscomplexobj(x):
            return xp.where(x == 0, 0, x / xp.where(x == 0, 1, xp.abs(x)))
        return x if x.dtype.kind == "b" else xp.sign(x)

    op(aten.round.default)(xp.round)
    op(aten.where.self)(xp.where)
    op([aten.masked_fill.Scalar, aten.masked_fill.Tensor])(
        lambda x, mask, value: xp.where(mask, xp.asarray(value).astype(x.dtype), x)
    )
    op([aten.lerp.Scalar, aten.lerp.Tensor])(
        lambda x, y, w: xp.where(xp.abs(w) < 0.5, x + w * (y - x), y - (y - x) * (1 - w))
    )
    op(aten.addcmul.default)(lambda x, a, b, value=1: x + value * a * b)
    op(aten.addcdiv.default)(lambda x, a, b, value=1: x + value * (a / b))

    def sigmoid(x: Any) -> Any:
        x = single(x)
        if xp.iscomplexobj(x):
            return 1 / (1 + xp.exp(-x))
        # Either side without overflow.
        e = xp.exp(-xp.abs(x))
        return xp.where(x >= 0, 1, e) / (1 + e)

    op(aten.sigmoid.default)(sigmoid)
    op(aten.sigmoid_backward.default)(lambda g, y: g * xp.conj(y * (1 - y)))
    op(aten.tanh_backward.default)(lambda g, y: g * xp.conj(1 - y * y))
    op(aten.silu.default)(lambda x: x * sigmoid(x))
    op(aten.relu.default)(lambda x: xp.maximum(x, xp.asarray(0, x.dtype)))
    op(aten.threshold_backward.default)(lambda g, x, t: xp.where(x <= t, 0, g).astype(g.dtype))
    for name in ("softshrink_backward", "hardshrink_backward"):
        op(getattr(aten, name).default)(
            lambda g, x, limit: xp.where((x >= -limit) & (x <= limit), 0, g).astype(g.dtype)
        )

    _register_special(environment, xp)


def _register_special(environment: Any, xp: Any) -> None:
    """Register them, as far as SciPy or JAX has them."""
    try:
        special = import_module("scipy.special" if xp.__name__ == "numpy" else "jax.scipy.special")
    except ImportError:
        return
    for name, function in SPECIAL.items():
        packet, found = getattr(aten, name), getattr(special, function or name, None)
        if found is not None:
            overload = "default" if "default" in packet.overloads() else "Tensor"
            environment.register_op(getattr(packet, overload))(found)
    environment.register_op(aten.polygamma.default)(special.polygamma)


def _scalar(xp: Any, function: Any) -> Any:
    """Pass a number as data, in the dtype that PyTorch gives it beside `x`."""

    def call(x: Any, number: Any) -> Any:
        return function(x, xp.asarray(number, _kind(xp, number, x)))

    return call


def _kind(xp: Any, number: Any, x: Any) -> Any:
    kinds = "biufc"
    kind = x.dtype.kind if x.dtype.kind in kinds else "f"
    rank = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}[kind]
    wanted = {bool: 0, int: 1, float: 2, complex: 3}.get(type(number), 2)
    if wanted <= rank:
        # Numbers that the dtype cannot hold, beside small integers, keep their own.
        if kind in "iu" and not (xp.iinfo(x.dtype).min <= number <= xp.iinfo(x.dtype).max):
            return xp.int64
        return x.dtype
    if wanted == 3:
        return xp.complex128 if x.dtype == xp.float64 else xp.complex64
    return xp.float32 if wanted == 2 else xp.int64
