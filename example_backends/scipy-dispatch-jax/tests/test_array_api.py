"""SciPy's own delegation, `SCIPY_ARRAY_API=1`: it is the default, and backends come before it."""

from __future__ import annotations

from spatch_core.testing import run_python


def test_a_backend_comes_before_scipy_s_own_delegation() -> None:
    run_python(
        """
        import dask.array as da
        import jax.numpy as jnp
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage
        from spatch_core import NoImplementationError

        image = np.random.default_rng(0).random((30, 40))
        for array, backend in ((jnp.asarray(image), "jax"), (da.from_array(image, 15), "dask")):
            with backend_opts(trace=True) as trace:
                smooth = ndimage.gaussian_filter(array, 1)
                distances = ndimage.distance_transform_bf(array)
            assert [event.backend for event in trace][0] == backend, trace
            assert trace[-1].backend == "default", trace
            assert isinstance(smooth, type(array))
            assert isinstance(distances, type(array)), "SciPy's delegation gives back its own"
            with backend_opts(fallback="raise"):
                try:
                    ndimage.distance_transform_bf(array)
                except NoImplementationError:
                    pass
                else:
                    raise AssertionError("the policy comes before SciPy's delegation")
        assert type(ndimage.gaussian_filter(image, 1)) is np.ndarray
        """,
        environment={"SCIPY_ARRAY_API": "1"},
    )
