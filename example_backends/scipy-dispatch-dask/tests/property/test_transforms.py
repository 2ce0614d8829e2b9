"""Transforms: data types, shapes and norms equal SciPy's; the last bits may differ.

The algorithm is the same, but SciPy processes several lines at once with vector instructions,
which may round differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from comparison import FLOATS, axes_of, check, dask_arrays
from hypothesis import given
from hypothesis import strategies as st

ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
COSINES = ("dct", "idct", "dst", "idst")

norms = st.sampled_from((None, "backward", "ortho", "forward"))
dtypes = (np.uint8, np.int64, *FLOATS, np.complex64, np.complex128)


@pytest.mark.parametrize("name", ONE_AXIS)
@given(data=st.data())
def test_along_one_axis(name: str, data: Any) -> None:
    """Errors also equal SciPy's: for real transforms of complex numbers, and for empty results."""
    x, lazy = data.draw(dask_arrays(dtypes))
    check(
        f"fft.{name}",
        x,
        lazy,
        n=data.draw(st.none() | st.integers(1, 17)),
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        norm=data.draw(norms),
        workers=data.draw(st.none() | st.just(2)),
    )


@pytest.mark.parametrize("name", [f"{name}{suffix}" for name in ONE_AXIS for suffix in "2n"])
@given(data=st.data())
def test_along_several_axes(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays(dtypes, min_dims=2, min_side=2, max_side=9))
    axes, count = axes_of(data.draw, f"fft.{name}", x.ndim)
    if name.endswith("2") and not axes:
        count = 2
    lengths = st.lists(st.integers(2, 12) | st.just(-1), min_size=count, max_size=count)
    check(
        f"fft.{name}",
        x,
        lazy,
        s=data.draw(st.none() | lengths),
        **axes,
        norm=data.draw(norms),
    )


@pytest.mark.parametrize("name", COSINES)
@given(data=st.data())
def test_cosines_and_sines(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays(dtypes, min_side=2))
    check(
        f"fft.{name}",
        x,
        lazy,
        type=data.draw(st.integers(1, 4)),
        n=data.draw(st.none() | st.integers(2, 17)),
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        norm=data.draw(norms),
        orthogonalize=data.draw(st.none() | st.booleans()),
    )


@pytest.mark.parametrize("name", [f"{name}n" for name in COSINES])
@given(data=st.data())
def test_cosines_and_sines_along_several_axes(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays(dtypes, min_side=2, max_side=9))
    axes, count = axes_of(data.draw, f"fft.{name}", x.ndim)
    lengths = st.lists(st.integers(2, 12), min_size=count, max_size=count)
    check(
        f"fft.{name}",
        x,
        lazy,
        type=data.draw(st.integers(1, 4)),
        s=data.draw(st.none() | lengths),
        **axes,
        norm=data.draw(norms),
        orthogonalize=data.draw(st.none() | st.booleans()),
    )


@pytest.mark.parametrize("name", ["fht", "ifht"])
@given(data=st.data())
def test_hankel_transforms(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays(FLOATS, min_side=2))
    check(f"fft.{name}", x, lazy, 0.1, 0.5, offset=0.2)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@given(data=st.data())
def test_shifts(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays(dtypes))
    axes, _ = axes_of(data.draw, f"fft.{name}", x.ndim)
    check(f"fft.{name}", x, lazy, **axes)
    check(f"fft.{name}", x, lazy, data.draw(st.integers(-x.ndim, x.ndim - 1)))
