"""Functions of SciPy and Dask that know nothing of units, and call NumPy's on what they get."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duck_array import Quantity, Unit, UnitError

LENGTHS = np.random.default_rng(7).random((8, 8)) + 1.0


@pytest.fixture
def lengths() -> Quantity:
    """Return lengths in metres."""
    return Quantity(LENGTHS, "m")


def test_special_functions_of_scipy(lengths: Quantity) -> None:
    """They are ufuncs, and take pure numbers."""
    special: Any = pytest.importorskip("scipy.special")
    result = special.expit(lengths / Quantity(2.0, "m"))
    assert result.unit == Unit()
    np.testing.assert_array_equal(result.values, special.expit(LENGTHS / 2.0))
    assert special.rel_entr(lengths, lengths).unit == Unit()
    with pytest.raises(UnitError, match="m is not the unit of a pure number"):
        special.expit(lengths)


def test_a_pulse_of_scipy() -> None:
    """`scipy.signal.gausspulse` is Python code, which calls NumPy's functions."""
    signal: Any = pytest.importorskip("scipy.signal")
    times, second = np.linspace(-1.0, 1.0, 9), Quantity(1.0, "s")
    pulse = signal.gausspulse(Quantity(times, "s") / second, fc=5)
    assert pulse.unit == Unit()
    np.testing.assert_allclose(pulse.values, signal.gausspulse(times, fc=5))


@pytest.mark.parametrize(
    ("work", "unit"),
    [
        (lambda da, x: x.sum(), "m"),
        (lambda da, x: x.mean(axis=0), "m"),
        (lambda da, x: x.max(), "m"),
        (lambda da, x: da.diff(x), "m"),
        (lambda da, x: da.concatenate([x, x]), "m"),
        (lambda da, x: da.linalg.norm(x), "m"),
        (lambda da, x: x.T, "m"),
        (lambda da, x: x / x, ""),
        (lambda da, x: (x * x).sum(axis=0), "m2"),
        (lambda da, x: x.map_blocks(lambda block: block**3), "m3"),
    ],
    ids=["sum", "mean", "max", "diff", "concatenate", "norm", "T", "divide", "squares", "blocks"],
)
def test_chunks_of_dask(lengths: Quantity, work: Any, unit: str) -> None:
    """A Dask array of quantities keeps the unit of its chunks, and of its meta."""
    da: Any = pytest.importorskip("dask.array")
    meta = Quantity(np.empty((0, 0)), "m")
    chunked = da.from_array(lengths, chunks=(4, 4), asarray=False, meta=meta)
    result = work(da, chunked).compute(scheduler="sync")
    assert result.unit == Unit.parse(unit)
    expected = work(da, da.from_array(LENGTHS, chunks=(4, 4))).compute(scheduler="sync")
    np.testing.assert_allclose(result.values, expected)


def test_what_would_lose_the_unit_is_refused(lengths: Quantity) -> None:
    """A function of SciPy that makes a NumPy array first."""
    integrate: Any = pytest.importorskip("scipy.integrate")
    with pytest.raises(UnitError, match="would lose its unit"):
        integrate.trapezoid(lengths[0], lengths[1])
    assert np.trapezoid(lengths[0], lengths[1]).unit == Unit.parse("m2")
