"""What becomes of units: one rule for each function, by its identity.

A rule gets the units of the arrays among the arguments, in order, and the call; it returns the unit
of the result, None for a result without unit, or a tuple of these for several results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from .units import Unit, UnitError

ONE = Unit()
_ALL = 32
"""All arguments by position are arrays."""


class Given(NamedTuple):
    """The call, without units."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


One = Unit | None
Result = One | tuple[One, ...]
Rule = Callable[[Sequence[Unit], Given], Result]


def same(units: Sequence[Unit], _: Given) -> Unit:
    """Return the unit that all arguments have."""
    for other in units[1:]:
        if other != units[0]:
            raise UnitError(f"{units[0]} does not go together with {other}")
    return units[0] if units else ONE


def each(units: Sequence[Unit], _: Given) -> Result:
    """Return the units of the arguments, for as many results."""
    return tuple(units)


def plain(units: Sequence[Unit], given: Given) -> None:
    """Return None: the result has no unit; the arguments have the same."""
    same(units, given)


def number(units: Sequence[Unit], _: Given) -> Unit:
    """Return the unit of pure numbers, which all arguments have."""
    for unit in units:
        if unit != ONE:
            raise UnitError(f"{unit} is not the unit of a pure number")
    return ONE


def ratio(units: Sequence[Unit], given: Given) -> Unit:
    """Return the unit of pure numbers; the arguments have the same."""
    same(units, given)
    return ONE


def product(units: Sequence[Unit], _: Given) -> Unit:
    """Return the product of the units."""
    found = ONE
    for unit in units:
        found = found * unit
    return found


def quotient(units: Sequence[Unit], _: Given) -> Unit:
    """Return the first unit divided by the second."""
    return units[0] / units[1]


def first(units: Sequence[Unit], _: Given) -> Unit:
    """Return the unit of the first argument; the others are pure numbers."""
    number(units[1:], _)
    return units[0]


def power(exponent: Fraction | int) -> Rule:
    """Return the rule of a function that takes its arguments, of one unit, to a power."""
    return lambda units, given: same(units, given) ** exponent


def raised(units: Sequence[Unit], given: Given) -> Unit:
    """Return the unit of ``x ** y``: of numbers, or with one number as the exponent."""
    if units[0] == ONE:
        return number(units, given)
    exponent = given.args[1]
    number(units[1:], given)
    if getattr(exponent, "size", 1) != 1:
        raise UnitError(f"{units[0]} is raised to a single power")
    return units[0] ** Fraction(float(exponent)).limit_denominator(64)


def counted(axis: int | None, *, skips_nan: bool = False) -> Rule:
    """Return the rule of a product of elements along this axis, unless the call names one.

    The power of the unit is the number of elements, so it has to be the same for all products.
    """

    def rule(units: Sequence[Unit], given: Given) -> Unit:
        array, axes = given.args[0], _option(given, "axis", 1, axis)
        is_partial = given.kwargs.get("where", True) is not True
        if units[0] != ONE and (is_partial or (skips_nan and (array != array).any())):
            raise UnitError(f"products of some elements alone have no single power of {units[0]}")
        if axes is None:
            axes = range(array.ndim)
        count = 1
        for dimension in axes if isinstance(axes, (tuple, range)) else (axes,):
            count *= array.shape[dimension]
        return product((units[0] ** count, *units[1:]), given)

    return rule


def length(units: Sequence[Unit], given: Given) -> One:
    """Return the unit of a norm; that of order 0 counts elements."""
    return None if _option(given, "ord", 1, None) == 0 else same(units, given)


def distinct(units: Sequence[Unit], given: Given) -> Result:
    """Return the unit of distinct elements, and none for each further result asked for."""
    names = ("return_index", "return_inverse", "return_counts")
    others = [name for place, name in enumerate(names, 1) if _option(given, name, place, False)]
    unit = same(units, given)
    return (unit, *[None] * len(others)) if others else unit


def averaged(units: Sequence[Unit], given: Given) -> Result:
    """Return the unit of an average, and of the sum of the weights if it is asked for."""
    unit = same(units, given)
    return (unit, None) if _option(given, "returned", 3, False) else unit


def singular(units: Sequence[Unit], given: Given) -> Result:
    """Return the units of a singular value decomposition."""
    unit = same(units, given)
    return (ONE, unit, ONE) if _option(given, "compute_uv", 2, True) else unit


def triangular(units: Sequence[Unit], given: Given) -> Result:
    """Return the units of a QR decomposition."""
    mode = _option(given, "mode", 1, "reduced")
    if mode not in ("reduced", "complete", "r"):
        raise UnitError(f"the results of mode {mode!r} have no single unit")
    unit = same(units, given)
    return unit if mode == "r" else (ONE, unit)


def _option(given: Given, name: str, place: int, default: Any) -> Any:
    """Return an argument that may be given by position or by name."""
    return given.args[place] if place < len(given.args) else given.kwargs.get(name, default)


def determinant(units: Sequence[Unit], given: Given) -> Unit:
    """Return the unit of a determinant."""
    return units[0] ** int(given.args[0].shape[-1])


def several(*rules: Callable[[Sequence[Unit], Given], One] | None) -> Rule:
    """Return the rule of a function with several results."""
    return lambda units, given: tuple([rule and rule(units, given) for rule in rules])


