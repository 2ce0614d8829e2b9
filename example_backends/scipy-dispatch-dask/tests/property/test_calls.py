"""Calls with random arguments: SciPy's result or error, for any array, cut in any way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import (
    FLOATS,
    GRID_MODES,
    INTEGERS,
    MODES,
    axes_of,
    check,
    chunked,
    dask_arrays,
    per_axis,
)
from hypothesis import given
from hypothesis import strategies as st
from samples import SERVED

from scipy_dispatch.testing.strategies import FUNCTIONS, calls

Strategy = st.SearchStrategy[Any]
COMPLEX = (np.complex64, np.complex128)
ALL = (np.uint8, np.int64, *FLOATS, *COMPLEX)

modes = st.sampled_from((*MODES, *GRID_MODES))
outputs = st.sampled_from((None, np.float64, np.float32, "int32", np.dtype("int16")))
norms = st.sampled_from((None, "backward", "ortho", "forward"))
odd = st.sampled_from((1, 3, 5, 7))
# Sums of floats depend on where a line begins; see FAR.
WHOLE = ("uniform_filter", "uniform_filter1d")


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_a_call_of_an_image_function(name: str, data: Any) -> None:
    """Data types, axes, modes, windows, origins, masks and outputs; for a NaN see test_filters."""
    dtypes = ["uint8", "int16", "int64"] if name in WHOLE else None
    (x,), arguments = data.draw(calls(name, dtypes, finite=True))
    lazy = da.from_array(x, chunks=data.draw(chunked(x.shape)))
    reason = check(f"ndimage.{name}", x, lazy, may_defer=True, **arguments)
    assert reason is None or "output= is an array" in reason or "every rounding error" in reason


def along(ndim: int, count: int) -> Strategy:
    return st.integers(-ndim, ndim - 1)


def lengths(least: int, *others: int) -> Callable[[int, int], Strategy]:
    some = st.integers(least, 12) | st.sampled_from(others or (least,))
    return lambda ndim, count: st.none() | st.lists(some, min_size=count, max_size=count)


def sizes(largest: int) -> Callable[[int, int], Strategy]:
    return lambda ndim, count: per_axis(st.integers(1, largest), count)


def second_largest(window: np.ndarray, offset: int = 0) -> float:
    return float(np.sort(window)[-2:][0]) + offset


def spread(windows: np.ndarray, axis: Any) -> Any:
    return np.max(windows, axis=axis) - np.mean(windows, axis=axis)


def running_total(line: np.ndarray, out: np.ndarray) -> None:
    out[...] = np.cumsum(line)[: len(out)]


# Values far from 0, so that no mean is much smaller than its terms.
FAR: dict[str, Any] = {"dtypes": (*FLOATS, np.complex64), "offset": 500}

# The functions, their arrays, and the arguments. An argument is a strategy, or a function of the
# number of dimensions and of the number of ``axes`` that returns one.
CATALOGUE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "uniform_filter",
        FAR,
        {"size": sizes(6), "mode": lambda ndim, count: per_axis(modes, count)},
    ),
    (
        "generic_filter",
        {"max_dims": 2, "max_side": 7},
        {
            "function": st.just(second_largest),
            "size": sizes(3),
            "mode": modes,
            "extra_arguments": st.just((1,)),
            "output": outputs,
        },
    ),
    (
        "vectorized_filter",
        {"dtypes": (np.float64,), "max_dims": 2},
        {"function": st.just(spread), "size": sizes(6), "mode": modes},
    ),
    # The result may depend on the whole line.
    (
        "generic_filter1d",
        {"dtypes": INTEGERS, "max_dims": 2},
        {
            "function": st.just(running_total),
            "filter_size": st.integers(1, 4),
            "axis": along,
            "mode": modes,
            "output": st.just(np.float64),
        },
    ),
    (
        "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft",
        {"dtypes": ALL},
        {
            "n": st.none() | st.integers(1, 17),
            "axis": along,
            "norm": norms,
            "workers": st.sampled_from((None, 2)),
        },
    ),
    (
        " ".join(
            f"fft.{i}{kind}fft{d}" for i in ("", "i") for kind in ("", "r", "h") for d in "2n"
        ),
        {"dtypes": ALL, "min_dims": 2, "min_side": 2, "max_side": 9},
        {"s": lengths(2, -1), "norm": norms},
    ),
    (
        "fft.dct fft.idct fft.dst fft.idst",
        {"dtypes": ALL, "min_side": 2},
        {
            "type": st.integers(1, 4),
            "n": st.none() | st.integers(2, 17),
            "axis": along,
            "norm": norms,
            "orthogonalize": st.none() | st.booleans(),
        },
    ),
    (
        "fft.dctn fft.idctn fft.dstn fft.idstn",
        {"dtypes": ALL, "min_side": 2, "max_side": 9},
        {
            "type": st.integers(1, 4),
            "s": lengths(2),
            "norm": norms,
            "orthogonalize": st.none() | st.booleans(),
        },
    ),
    (
        "fft.fht fft.ifht",
        {"dtypes": FLOATS, "min_side": 2},
        {"dln": st.just(0.1), "mu": st.just(0.5), "offset": st.just(0.2)},
    ),
    ("fft.fftshift fft.ifftshift", {"dtypes": ALL}, {}),
    (
        "signal.medfilt",
        {"dtypes": (np.uint8, np.int64, *FLOATS), "min_dims": 2},
        {"kernel_size": lambda ndim, count: st.none() | per_axis(odd, ndim)},
    ),
    (
        "signal.medfilt2d",
        {"dtypes": (np.uint8, np.int64, *FLOATS), "min_dims": 2, "max_dims": 2},
        {"kernel_size": lambda ndim, count: st.none() | per_axis(odd, ndim)},
    ),
    (
        "signal.hilbert2",
        {"dtypes": FLOATS, "min_dims": 2},
        {
            "N": st.sampled_from((None, 8, (5, 9))),
            "axes": lambda ndim, count: st.permutations(range(ndim)).map(lambda axes: axes[:2]),
        },
    ),
    (
        "signal.chirp",
        {"dtypes": (np.float64,)},
        {"f0": st.just(1), "t1": st.just(10), "f1": st.just(3)},
    ),
    ("signal.gausspulse", {"dtypes": (np.float64,)}, {"fc": st.just(5)}),
    ("signal.sawtooth", {"dtypes": (np.float64,)}, {"width": st.just(0.5)}),
    ("signal.square", {"dtypes": (np.float64,)}, {"duty": st.just(0.3)}),
    ("signal.gauss_spline", {"dtypes": (np.float64,)}, {"n": st.just(3)}),
]
CALLS = [
    pytest.param(name if "." in name else f"ndimage.{name}", arrays, arguments, id=name)
    for names, arrays, arguments in CATALOGUE
    for name in names.split()
]


@pytest.mark.filterwarnings("ignore:kernel_size exceeds volume extent")
@pytest.mark.parametrize(("name", "arrays", "arguments"), CALLS)
@given(data=st.data())
def test_a_call(name: str, arrays: Any, arguments: Any, data: Any) -> None:
    """The arrays have any shape, and are cut in any way."""
    if name not in SERVED:
        pytest.skip("not in this SciPy")
    x, lazy = data.draw(dask_arrays(**arrays))
    given: dict[str, Any] = {}
    count = x.ndim
    if "axes" not in arguments:
        given, count = axes_of(data.draw, name, x.ndim)
    if name in ("fft.fftshift", "fft.ifftshift") and data.draw(st.booleans()):
        given = {"axes": data.draw(along(x.ndim, 1))}
    if name.startswith("fft.") and name.endswith("2") and not given:
        count = 2
    for key, strategy in arguments.items():
        if not isinstance(strategy, st.SearchStrategy):
            strategy = strategy(x.ndim, count)
        given[key] = data.draw(strategy)
    check(name, x, lazy, **given)
