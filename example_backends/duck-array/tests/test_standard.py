"""The functions of the array API standard keep units."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from duck_array import JaxQuantity, Quantity, Unit, UnitError

from standard import CALLS, X, Y  # isort: skip

IS_OLD = tuple(map(int, np.__version__.split(".")[:2])) < (2, 3)
NEWER = {
    *("matrix_transpose", "vecdot", "cumulative_prod", "cumulative_sum", "unstack"),
    *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
UNSCALED = {"ceil", "floor", "round", "trunc", "nextafter", "ones_like"}
"""Their results do not scale with the unit: they round, or are ones of it."""


def called(name: str, cls: Any, scale: float = 1.0) -> Any:
    """Return the result of a call with lengths."""
    function, _ = CALLS[name]
    x, y = cls(X * scale, "m"), cls(Y * scale, "m")
    return function(x, y, x / y)


def assert_scales(once: Any, twice: Any) -> None:
    """The values scale as the unit says: in half metres they are twice as large, by its power."""
    power = getattr(once, "unit", Unit()).powers.get("m", 0)
    values, scaled = (getattr(each, "values", each) for each in (once, twice))
    factor = 2.0 ** float(power) if power else 1
    np.testing.assert_allclose(scaled, values * factor if power else values, rtol=1e-9)


@pytest.mark.parametrize("name", CALLS)
def test_the_unit_is_kept_and_right(name: str) -> None:
    """It is that of the table, and the values are NumPy's."""
    if IS_OLD and (name in NEWER or name.startswith("linalg.")):
        pytest.skip("NumPy got it later")
    function, power = CALLS[name]
    result = called(name, Quantity)
    if power is None:
        assert getattr(result, "unit", Unit()) in (Unit(), Unit.parse("m"))
    else:
        assert result.unit == Unit({"m": power})
    expected = function(X, Y, X / Y)
    np.testing.assert_allclose(getattr(result, "values", result), expected, rtol=1e-12, atol=1e-12)
    if name not in UNSCALED:
        assert_scales(result, called(name, Quantity, 2.0))


MASK = np.array([[True, False, True]] * 3)
OPTIONS: dict[str, Any] = {
    "multiply.reduce": np.multiply.reduce,
    "multiply.reduce of all": lambda x: np.multiply.reduce(x, axis=None),
    "prod with initial": lambda x: np.prod(x, axis=1, initial=x[0, 0]),
    "nanprod": np.nanprod,
    "svd": lambda x: np.linalg.svd(x, compute_uv=False),
    "qr": lambda x: np.linalg.qr(x, mode="r"),
    "counts": lambda x: np.unique(x, return_counts=True)[1],
    "unique, with indices": lambda x: np.unique(x, True, True)[0],
    "weights": lambda x: np.average(x, axis=0, returned=True)[1],
    "average": lambda x: np.average(x, axis=0, returned=True)[0],
    "cov": lambda x: np.cov(x, y=x),
    "norm that counts": lambda x: np.linalg.norm(x[0], ord=0),
    "norm": lambda x: np.linalg.norm(x[0], 1),
    "diff": lambda x: np.diff(x, prepend=x[:, :1]),
    "ediff1d": lambda x: np.ediff1d(x, x[0]),
    "pad": lambda x: np.pad(x, 1, constant_values=x[0, 0]),
    "insert": lambda x: np.insert(x, 1, x[0], axis=0),
    "extract": lambda x: np.extract(MASK, x),
    "compress": lambda x: np.compress([True, False, True], x, axis=0),
    "where": lambda x: np.multiply(x, x, where=MASK, out=x * x),
    "where of lists": lambda x: np.where([True, False, True], x, x[0]),
    "insert at several places": lambda x: np.insert(x, [0, 1], x[:2], axis=0),
    "meshgrid of a list": lambda x: np.meshgrid([1.0, 2.0], x[0])[1],
}
"""Options with which the unit of a result is another one, or which may have a unit."""


@pytest.mark.parametrize("name", OPTIONS)
def test_the_unit_is_right_with_options(name: str) -> None:
    """The values scale as the unit says, as above."""
    assert_scales(*(OPTIONS[name](Quantity(X * scale, "m")) for scale in (1.0, 2.0)))


REFUSED: dict[str, Any] = {
    "prod of some": lambda x: np.prod(x, where=MASK),
    "nanprod of some": lambda x: np.nanprod(Quantity([1.0, np.nan], "m")),
    "qr": lambda x: np.linalg.qr(x, mode="raw"),
    "cov": lambda x: np.cov(x, y=Quantity(X, "s")),
    "diff": lambda x: np.diff(x, prepend=5.0),
    "ediff1d": lambda x: np.ediff1d(x, to_begin=5.0),
    "pad": lambda x: np.pad(x, 1, constant_values=5.0),
    "insert": lambda x: np.insert(x, 1, 5.0),
    "where of lists": lambda x: np.where([True, False, True], x, [1.0, 2.0, 3.0]),
    "concatenate": lambda x: np.concatenate([x[0], [1.0, 2.0]]),
    "where": lambda x: np.multiply(x, x, where=MASK, out=x),
}
"""Calls whose results have no single unit."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_result_without_a_single_unit_is_refused(name: str) -> None:
    """And the argument into which it would be written is as before."""
    length = Quantity(X.copy(), "m")
    with pytest.raises(UnitError):
        REFUSED[name](length)
    assert length.unit == Unit.parse("m")
    np.testing.assert_array_equal(length.values, X)


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.parametrize("name", CALLS)
def test_the_twin_does_the_same(name: str) -> None:
    """On JAX's arrays, by another description."""
    import jax

    if name == "unique_values":
        pytest.skip("its order is not said")
    wide = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with wide(True):
        twin, expected = called(name, JaxQuantity), called(name, Quantity)
        assert type(twin) is (JaxQuantity if type(expected) is Quantity else type(twin))
        assert getattr(twin, "unit", None) == getattr(expected, "unit", None)
        values, others = (getattr(each, "values", each) for each in (twin, expected))
        np.testing.assert_allclose(values, others, rtol=1e-9, atol=1e-9)
        if type(twin) is JaxQuantity:
            assert isinstance(twin.values, jax.Array)
