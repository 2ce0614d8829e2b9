"""Calls with drawn arguments of functions that need nothing more: SciPy's result or error.

A catalogue: the functions, their arrays, and the arguments. An argument is a strategy, or a
function of the number of dimensions and of the number of ``axes`` that returns one. What a strategy
without a name draws is several arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from comparison import (
    FLOATS,
    GRID_MODES,
    INTEGERS,
    MODES,
    axes_of,
    check,
    dask_arrays,
    per_axis,
)
from hypothesis import given
from hypothesis import strategies as st
from sample_calls import present

Strategy = st.SearchStrategy[Any]
LARGEST = 6
COMPLEX = (np.complex64, np.complex128)
ALL = (np.uint8, np.int64, *FLOATS, *COMPLEX)
PLANES = {"min_dims": 2, "max_dims": 2}

modes = st.sampled_from((*MODES, *GRID_MODES))
cvals = st.sampled_from((0.0, 2.5, -3.0))
outputs = st.sampled_from((None, np.float64, np.float32, "int32", np.dtype("int16")))
norms = st.sampled_from((None, "backward", "ortho", "forward"))
odd = st.sampled_from((1, 3, 5, 7))


def along(ndim: int, count: int) -> Strategy:
    return st.integers(-ndim, ndim - 1)


def each(values: Strategy) -> Callable[[int, int], Strategy]:
    return lambda ndim, count: per_axis(values, count)


def lengths(least: int, *others: int) -> Callable[[int, int], Strategy]:
    some = st.integers(least, 12) | st.sampled_from(others or (least,))
    return lambda ndim, count: st.none() | st.lists(some, min_size=count, max_size=count)


def origins(sides: list[int], reflected: bool = False) -> Strategy:
    return st.tuples(
        *(st.integers(-((side - reflected) // 2), (side - 1) // 2) for side in sides)
    ).map(list)


def a_size(largest: int) -> Callable[[int, int], Strategy]:
    """Sizes and origins, for all axes or for each axis."""
    return lambda ndim, count: per_axis(st.integers(1, largest), count).flatmap(
        lambda size: st.fixed_dictionaries(
            {
                "size": st.just(size),
                "origin": origins(size if isinstance(size, list) else [size] * count),
            }
        )
    )


def one_size(ndim: int, count: int) -> Strategy:
    return st.integers(1, 9).flatmap(
        lambda size: st.fixed_dictionaries(
            {"size": st.just(size), "origin": st.integers(-(size // 2), (size - 1) // 2)}
        )
    )


def an_array(name: str, make: Callable[[Any, list[int]], Any], largest: int) -> Any:
    """An argument that is an array, and its origin."""

    def drawn(ndim: int, count: int) -> Strategy:
        sides = st.lists(st.integers(1, largest), min_size=count, max_size=count)
        return st.tuples(sides, st.integers(0, 999)).flatmap(
            lambda pair: st.fixed_dictionaries(
                {
                    name: st.just(make(np.random.default_rng(pair[1]), pair[0])),
                    "origin": origins(pair[0], reflected=name == "weights"),
                }
            )
        )

    return drawn


def a_footprint(random: Any, sides: list[int]) -> Any:
    footprint = random.random(sides) > 0.3
    footprint.flat[0] = True
    return footprint


def real_or_complex(random: Any, sides: list[int]) -> Any:
    return random.normal(size=sides) + (
        1j * random.normal(size=sides) if random.random() > 0.5 else 0
    )


def line_weights(ndim: int, count: int) -> Strategy:
    def with_origin(weights: list[int]) -> Strategy:
        half = (len(weights) - 1) // 2
        return st.fixed_dictionaries(
            {"weights": st.just(weights), "origin": st.integers(-half, half)}
        )

    return st.lists(st.integers(-3, 3), min_size=1, max_size=9).flatmap(with_origin)


def second_largest(window: np.ndarray, offset: int = 0) -> float:
    return float(np.sort(window)[-2:][0]) + offset


def spread(windows: np.ndarray, axis: Any) -> Any:
    return np.max(windows, axis=axis) - np.mean(windows, axis=axis)


def running_total(line: np.ndarray, out: np.ndarray) -> None:
    out[...] = np.cumsum(line)[: len(out)]


RANKS: dict[str, dict[str, Any]] = {
    "median_filter": {},
    "rank_filter": {"rank": st.sampled_from((-1, 0))},
    "percentile_filter": {"percentile": st.just(30)},
}
EXTREMES = "minimum_filter maximum_filter"
BORDER = {"mode": modes, "cval": cvals}
BORDERS = {"mode": each(modes), "cval": cvals}
WINDOW = {"": a_size(LARGEST), **BORDERS}
FOOTPRINT = {"": an_array("footprint", a_footprint, 4), **BORDER}
SMOOTH = {"order": st.integers(0, 3), "truncate": st.floats(0.5, 5)}
# Values far from 0, so that no mean is much smaller than its terms.
FAR: dict[str, Any] = {"dtypes": (*FLOATS, np.complex64), "offset": 500}

CATALOGUE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (EXTREMES, {}, {**WINDOW, "output": outputs}),
    (EXTREMES, {"min_dims": 2}, FOOTPRINT),
    # SciPy 1.18 accesses memory out of bounds in one dimension: it reads beyond a line shorter
    # than the window, and writes values that are too large for another data type.
    *(
        (name, {"min_dims": 2}, {**WINDOW, **more, "output": outputs})
        for name, more in RANKS.items()
    ),
    *((name, {"min_dims": 2}, {**FOOTPRINT, **more}) for name, more in RANKS.items()),
    *(
        (name, {"max_dims": 1, "min_side": LARGEST + 1}, {**WINDOW, **more})
        for name, more in RANKS.items()
    ),
    (
        "minimum_filter1d maximum_filter1d",
        {},
        {"": one_size, "axis": along, **BORDER, "output": outputs},
    ),
    (
        "correlate convolve",
        {"dtypes": (*INTEGERS, *FLOATS, np.complex64)},
        {"": an_array("weights", real_or_complex, 5), **BORDER},
    ),
    (
        "correlate1d convolve1d",
        {},
        {"": line_weights, "axis": along, **BORDER, "output": outputs},
    ),
    (
        "gaussian_filter",
        {"dtypes": (*INTEGERS, *FLOATS, np.complex128)},
        {
            "sigma": each(st.floats(0.1, 2.5)),
            **BORDERS,
            **SMOOTH,
            "order": each(st.integers(0, 3)),
            "radius": lambda ndim, count: st.none() | per_axis(st.integers(0, 4), count),
        },
    ),
    (
        "gaussian_filter1d",
        {},
        {
            "sigma": st.floats(0.1, 3),
            "axis": along,
            **BORDER,
            **SMOOTH,
            "radius": st.none() | st.integers(0, 4),
        },
    ),
    (
        "gaussian_laplace gaussian_gradient_magnitude",
        {"max_side": 9},
        {"sigma": st.floats(0.3, 1.5), **BORDERS, "truncate": st.floats(1, 4)},
    ),
    (
        "sobel prewitt",
        {},
        {
            "axis": along,
            "mode": lambda ndim, count: per_axis(modes, ndim),
            "cval": cvals,
            "output": outputs,
        },
    ),
    ("laplace", {"dtypes": (*INTEGERS, *FLOATS)}, {"mode": each(modes), "output": outputs}),
    # Sums of integers are exact wherever they start; the rounding of floats depends on it.
    ("uniform_filter", {"dtypes": INTEGERS}, {"": a_size(LARGEST), "mode": each(modes)}),
    ("uniform_filter", FAR, {"": a_size(LARGEST), "mode": each(modes)}),
    (
        "uniform_filter1d",
        {"dtypes": INTEGERS},
        {"": one_size, "axis": along, "mode": modes, "cval": st.integers(-3, 3)},
    ),
    (
        "generic_filter",
        {"max_dims": 2, "max_side": 7},
        {
            "function": st.just(second_largest),
            "": a_size(3),
            "mode": modes,
            "extra_arguments": st.just((1,)),
            "output": outputs,
        },
    ),
    (
        "vectorized_filter",
        {"dtypes": (np.float64,), "max_dims": 2},
        {"function": st.just(spread), "": a_size(LARGEST), "mode": modes},
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
        {"dtypes": (np.uint8, np.int64, *FLOATS), **PLANES},
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
    if not present(name):
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
        drawn = data.draw(strategy)
        given.update({key: drawn} if key else drawn)
    check(name, x, lazy, **given)
