"""The type patterns of the description match all JAX arrays and tracers, in any release.

These tests run on the oldest and the newest supported release of JAX.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from comparison import why_deferred

from scipy_dispatch import backend_opts, ndimage
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
EXPECTED = np.asarray(ndimage.sobel(X))


def sobel(x: Any) -> Any:
    """Run the backend, without the default implementation."""
    assert ndimage.sobel.explain(x).selected == "jax"
    return ndimage.sobel(x)


def scanned(x: Any) -> Any:
    return jax.lax.scan(lambda carry, each: (carry, sobel(each)), 0, jnp.stack([x, x]))[1][1]


TRANSFORMATIONS: dict[str, Callable[[Any], Any]] = {
    "none": sobel,
    "jit": jax.jit(sobel),
    "vmap": lambda x: jax.vmap(sobel)(jnp.stack([x, x]))[1],
    "scan": scanned,
    "checkpoint": jax.checkpoint(sobel),
    "linearize": lambda x: jax.linearize(sobel, x)[1](x),
    "jvp": lambda x: jax.jvp(sobel, (x,), (x,))[1],
    "vjp": lambda x: jax.vjp(sobel, x)[0],
    "jit of vmap of jit": lambda x: jax.jit(jax.vmap(jax.jit(sobel)))(x[None])[0],
    "cond": lambda x: jax.lax.cond(True, sobel, lambda each: each, x),
    "while_loop": lambda x: jax.lax.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, sobel(c[1])), (0, x)
    )[1],
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_inside_of_transformations(name: str) -> None:
    result = TRANSFORMATIONS[name](jnp.asarray(X))
    assert isinstance(result, jax.Array)
    np.testing.assert_allclose(np.asarray(result), EXPECTED, rtol=1e-6)


def test_gradients() -> None:
    """The gradient of a linear function is the sum of its weights for each element."""
    gradient = jax.grad(lambda x: (sobel(x) ** 2).sum())(jnp.asarray(X))
    assert gradient.shape == X.shape
    hessian = jax.hessian(lambda x: (sobel(x) ** 2).sum())(jnp.asarray(X))
    np.testing.assert_allclose(np.asarray(gradient), np.tensordot(hessian, X), rtol=1e-4, atol=1e-3)


def test_shapes_alone() -> None:
    """Values are not needed."""
    shape = jax.eval_shape(sobel, jnp.asarray(X))
    assert (shape.shape, shape.dtype) == (X.shape, X.dtype)
    assert "sub" in str(jax.make_jaxpr(sobel)(jnp.asarray(X)))


def test_compiled_ahead() -> None:
    compiled = jax.jit(sobel).lower(jax.ShapeDtypeStruct(X.shape, X.dtype)).compile()
    np.testing.assert_allclose(np.asarray(compiled(X)), EXPECTED, rtol=1e-6)


def test_the_type_option() -> None:
    """NumPy arrays become JAX arrays if the user selects JAX by its public name."""
    with backend_opts(type=jax.Array):
        assert isinstance(ndimage.sobel(X), jax.Array)
    assert isinstance(ndimage.sobel(X), np.ndarray)


def test_numpy_weights_do_not_hinder() -> None:
    result = jax.jit(lambda x: ndimage.correlate(x, np.ones((2, 2))))(jnp.asarray(X))
    np.testing.assert_allclose(np.asarray(result), ndimage.correlate(X, np.ones((2, 2))), 1e-6)


def test_numpy_images_with_jax_weights() -> None:
    """The result is a JAX array, as for such a pair in `jax.numpy`."""
    gradient = jax.grad(lambda w: ndimage.correlate1d(X, w).sum())(jnp.ones(3))
    assert gradient.shape == (3,)


def test_settings_of_jax_leave_numpy_arrays_alone() -> None:
    """A setting holds no data. Without this backend, the result was a NumPy array."""
    footprint = jnp.ones((3, 3), bool)
    reason = why_deferred("ndimage.median_filter", X, footprint=footprint)
    assert "only footprint= is a JAX array" in (reason or "")
    assert isinstance(ndimage.median_filter(X, footprint=footprint), np.ndarray)
    assert "only bp=" in (why_deferred("signal.detrend", X, bp=jnp.array([1])) or "")
    with backend_opts(type=jax.Array):
        assert isinstance(ndimage.median_filter(X, footprint=footprint), jax.Array)
    with backend_opts(prioritize="jax"):
        assert isinstance(ndimage.median_filter(X, footprint=footprint), jax.Array)


def test_masked_arrays_are_left_alone() -> None:
    """The mask would be lost."""
    weights = np.ma.masked_array([1.0, 2.0, 1.0], [False, True, False])
    explanation = ndimage.correlate1d.explain(jnp.asarray(X), weights)
    assert explanation.selected == "default"


def test_random_keys_are_no_numbers() -> None:
    """Their type is that of JAX arrays."""
    assert "no numbers" in (why_deferred("ndimage.sobel", jax.random.key(0)) or "")


def test_jax_is_imported_when_it_is_met() -> None:
    """For NumPy arrays, only the description file is read."""
    run_python(
        """
        import sys
        import numpy as np
        from scipy_dispatch import fft, ndimage, signal, system
        ndimage.sobel(np.eye(3)), fft.fft(np.eye(3)), signal.detrend(np.eye(3))
        assert "jax" in ndimage.sobel.backends and "jax" in system.backends
        assert ndimage.sobel.explain(np.eye(3)).selected == "default"
        loaded = [name for name in sys.modules if name.partition(".")[0] in LAZY]
        assert not loaded, loaded
        import jax.numpy as jnp
        assert "scipy_dispatch_jax" not in sys.modules
        assert type(ndimage.sobel(jnp.eye(3))) is type(jnp.eye(3))
        assert "scipy_dispatch_jax" in sys.modules
        """.replace("LAZY", repr(("jax", "jaxlib", "scipy_dispatch_jax")))
    )


def test_why_there_are_three_patterns() -> None:
    """Check the statements about releases in the comments of the description."""
    release = tuple(map(int, jax.__version__.split(".")[:2]))
    array, tracers = type(jnp.ones(())), []
    jax.jit(lambda x: tracers.append(type(x)))(1.0)
    names = [f"{each.__module__}:{each.__qualname__}" for each in array.__mro__]
    assert ("jax:Array" in names) == (release >= (0, 6))
    assert array is sys.modules["jaxlib.xla_client"].ArrayImpl
    assert issubclass(tracers[0], jax.core.Tracer)
    assert issubclass(tracers[0], jax.Array) == (release < (0, 8))
