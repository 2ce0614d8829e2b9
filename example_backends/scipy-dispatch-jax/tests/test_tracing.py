"""Every function under jit, vmap and eval_shape, with gradients. Complete, one call each."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from comparison import FUNCTIONS, STEPS, Sample

from scipy_dispatch.testing import dispatchable

IMAGE = np.random.default_rng(20261121).uniform(-20, 20, (5, 6))


def outcome(name: str, x: Any) -> Any:
    """Return the result of a call as an array: the last one if there are several."""
    sample = Sample(name)
    function = dispatchable(name)
    if isinstance(x, jax.Array):
        assert function.explain(*sample.args(x), **sample.kwargs).selected == "jax"
    result = function(*sample.args(x), **sample.kwargs)
    while isinstance(result, (tuple, list)):
        result = result[-1]
    return result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traced(name: str, double: bool, quickly_compiled: None) -> None:
    """Results under jit and vmap are equal, and derivatives match finite differences."""
    x = Sample(name).data
    x = jnp.asarray(x if x.dtype.kind in "bc" else x.astype(float))

    def flat(x: Any) -> Any:
        y = jnp.asarray(outcome(name, x))
        return jnp.concatenate([y.real.ravel(), y.imag.ravel()])

    compiled = jax.jit(jax.vmap(flat))
    by_scipy = np.asarray(outcome(name, np.asarray(x)))
    expected = np.concatenate([by_scipy.real.ravel(), by_scipy.imag.ravel()])
    # No implicit promotion of data types or of numbers of dimensions is needed.
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        shape = jax.eval_shape(flat, x)
    assert (shape.shape, shape.dtype) == (expected.shape, expected.dtype)
    if x.dtype == bool or any(each in name for each in STEPS):
        np.testing.assert_allclose(compiled(x[None])[0], expected, rtol=1e-10, atol=1e-10)
        return
    step = np.random.default_rng(0).normal(size=x.shape)
    step = jnp.asarray(step * (1j - 2 if np.iscomplexobj(x) else 1))
    h = 1e-6
    # Three calls at once: at x, one step forward, and one step back.
    here, ahead, back = np.asarray(compiled(jnp.stack([x, x + h * step, x - h * step])))
    np.testing.assert_allclose(here, expected, rtol=1e-10, atol=1e-10)
    weights = np.random.default_rng(1).normal(size=expected.shape)
    slope = jax.jit(jax.grad(lambda t: flat(x + t * step) @ jnp.asarray(weights)))(0.0)
    numeric = weights @ (ahead - back) / (2 * h)
    assert float(slope) == pytest.approx(numeric, rel=1e-4, abs=1e-4 * np.abs(expected).max())


BY_OTHERS = {
    "ndimage.correlate": ("weights", np.array([[1.0, 2.0], [0.0, -1.0]])),
    "ndimage.convolve1d": ("weights", np.array([1.0, 0.0, -1.0])),
    "ndimage.map_coordinates": (
        "coordinates",
        np.array([[0.25, 2.125, 3.375], [1.125, 4.25, -0.625]]),
    ),
    "ndimage.shift": ("shift", np.array([0.25, -1.5])),
    "ndimage.rotate": ("angle", np.array(30.0)),
    "ndimage.affine_transform": ("matrix", np.array([[0.75, 0.5], [-0.5, 0.875]])),
    "ndimage.grey_erosion": ("structure", np.array([[1.0, 0.5], [0.0, -1.0]])),
    "signal.convolve": ("in2", np.ones((2, 3))),
    "signal.fftconvolve": ("in2", np.ones((2, 3))),
    "signal.convolve2d": ("in2", np.ones((2, 3))),
    "signal.welch": ("window", np.hanning(6)),
}


@pytest.mark.parametrize("name", BY_OTHERS)
def test_gradients_by_other_arrays(name: str, double: bool, quickly_compiled: None) -> None:
    """Weights may be zero, as at the start of a training."""
    parameter, value = BY_OTHERS[name]
    settings = {
        "ndimage.map_coordinates": {"order": 1},
        "ndimage.rotate": {"reshape": False},
        "ndimage.affine_transform": {"mode": "mirror", "offset": (0.3, 1.6)},
    }.get(name, {})

    def total(other: Any) -> Any:
        result = dispatchable(name)(jnp.asarray(IMAGE), **{parameter: other}, **settings)
        result = result[-1] if isinstance(result, tuple) else result
        return (result**2).sum()

    value = jnp.asarray(value)
    step = jnp.asarray(np.random.default_rng(2).normal(size=value.shape))
    numeric = (total(value + 1e-6 * step) - total(value - 1e-6 * step)) / 2e-6
    slope = (jax.grad(total)(value) * step).sum()
    assert float(slope) == pytest.approx(float(numeric), rel=1e-4)


def test_large_windows_are_loops(double: bool) -> None:
    """Large windows support tracing, batching and differentiation, with SciPy's values."""
    x = jnp.asarray(np.random.default_rng(3).normal(size=(3, 40)))
    for name, args in (("gaussian_filter", (20.0,)), ("uniform_filter", ((1, 99),))):
        function = dispatchable(f"ndimage.{name}")
        result = jax.jit(jax.vmap(lambda line, f=function, a=args: f(line[None], *a)[0]))(x)
        for each, line in zip(np.asarray(result), np.asarray(x), strict=True):
            np.testing.assert_allclose(each, function(line[None], *args)[0], rtol=1e-12)
        gradient = jax.grad(lambda y, f=function, a=args: f(y, *a).sum())(x)
        assert gradient.shape == x.shape
    window = dispatchable("ndimage.maximum_filter")(x, (1, 81))
    np.testing.assert_array_equal(window, np.asarray(x).max(1, keepdims=True) * np.ones((1, 40)))


def test_numbers_are_no_part_of_what_is_compiled(caplog: pytest.LogCaptureFixture) -> None:
    """Repeated calls with other numbers do not compile a function of JAX arrays again."""
    image, line = jnp.ones((6, 7)), jnp.ones(40)

    def calls(number: int) -> None:
        value = 1 + number / 100
        dispatchable("ndimage.gaussian_filter")(image, value, radius=2)
        dispatchable("ndimage.sobel")(image, mode="constant", cval=value)
        dispatchable("ndimage.maximum_filter")(image, 3, mode="constant", cval=value)
        dispatchable("ndimage.correlate")(image, np.full((2, 2), value))
        dispatchable("signal.welch")(line, fs=value, nperseg=8)
        dispatchable("signal.stft")(line, fs=value, nperseg=8, window=np.full(8, value))
        dispatchable("signal.detrend")(line * value)

    calls(0)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        calls(1)
        calls(2)
        assert not [each for each in caplog.messages if "ompil" in each]
        dispatchable("ndimage.sobel")(image[:3])
    assert [each for each in caplog.messages if "ompil" in each], "none would be seen"


def test_sums_are_linear(double: bool) -> None:
    """JAX recognizes the linearity for any weights, so that solvers can transpose the function."""
    x, weights = jnp.ones((4, 5)), jnp.asarray([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0]])
    for form in (weights, np.asarray(weights)):
        function = partial(dispatchable("ndimage.correlate"), weights=form)
        (transposed,) = jax.linear_transpose(function, x)(x)
        np.testing.assert_allclose(transposed, jax.vjp(function, x)[1](x)[0])
