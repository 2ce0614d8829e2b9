"""Fallback policies: every function of `scipy_dispatch` with JAX arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from comparison import COMPARISONS
from scipy_functions import FUNCTIONS, Function
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage
from scipy_dispatch.testing import EXACT, difference, quietly
from spatch_core import NoImplementationError

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
