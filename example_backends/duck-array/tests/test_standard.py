"""The functions of the array API standard keep units."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from duck_array import JaxQuantity, Quantity, Unit

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


@pytest.mark.parametrize("name", CALLS)
def test_the_unit_is_kept(name: str) -> None:
    """And the values are NumPy's."""
    if IS_OLD and (name in NEWER or name.startswith("linalg.")):
        pytest.skip("NumPy got it later")
    function, power = CALLS[name]
    result = called(name, Quantity)
    expected = function(X, Y, X / Y)
    if power is None:
        values = getattr(result, "values", result)
        assert getattr(result, "unit", Unit()) in (Unit(), Unit.parse("m"))
    else:
        assert result.unit == Unit({"m": power})
        values = result.values
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted({*CALLS} - UNSCALED))
def test_the_unit_is_right(name: str) -> None:
    """The values scale as the unit says: in half metres they are twice as large, by its power."""
    if IS_OLD and (name in NEWER or name.startswith("linalg.")):
        pytest.skip("NumPy got it later")
    once, twice = called(name, Quantity), called(name, Quantity, 2.0)
    power = getattr(once, "unit", Unit()).powers.get("m", 0)
    values, scaled = (getattr(each, "values", each) for each in (once, twice))
    factor = 2.0 ** float(power) if power else 1
    np.testing.assert_allclose(scaled, values * factor if power else values, rtol=1e-9)


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
