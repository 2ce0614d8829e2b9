"""The smallest backend for a type, used as a reader would try it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.ndimage
import scipy.signal

from minimal_type import Quantity
from scipy_dispatch import backend_opts, fft, ndimage, signal, system
from spatch_core import NoImplementationError

NUMBERS = np.arange(12.0).reshape(3, 4)


def test_the_native_function_keeps_the_unit() -> None:
    """Without any policy: the backend implements it."""
    smooth = ndimage.gaussian_filter(Quantity(NUMBERS, "m"), 1, mode="nearest")
    assert smooth.unit == "m"
    np.testing.assert_array_equal(
        smooth.values, scipy.ndimage.gaussian_filter(NUMBERS, 1, mode="nearest")
    )


@pytest.mark.parametrize(
    ("function", "default"),
    [
        (fft.fft, scipy.fft.fft),
        (fft.rfft, scipy.fft.rfft),
        (ndimage.sobel, scipy.ndimage.sobel),
        (ndimage.laplace, scipy.ndimage.laplace),
        (signal.detrend, scipy.signal.detrend),
    ],
)
def test_every_other_function_works_through_conversions(function: Any, default: Any) -> None:
    """The result is SciPy's, as a quantity; the trace shows what was converted."""
    with backend_opts(fallback="convert", trace=True) as trace:
        result = function(Quantity(NUMBERS))
    assert (type(result), result.unit) == (Quantity, "1")
    np.testing.assert_array_equal(result.values, default(NUMBERS))
    assert "minimal_type:Quantity to numpy:ndarray, 96 bytes" in str(trace)


def test_several_arguments_and_results_are_converted() -> None:
    """Numbers of Python's own stay what they are, and arrays beside quantities."""
    with backend_opts(fallback="convert"):
        labels, count = ndimage.label(Quantity(NUMBERS > 5))
        both = signal.convolve(Quantity(NUMBERS), NUMBERS)
    assert (type(labels), count) == (Quantity, 1)
    np.testing.assert_array_equal(both.values, scipy.signal.convolve(NUMBERS, NUMBERS))


def test_what_would_lose_the_unit_is_refused_with_every_reason() -> None:
    """Of every backend that was considered, and with what would help."""
    with backend_opts(fallback="convert"), pytest.raises(NoImplementationError) as caught:
        fft.fft(Quantity(NUMBERS, "m"))
    text = str(caught.value)
    assert "units cannot convert: to_default returned None for minimal_type:Quantity" in text
    assert {each.backend for each in caught.value.backends} == {*system.backends} - {"default"}
    assert "fallback='default'" in text  # what would help


def test_nothing_is_converted_unasked() -> None:
    """Under the policy of the library SciPy gets the object, and says what it thinks of it."""
    with pytest.raises(TypeError):
        fft.fft(Quantity(NUMBERS))
