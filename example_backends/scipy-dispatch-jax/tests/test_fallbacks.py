"""Fallback policies: every function of `scipy_dispatch` with JAX arrays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from comparison import COMPARISONS
from scipy_functions import FUNCTIONS, Function
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage
from scipy_dispatch.testing import EXACT, difference, quietly
from scipy_dispatch_jax._conversion import from_default
from spatch_core import NoImplementationError

if TYPE_CHECKING:
    pass

J = jnp.arange(42.0, dtype=jnp.float32).reshape(6, 7) % 5
MISSING = [
    function for function in FUNCTIONS if f"{function.module}.{function.name}" not in TOLERANCES
]


@pytest.mark.parametrize("function", MISSING, ids=str)
def test_convert_makes_every_other_function_work(function: Function, double: bool) -> None:
    """JAX arrays come back, with SciPy's values for the same elements."""
    call, comparison = function.call.fresh(), COMPARISONS[True]
    given = comparison.given(call)
    expected = quietly(function.default, *call.args, **call.kwargs)
    with backend_opts(fallback="convert", trace=True) as trace:
        result = quietly(function.dispatchable, *given.args, **given.kwargs)
    assert any(event.outcome == "converted" for event in trace)
    assert not any(map(is_numpy, jax.tree.leaves(result)))
    assert not difference(str(function), comparison.fetched(result), expected, EXACT)


def is_numpy(value: Any) -> bool:
    """Return whether a value is an array of numbers of NumPy."""
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc"


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
