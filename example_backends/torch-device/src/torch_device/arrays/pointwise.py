"""Operators on elements, for NumPy and JAX alike. PyTorch's dtypes are put on the results later."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten

UNARY = {
    **dict.fromkeys(("abs", "ceil", "floor", "trunc", "exp", "exp2", "expm1", "log1p", "sqrt")),
    **dict.fromkeys(("sin", "cos", "tan", "sinh", "cosh", "tanh", "isnan", "isinf")),
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
    "isposinf": "isposinf",
    "isneginf": "isneginf",
    "angle": "angle",
}
FLOATING = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "deg2rad", "rad2deg"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
}
"""Those of integers and booleans too, whose results are floating-point."""
BINARY = {
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or")),
    **dict.fromkeys(("logical_xor", "hypot", "nextafter", "copysign", "gcd", "lcm")),
    "heaviside": "heaviside",
    "logaddexp": "logaddexp",
    "logaddexp2": "logaddexp2",
}
COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"}
COMPARISONS |= {"gt": "greater", "ge": "greater_equal"}


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    def named(name: str) -> Any:
        return getattr(xp, name)

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
        found = named(function or name)
        op(getattr(aten, name).default)(precise(found) if name in FLOATING else found)
    op(aten.atan2.default)(precise(xp.arctan2))
    for name, function in BINARY.items():
        packet = getattr(aten, name)
        op(packet.Tensor if "Tensor" in packet.overloads() else packet.default)(
            named(function or name)
        )
    for name, function in COMPARISONS.items():
        packet = getattr(aten, name)
        op(packet.Tensor)(named(function))
        op(packet.Scalar)(_scalar(xp, named(function)))

    def both(name: str, function: Any) -> None:
        packet = getattr(aten, name)
        for overload, made in (("Tensor", function), ("Scalar", _scalar(xp, function))):
            if overload in packet.overloads():
                op(getattr(packet, overload))(made)

    @op(aten.add.Tensor)
    def add(x: Any, y: Any, alpha: Any = 1) -> Any:
        return xp.add(x, y) if alpha == 1 else xp.add(x, xp.multiply(y, alpha))

    @op(aten.sub.Tensor)
    def sub(x: Any, y: Any, alpha: Any = 1) -> Any:
        return xp.subtract(x, y) if alpha == 1 else xp.subtract(x, xp.multiply(y, alpha))

    @op(aten.add.Scalar)
    def add_scalar(x: Any, y: Any, alpha: Any = 1) -> Any:
        return _scalar(xp, xp.add)(x, y * alpha)

    @op(aten.sub.Scalar)
    def sub_scalar(x: Any, y: Any, alpha: Any = 1) -> Any:
        return _scalar(xp, xp.subtract)(x, y * alpha)

    @op(aten.rsub.Scalar)
    def rsub_scalar(x: Any, y: Any, alpha: Any = 1) -> Any:
        return _scalar(xp, lambda a, b: xp.subtract(b, a * alpha))(x, y)

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

    both("mul", xp.multiply)
    both("div", divide)
    op(aten.div.Tensor_mode)(divide_mode)
    op(aten.div.Scalar_mode)(divide_mode)
    both("fmod", xp.fmod)
    both("remainder", xp.remainder)
    both("floor_divide", xp.floor_divide)
    both("bitwise_and", xp.bitwise_and)
    both("bitwise_or", xp.bitwise_or)
    both("bitwise_xor", xp.bitwise_xor)
    op(aten.bitwise_left_shift.Tensor)(xp.left_shift)
    op(aten.bitwise_right_shift.Tensor)(xp.right_shift)

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
    op(aten.frac.default)(lambda x: x - xp.trunc(x))

    @op([aten.sign.default, aten.sgn.default])
    def sign(x: Any) -> Any:
        if xp.iscomplexobj(x):
            return xp.where(x == 0, 0, x / xp.where(x == 0, 1, xp.abs(x)))
        return x if x.dtype.kind == "b" else xp.sign(x)

    op(aten.round.default)(xp.round)
    op(aten.round.decimals)(lambda x, decimals=0: xp.round(x, decimals))
    op(aten.where.self)(xp.where)
    op([aten.masked_fill.Scalar, aten.masked_fill.Tensor])(
        lambda x, mask, value: xp.where(mask, xp.asarray(value).astype(x.dtype), x)
    )
    op([aten.lerp.Scalar, aten.lerp.Tensor])(
        lambda x, y, w: xp.where(xp.abs(w) < 0.5, x + w * (y - x), y - (y - x) * (1 - w))
    )
    op(aten.addcmul.default)(lambda x, a, b, value=1: x + value * a * b)
    op(aten.addcdiv.default)(lambda x, a, b, value=1: x + value * (a / b))
    op(aten.nan_to_num.default)(
        lambda x, nan=None, posinf=None, neginf=None: xp.nan_to_num(
            x, nan=nan or 0.0, posinf=posinf, neginf=neginf
        )
    )
    op(aten.complex.default)(lambda a, b: a + 1j * b)
    op(aten.polar.default)(lambda r, a: r * xp.exp(1j * a))
    op(aten.sinc.default)(lambda x: xp.sinc(single(x)))

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
    op(aten.threshold.default)(lambda x, t, value: xp.where(x <= t, value, x).astype(x.dtype))
    op(aten.threshold_backward.default)(lambda g, x, t: xp.where(x <= t, 0, g).astype(g.dtype))
    for name in ("softshrink_backward", "hardshrink_backward"):
        op(getattr(aten, name).default)(
            lambda g, x, limit: xp.where((x >= -limit) & (x <= limit), 0, g).astype(g.dtype)
        )
    op(aten.leaky_relu.default)(lambda x, slope=0.01: xp.where(x > 0, x, x * slope))
    op(aten.hardtanh.default)(lambda x, low=-1, high=1: xp.minimum(xp.maximum(x, low), high))
    op(aten.log_sigmoid_forward.default)(
        lambda x: (xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x))), xp.exp(-xp.abs(x)))
    )

    @op(aten.softplus.default)
    def softplus(x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
        scaled = x * beta
        return xp.where(scaled > threshold, x, xp.logaddexp(scaled, xp.zeros_like(x)) / beta)

    @op(aten.elu.default)
    def elu(x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
        negative = xp.expm1(xp.minimum(x, 0) * input_scale) * (alpha * scale)
        return xp.where(x > 0, x * scale, negative)


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
