"""Arrays on several devices: used where JAX supports it; elsewhere JAX says what to do."""

from __future__ import annotations

from spatch_core.testing import run_python

# JAX determines the number of devices once in a process.
PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

from scipy_dispatch import fft, ndimage, signal

assert len(jax.devices()) == 2
jax.config.update("jax_disable_most_optimizations", True)
x = np.arange(8, dtype=np.float32) ** 2
mesh = jax.sharding.Mesh(jax.devices(), "i")
split = jax.device_put(x, NamedSharding(mesh, P("i")))


def is_done(function, *args, **settings):
    expected = function(
        *(np.asarray(x) if isinstance(x, jax.Array) else x for x in args), **settings
    )
    np.testing.assert_allclose(np.asarray(function(*args, **settings)), expected, atol=1e-5)
    return function.explain(*args, **settings).selected == "jax"


def error(function, *args):
    try:
        function(*args)
    except Exception as raised:
        return f"{type(raised).__name__}: {raised}"


assert is_done(ndimage.gaussian_filter, split, 1.0)
on_both = jax.device_put(x, jax.devices()[0]), jax.device_put(x[:3], jax.devices()[1])
for function in (ndimage.correlate1d, signal.convolve):
    assert "device" in error(function, *on_both)
assert is_done(ndimage.correlate1d, on_both[1], jnp.ones(3))  # not put anywhere
weights = jax.device_put(x[:3], NamedSharding(mesh, P()))
assert is_done(ndimage.correlate1d, split, weights)

# Split along the axis that is extended, by less than it is long, and by more.
jax.config.update("jax_enable_x64", True)
lines = np.random.default_rng(0).random((2, 8))
split = jax.device_put(lines, NamedSharding(mesh, P(None, "i")))
for mode, size in (("reflect", 4), ("mirror", 40), ("nearest", 4), ("wrap", 40)):
    function, settings = ndimage.correlate1d, {"weights": np.arange(size), "mode": mode}
    assert is_done(function, split, **settings)
    slope = jax.jit(jax.grad(lambda x: (function(x, **settings) ** 2).sum()))
    np.testing.assert_allclose(np.asarray(slope(split)), np.asarray(slope(lines)))
jax.config.update("jax_enable_x64", False)

if hasattr(jax, "shard_map"):
    tall = jnp.asarray(np.random.default_rng(0).random((2, 150)))
    ones = np.ones((9, 9))
    for function, *settings in ((ndimage.median_filter, (13, 11)), (ndimage.correlate, ones)):
        slope = jax.grad(lambda x: (function(x, *settings) ** 2).sum())
        mapped = jax.shard_map(slope, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
        expected = np.concatenate([slope(tall[:1]), slope(tall[1:])])
        np.testing.assert_allclose(np.asarray(jax.jit(mapped)(tall)), expected, rtol=1e-4)

if hasattr(jax.sharding, "auto_axes"):
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    lines = jax.device_put(np.stack([x, x[::-1]]), NamedSharding(mesh, P("i")))
    assert is_done(fft.fft, lines)
    assert fft.fft(lines).sharding.spec[0] == "i"
    # Windows that are written out, and that are looped over.
    wide = jax.device_put(np.random.default_rng(0).random((2, 150)), NamedSharding(mesh, P("i")))
    for function, *settings in (
        (ndimage.median_filter, (1, 5)),
        (ndimage.correlate1d, np.ones(100), 1),
    ):
        assert is_done(function, wide, *settings)
        slope = jax.jit(jax.grad(lambda x: (function(x, *settings) ** 2).sum()))
        expected = slope(np.asarray(wide))
        with jax.set_mesh(mesh):  # or JAX's slopes of slices are not sharded
            np.testing.assert_allclose(np.asarray(slope(wide)), np.asarray(expected), rtol=1e-4)
    assert "hard" in error(ndimage.gaussian_filter, lines, 1.0)
    with jax.set_mesh(mesh):
        smooth = jax.sharding.auto_axes(
            lambda x: ndimage.gaussian_filter(x, 1.0), axes="i", out_sharding=P("i")
        )
        result = np.asarray(smooth(lines))
    expected = ndimage.gaussian_filter(np.asarray(lines), 1.0)
    np.testing.assert_allclose(result, expected, atol=1e-4)
"""


def test_two_devices() -> None:
    run_python(
        PROGRAM,
        environment={
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        },
    )