def _table() -> dict[str, tuple[Rule, int]]:
    """Return each rule with the number of arrays that its function takes by position."""
    found: dict[str, tuple[Rule, int]] = {}

    def add(rule: Rule, count: int, names: str, module: str = "numpy") -> None:
        found.update({f"{module}:{name}": (rule, count) for name in names.split()})

    add(same, 2, "add subtract maximum minimum fmax fmin hypot remainder fmod nextafter append")
    add(same, 2, "add.outer subtract.outer maximum.outer minimum.outer linspace union1d setdiff1d")
    add(same, 2, "add.at subtract.at maximum.at minimum.at")
    add(same, 1, "add.reduce maximum.reduce minimum.reduce add.accumulate maximum.accumulate")
    add(same, 1, "minimum.accumulate add.reduceat negative positive absolute fabs floor ceil trunc")
    add(same, 1, "rint conjugate sum mean median max min amax amin ptp std cumsum cumulative_sum")
    add(same, 1, "sort partition flip fliplr flipud rot90 roll reshape ravel squeeze expand_dims")
    add(same, 1, "transpose matrix_transpose moveaxis rollaxis swapaxes broadcast_to tile repeat")
    add(same, 1, "take take_along_axis diag diagonal trace tril triu copy real imag")
    add(same, 1, "round around diff quantile percentile nansum nanmean nanmax nanmin nanstd")
    add(same, 1, "nanmedian unique_values concatenate stack vstack hstack dstack block")
    add(same, 1, "atleast_1d atleast_2d zeros_like ones_like empty_like delete resize pad")
    add(same, 1, "unstack split array_split hsplit vsplit gradient trim_zeros")
    add(each, _ALL, "broadcast_arrays meshgrid")
    add(same, 3, "clip")
    add(same, 2, "full_like")
    add(same, 3, "ediff1d")
    add(lambda units, given: same((units[0], *units[2:]), given), 3, "insert")
    add(lambda units, given: same(units[1:], given), 2, "compress extract")
    add(distinct, 1, "unique")
    add(averaged, 1, "average")
    add(same, 1, "asarray array asanyarray zeros ones empty full arange eye identity")
    add(lambda units, given: same(units[1:], given) if units[1:] else None, 3, "where")
    add(first, 2, "copysign")
    add(product, 2, "multiply matmul vecdot matvec vecmat dot vdot inner outer tensordot cross")
    add(product, 2, "kron multiply.outer convolve correlate trapezoid")
    add(product, _ALL, "einsum")
    add(quotient, 2, "divide floor_divide divide.outer")
    add(raised, 2, "power float_power")
    add(power(2), 1, "square var nanvar cov")
    add(power(Fraction(1, 2)), 1, "sqrt")
    add(power(Fraction(1, 3)), 1, "cbrt")
    add(power(-1), 1, "reciprocal")
    add(counted(None), 1, "prod")
    add(counted(None, skips_nan=True), 1, "nanprod")
    add(counted(0), 1, "multiply.reduce")
    add(number, 1, "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos")
    add(number, 1, "arctan arcsinh arccosh arctanh cumprod cumulative_prod deg2rad rad2deg i0 sinc")
    add(number, 2, "logaddexp logaddexp2 bitwise_and bitwise_or bitwise_xor left_shift right_shift")
    add(number, 1, "invert")
    add(ratio, 2, "arctan2 corrcoef")
    add(plain, 2, "less less_equal equal not_equal greater greater_equal isclose allclose isin")
    add(plain, 2, "array_equal searchsorted digitize logical_and logical_or logical_xor")
    add(plain, 1, "isfinite isinf isnan signbit sign argmax argmin argsort argpartition nonzero")
    add(plain, 1, "count_nonzero any all logical_not shape ndim size iscomplexobj isrealobj")
    add(plain, 1, "flatnonzero argwhere nanargmax nanargmin logical_and.reduce logical_or.reduce")
    add(several(quotient, same), 2, "divmod")
    add(several(same, None, None, None), 1, "unique_all")
    add(several(same, None), 1, "unique_counts unique_inverse")
    linalg = "numpy.linalg"
    add(length, 1, "norm vector_norm", linalg)
    add(same, 1, "matrix_norm diagonal trace matrix_transpose eigvals", linalg)
    add(same, 1, "eigvalsh svdvals", linalg)
    add(product, 2, "matmul cross outer vecdot tensordot", linalg)
    add(power(-1), 1, "inv pinv", linalg)
    add(power(Fraction(1, 2)), 1, "cholesky", linalg)
    add(lambda units, _: units[1] / units[0], 2, "solve", linalg)
    add(determinant, 1, "det", linalg)
    add(plain, 1, "matrix_rank", linalg)
    add(ratio, 1, "cond", linalg)
    add(several(same, ratio), 1, "eigh eig", linalg)
    add(triangular, 1, "qr", linalg)
    add(singular, 1, "svd", linalg)
    add(same, 1, "fft ifft rfft irfft fft2 ifft2 fftn ifftn fftshift ifftshift", "numpy.fft")
    names = "expit logit erf erfc erfinv gamma gammaln exprel log_expit log_ndtr ndtr j0 j1 sinpi"
    add(number, 1, f"{names} exp10", "scipy.special")
    add(number, 2, "xlogy xlog1py", "scipy.special")
    add(power(Fraction(1, 3)), 1, "cbrt", "scipy.special")
    add(ratio, 2, "rel_entr", "scipy.special")
    return found


RULES = _table()
