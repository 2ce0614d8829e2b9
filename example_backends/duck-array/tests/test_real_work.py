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
    assert special.cbrt(lengths).unit == Unit.parse("m1/3")
    fft: Any = pytest.importorskip("scipy.fft")
    assert fft.fftshift(lengths).unit == Unit.parse("m")


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
        (lambda da, x: da.median(x, axis=0), "m"),
        (lambda da, x: da.where(x > x.mean(), x, x), "m"),
        (lambda da, x: da.roll(x, 1), "m"),
        (lambda da, x: x.map_overlap(lambda block: 2 * block, depth=1), "m"),
        (lambda da, x: x.map_blocks(lambda block: block**3), "m3"),
    ],
    ids=[
        *("sum", "mean", "max", "diff", "concatenate", "norm", "T", "divide", "squares", "median"),
        *("where", "roll", "overlap", "blocks"),
    ],
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


def test_a_quantity_beside_chunks_of_dask(lengths: Quantity) -> None:
    """Dask takes it once it knows the class."""
    da: Any = pytest.importorskip("dask.array")
    da.register_chunk_type(Quantity)
    meta, metre = Quantity(np.empty((0, 0)), "m"), Quantity(1.0, "m")
    chunked = da.from_array(lengths, chunks=(4, 4), asarray=False, meta=meta)
    assert (metre + chunked).compute(scheduler="sync").unit == Unit.parse("m")
    assert (chunked * metre).compute(scheduler="sync").unit == Unit.parse("m2")
    np.testing.assert_array_equal((chunked > metre).compute(scheduler="sync"), LENGTHS > 1.0)
    with pytest.raises(UnitError, match="does not go together"):
        (chunked + Quantity(1.0, "s")).compute(scheduler="sync")


REFUSED = {
    "scipy.ndimage": ["gaussian_filter", "sobel", "median_filter", "zoom", "fourier_gaussian"],
    "scipy.signal": ["detrend", "convolve", "medfilt", "hilbert", "resample"],
    "scipy.stats": ["zscore", "tmean", "iqr", "variation", "gmean", "rankdata"],
    "scipy.fft": ["fft", "dct", "fftn"],
    "scipy.linalg": ["norm", "inv", "svd", "expm"],
    "dask_image.ndfilters": ["gaussian_filter", "sobel", "median_filter", "threshold_local"],
    "dask_image.ndmeasure": ["mean", "maximum", "median", "variance", "center_of_mass"],
    "dask.array": ["std", "var", "cumsum", "unique"],
}
"""Functions that make arrays of their own, or mix their own numbers with those of a chunk."""
FURTHER: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["gaussian_filter", "fourier_gaussian", "convolve", "cumsum"], (1,)),
    **dict.fromkeys(["median_filter", "threshold_local", "zoom"], (3,)),
    "resample": (4,),
}


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in REFUSED.items() for name in names]
)
def test_no_function_loses_the_unit(lengths: Quantity, module: str, name: str) -> None:
    """A function that NumPy's protocol does not reach raises."""
    function = getattr(pytest.importorskip(module), name)
    given: Any = lengths
    if module.startswith("dask"):
        import dask.array as da

        meta = Quantity(np.empty((0, 0)), "m")
        given = da.from_array(lengths, chunks=(4, 4), asarray=False, meta=meta)

    def work() -> Any:
        return function(given, *FURTHER.get(name, ())).compute(scheduler="sync")

    with pytest.raises((TypeError, ValueError)):  # Dask's own errors are either
        work()


def test_what_would_lose_the_unit_is_refused(lengths: Quantity) -> None:
    """A function of SciPy that makes a NumPy array first."""
    integrate: Any = pytest.importorskip("scipy.integrate")
    with pytest.raises(UnitError, match="would lose its unit"):
        integrate.trapezoid(lengths[0], lengths[1])
    assert np.trapezoid(lengths[0], lengths[1]).unit == Unit.parse("m2")
