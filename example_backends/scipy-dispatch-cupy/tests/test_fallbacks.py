"""Fallback policies: every function of `scipy_dispatch` with CuPy arrays.

On a GPU, on the emulator (``--emulate``), and in `test_plumbing.py` with the stand-in.
"""

from __future__ import annotations

import doctest
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calls import kind_of
from comparison import compare, on_device, on_host
from scipy_functions import FUNCTIONS, Function
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage
from scipy_dispatch.testing import quietly
from scipy_dispatch.testing._samples import IMAGE
from scipy_dispatch_cupy._map import FUNCTIONS as OF_CUPY
from spatch_core import FallbackWarning, NoImplementationError

pytestmark = pytest.mark.gpu

MISSING = [
    *(function for function in FUNCTIONS if function.name not in OF_CUPY[function.module]),
    Function("signal", "hilbert2"),
    Function("signal", "lfilter_zi"),
    Function("ndimage", "generic_filter"),
]
"""Functions that CuPy does not have, and some that are left out or refuse the sample call."""
WRITTEN = ["rotate", "vectorized_filter", "watershed_ift", "generic_filter"]


def plain(value: Any) -> Any:
    """Return arrays for the objects of SciPy's own classes, and numbers as arrays."""
    if type(value).__module__.startswith("scipy."):
        value = dict(value if isinstance(value, dict) else vars(value))
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if getattr(value, "dtype", None) == np.object_:
        return [plain(each) for each in value]
    return np.asarray(on_host(value)) if hasattr(value, "dtype") else value


def is_on_host(value: Any) -> bool:
    """Return whether an array of NumPy is in a result."""
    if type(value).__module__.startswith("scipy."):
        value = dict(value if isinstance(value, dict) else vars(value))
    if isinstance(value, dict):
        return any(map(is_on_host, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(is_on_host, value))
    return isinstance(value, (np.ndarray, np.generic))


def assert_equal(result: Any, expected: Any) -> None:
    assert type(result) is type(expected)
    if isinstance(expected, dict):
        assert result.keys() == expected.keys()
        result, expected = list(result.values()), list(expected.values())
    if isinstance(expected, list):
        assert len(result) == len(expected)
        for each, other in zip(result, expected, strict=True):
            assert_equal(each, other)
    elif isinstance(expected, np.ndarray):
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)
    else:
        assert result == expected


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_convert_makes_every_function_work(function: Function) -> None:
    """CuPy arrays come back, with SciPy's values: the same bits, if they were converted."""
    args, kwargs = function.call.fresh()
    given = on_device(args), on_device(kwargs)
    expected = quietly(function.default, *args, **kwargs)
    with backend_opts(fallback="convert", trace=True) as trace:
        result = quietly(function.dispatchable, *given[0], **given[1])
    if any(event.outcome == "converted" for event in trace):
        assert not is_on_host(result)
        assert_equal(plain(result), plain(expected))
    else:
        assert function not in MISSING
        name = f"{function.module}.{function.name}"
        compare(name, kind_in_table(name), on_host(result), expected)


def kind_in_table(name: str) -> str:
    """Return the kind of the sample calls' arrays: most are of double precision."""
    kinds = TOLERANCES[name]
    return kind_of("float64") if kind_of("float64") in kinds else next(iter(kinds))


@pytest.mark.parametrize("function", MISSING, ids=str)
def test_raise_tells_at_once_what_would_be_copied(function: Function) -> None:
    args, kwargs = map(on_device, function.call.fresh())
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as caught:
        function.dispatchable(*args, **kwargs)
    remedy, _ = caught.value.remedies
    assert remedy.startswith("with backend_opts(fallback='convert'), cupy converts ")
    assert any(each.backend == "cupy" for each in caught.value.backends)


def test_a_refusal_has_the_bytes_and_cupys_reason() -> None:
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as caught:
        ndimage.sobel(on_device(IMAGE), mode=["wrap", "reflect"])
    assert "cupy defers: CuPy mixes up the modes if there is one for each axis" in str(caught.value)
    assert " (336 bytes), and the library's own implementation runs" in str(caught.value)


@pytest.mark.parametrize("name", WRITTEN)
def test_output_is_filled_in_place(name: str) -> None:
    function = Function("ndimage", name)
    if name not in ndimage.__all__:
        pytest.skip("SciPy does not have it")
    args, kwargs = function.call.fresh()
    filled = np.zeros_like(function.default(*args, **kwargs))
    output = on_device(filled)
    expected = function.default(*args, **kwargs, output=filled)
    with backend_opts(fallback="convert"):
        result = function.dispatchable(*on_device(args), **on_device(kwargs), output=output)
    assert (result is output) is (expected is filled)
    if name != "rotate":  # CuPy's own
        np.testing.assert_array_equal(on_host(output), expected)


def test_an_exception_says_why_scipy_got_a_cupy_array() -> None:
    """In the policy "default"; CuPy's own text is in the exception."""
    with pytest.raises(TypeError, match="Implicit conversion to a NumPy array") as caught:
        ndimage.sobel(on_device(IMAGE), mode=["wrap", "reflect"])
    if sys.version_info >= (3, 11):
        (note,) = caught.value.__notes__
        assert "cupy defers: CuPy mixes up the modes if there is one for each axis" in note


def test_warn_says_what_it_costs() -> None:
    with (
        backend_opts(fallback="warn"),
        pytest.warns(FallbackWarning, match=r"\(336 bytes\)"),
        pytest.raises(TypeError),
    ):
        ndimage.sobel(on_device(IMAGE), mode=["wrap", "reflect"])


def test_the_readme_is_true() -> None:
    import cupy

    readme = Path(__file__).parents[1] / "README.md"
    section = readme.read_text(encoding="utf-8").partition("### What CuPy does not have")[2]
    text = section.partition("\n## ")[0]
    names = {"cupy": cupy, "ndimage": ndimage}
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, names, readme.name, str(readme), 0))
    assert runner.tries > 4
    assert not runner.failures
