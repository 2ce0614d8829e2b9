"""Fallback policies: every function of `scipy_dispatch` with JAX arrays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy_functions import FUNCTIONS, Function
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage, signal
from scipy_dispatch.conversions import from_scipy
from scipy_dispatch_jax._conversion import from_default
from spatch_core import FallbackWarning, NoImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable

J = jnp.arange(42.0, dtype=jnp.float32).reshape(6, 7) % 5
MISSING = [
    function for function in FUNCTIONS if f"{function.module}.{function.name}" not in TOLERANCES
]


def mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the value with other arrays, also inside of lists, tuples and dictionaries."""
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(each, convert) for each in value)
    if type(value) is dict:
        return {key: mapped(each, convert) for key, each in value.items()}
    return convert(value)


def in_jax(value: Any) -> Any:
    return mapped(value, lambda each: jnp.asarray(each) if isinstance(each, np.ndarray) else each)


def in_numpy(value: Any) -> Any:
    return mapped(value, lambda each: np.array(each) if isinstance(each, jax.Array) else each)


def attributes(value: Any) -> Any:
    """Return the attributes of objects of SciPy's own classes, and other values as they are."""
    is_own = type(value).__module__.startswith("scipy.")
    return dict(value) if is_own and isinstance(value, dict) else vars(value) if is_own else value


def assert_same(result: Any, expected: Any, rtol: float) -> None:
    """Compare the types of all parts, and the values with SciPy's as JAX has them."""
    result, expected = attributes(result), attributes(expected)
    if isinstance(expected, (tuple, list)):
        assert type(result) is type(expected)
        assert len(result) == len(expected)
        for each, other in zip(result, expected, strict=True):
            assert_same(each, other, rtol)
    elif isinstance(expected, dict):
        assert result.keys() == expected.keys()
        for key in expected:
            assert_same(result[key], expected[key], rtol)
    elif isinstance(expected, jax.Array):
        assert isinstance(result, jax.Array)
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        ours, scipys = np.asarray(result), np.asarray(expected)
        if rtol:
            scale = float(np.abs(scipys).max(initial=1e-30))
            np.testing.assert_allclose(ours, scipys, rtol=0, atol=rtol * scale)
        else:
            np.testing.assert_array_equal(ours, scipys)
    else:
        assert type(result) is type(expected)
        assert result == expected


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
@pytest.mark.filterwarnings("ignore::scipy.signal.BadCoefficients")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_convert_makes_every_function_work(function: Function, precision: bool) -> None:
    """JAX arrays come back, with SciPy's values for the same elements: exactly, if converted."""
    args, kwargs = map(in_jax, function.call.fresh())
    with backend_opts(fallback="convert", trace=True) as trace:
        try:
            expected = function.default(*in_numpy(args), **in_numpy(kwargs))
        except ValueError:  # `peak_widths` in single precision
            with pytest.raises(ValueError, match="Buffer dtype mismatch"):
                function.dispatchable(*args, **kwargs)
            return
        result = function.dispatchable(*args, **kwargs)
    is_converted = any(event.outcome == "converted" for event in trace)
    assert is_converted or function not in MISSING
    scipys = mapped(expected, lambda each: from_scipy(each, jnp.asarray))
    assert_same(result, scipys, 0 if is_converted else 1e-12 if precision else 1e-4)


@pytest.mark.parametrize("function", MISSING, ids=str)
def test_raise_refuses_what_jax_does_not_have(function: Function) -> None:
    """And says what would be copied."""
    args, kwargs = map(in_jax, function.call.fresh())
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as caught:
        function.dispatchable(*args, **kwargs)
    remedy, _ = caught.value.remedies
    assert "jax converts " in remedy
    assert " bytes), and the library's own implementation runs" in remedy
    assert any(each.backend == "jax" for each in caught.value.backends)


def test_there_are_functions_that_jax_does_not_have() -> None:
    assert len(MISSING) > 100


def test_a_refusal_has_jaxs_reason() -> None:
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as caught:
        ndimage.label(J, output=np.int8)
    assert "jax defers: " in str(caught.value)
    assert "another data type than int32" in str(caught.value)
    with backend_opts(fallback="convert"):
        assert ndimage.label(J, output=np.int8)[0].dtype == np.int8


def test_an_output_cannot_be_written_into() -> None:
    """SciPy's function does not run; a data type is no array."""
    output = jnp.zeros((6, 7))
    with backend_opts(fallback="convert"):
        with pytest.raises(NoImplementationError, match=r"into output, and .* no copy_into"):
            ndimage.fourier_ellipsoid(J, 2.0, output=output)
        assert ndimage.fourier_ellipsoid(J, 2.0, output=np.float32).dtype == np.float32


def test_tracers_have_no_elements() -> None:
    """The refusal says so, in place of JAX's error about NumPy arrays."""
    with backend_opts(fallback="convert"), pytest.raises(NoImplementationError, match="traced"):
        jax.jit(lambda x: ndimage.fourier_ellipsoid(x, 2.0))(J)


def test_an_exception_says_why_scipy_got_a_tracer() -> None:
    """In the policy "default", in a note."""
    with pytest.raises(jax.errors.TracerArrayConversionError) as caught:
        jax.jit(lambda x: ndimage.label(x, output=np.int8))(J)
    if sys.version_info >= (3, 11):
        # JAX adds one of its own.
        (note,) = [each for each in caught.value.__notes__ if each.startswith("No backend ran ")]
        assert note.startswith("No backend ran scipy_dispatch.ndimage:label for ")
        assert "jax defers: " in note
        assert "another data type than int32" in note


def test_warn_says_what_it_costs() -> None:
    with backend_opts(fallback="warn"), pytest.warns(FallbackWarning, match=r"\(168 bytes\)"):
        assert isinstance(ndimage.fourier_ellipsoid(J, 2.0), np.ndarray)


def test_numbers_that_scipy_does_not_know_are_widened() -> None:
    with backend_opts(fallback="convert"):
        result = ndimage.fourier_ellipsoid(J.astype(jnp.bfloat16), 2.0)
    assert result.dtype == np.float32


def test_numbers_that_jax_does_not_have_are_refused() -> None:
    """They would be others without a word."""
    pattern = r"jax converts, but .* more than 32 bits"
    with backend_opts(fallback="convert"), pytest.raises(NoImplementationError, match=pattern):
        ndimage.shift(J, 1, output=np.int64, cval=2**40)
    with pytest.raises(NotImplementedError, match="JAX has no data type"):
        from_default(np.ones(2, np.longdouble))


def test_one_array_on_two_ways_is_converted_once() -> None:
    with backend_opts(fallback="convert", trace=True) as trace:
        signal.normalize(J[0] + 1, J[0] + 1)
    assert len(trace) == 5
