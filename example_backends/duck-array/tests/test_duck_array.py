"""Arrays with units, used as a reader would try them."""

from __future__ import annotations

import doctest
import importlib.util
from typing import Any

import numpy as np
import pytest

import duck_array.units
from duck_array import JaxQuantity, Quantity, Unit, UnitError, backend_opts, system
from spatch_core import NoImplementationError

HAS_JAX = importlib.util.find_spec("jax") is not None


def test_units_are_written_as_they_are_read() -> None:
    """Products of powers, in the order of names."""
    for text in ("m", "m s-2", "kg m2 s-3", "m1/2"):
        assert str(Unit.parse(text)) == text
        assert eval(repr(Unit.parse(text))) == Unit.parse(text)  # noqa: S307
    assert str(Unit.parse("s-2 m m")) == "m2 s-2"
    assert str(Unit()) == "1"
    assert hash(Unit.parse("m s")) == hash(Unit.parse("s m"))
    with pytest.raises(ValueError, match="is written like"):
        Unit.parse("m/s")
    assert doctest.testmod(duck_array.units).failed == 0


def test_units_that_do_not_go_together() -> None:
    """Whatever the function, and whatever the order of the arguments."""
    length, time = Quantity([1.0, 2.0], "m"), Quantity([1.0, 2.0], "s")
    calls: list[Any] = [
        lambda: length + time,
        lambda: 1.0 + length,
        lambda: np.concatenate([length, time]),
        lambda: np.where([True, False], length, 0.0),
        lambda: length < time,
        lambda: np.exp(length),
        lambda: 2.0**length,
        lambda: length**time,
        lambda: np.sum(length, initial=3.0),
        lambda: np.array(length),
    ]
    for call in calls:
        with pytest.raises(UnitError):
            call()


def test_results_are_written_into_arrays() -> None:
    """`out=` gets the unit; an array without one takes pure numbers alone."""
    length, out = Quantity([1.0, 2.0], "m"), Quantity(np.zeros(2), "s")
    assert np.multiply(length, length, out=out) is out
    assert (out.unit, out.values.tolist()) == (Unit.parse("m2"), [1.0, 4.0])
    total = Quantity(np.zeros(()), "")
    assert np.mean(length, out=total) is total
    assert total.unit == Unit.parse("m")
    kept = length
    length += length
    assert length is kept
    assert length.values.tolist() == [2.0, 4.0]
    np.add.at(length, [0], Quantity(1.0, "m"))
    assert length.values.tolist() == [3.0, 4.0]
    with pytest.raises(UnitError, match="without a unit"):
        np.add(length, length, out=np.zeros(2))
    length[0] = Quantity(7.0, "m")
    with pytest.raises(UnitError, match="s is not m"):
        length[0] = Quantity(7.0, "s")
    assert length.values.tolist() == [7.0, 4.0]


def test_a_failure_changes_no_unit() -> None:
    """Neither one of shapes nor one of data types."""
    length, whole = Quantity([1.0, 2.0, 3.0], "m"), Quantity([1, 2, 3], "m")
    with pytest.raises(ValueError, match="broadcast"):
        length *= Quantity([1.0, 2.0], "s")
    with pytest.raises(TypeError, match="Cannot cast"):
        whole /= Quantity(2, "s")
    assert length.unit == whole.unit == Unit.parse("m")


def test_a_function_without_a_rule_is_refused() -> None:
    """With the reasons, and never by NumPy's own implementation, which would lose the unit."""
    with pytest.raises(NoImplementationError, match="numpy:unwrap cannot be called"):
        np.unwrap(Quantity([1.0], "m"))


def test_another_backend_adds_functions() -> None:
    """Nothing of the class, of this package or of NumPy changes."""
    system.register(
        {
            "name": "more",
            "primary_types": ["duck_array:Quantity"],
            "functions": {
                "numpy:unwrap": {"function": lambda p: Quantity(np.unwrap(p.values), p.unit)}
            },
        }
    )
    try:
        assert np.unwrap(Quantity([0.0, 7.0], "m")).unit == Unit.parse("m")
        with backend_opts(disable="more"), pytest.raises(NoImplementationError, match="disabled"):
            np.unwrap(Quantity([0.0, 7.0], "m"))
    finally:
        system.unregister("more")


@pytest.mark.skipif(not HAS_JAX, reason="JAX is not installed")
def test_the_twin_runs_on_jax() -> None:
    """Its backend is the other one; quantities on NumPy's arrays go together with it."""
    import jax

    twin, length = JaxQuantity([1.0, 2.0], "m"), Quantity([1.0, 2.0], "m")
    for result in (np.mean(twin), twin + length, length * twin, np.concatenate([length, twin])):
        assert type(result) is JaxQuantity
        assert isinstance(result.values, jax.Array)
    with backend_opts(trace=True) as trace:
        np.mean(twin)
        np.mean(length)
    assert [event.backend for event in trace] == ["units-jax", "units"]
    with pytest.raises(NoImplementationError):
        np.add(twin, twin, out=twin)  # JAX's arrays cannot be written into
