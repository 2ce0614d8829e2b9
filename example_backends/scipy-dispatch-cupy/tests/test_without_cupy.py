"""Without CuPy, or without opting in, nothing is imported and results do not change."""

from __future__ import annotations

from spatch_core.testing import run_python


def test_numpy_arrays_import_nothing() -> None:
    """Only the description files are read."""
    run_python(
        """
        import sys
        import numpy as np
        from scipy_dispatch import backend_opts, fft, ndimage, signal
        ndimage.sobel(np.eye(3))
        fft.fft(np.ones(8))
        signal.convolve(np.ones(3), np.ones(2))
        assert "cupy" in ndimage.sobel.backends
        ndimage.sobel.explain(np.eye(3))
        ndimage.sobel.__doc__
        with backend_opts(prioritize="cupy"):
            ndimage.sobel(np.eye(3))
        found = [each for each in sys.modules if each.startswith(("cupy", "scipy_dispatch_cupy"))]
        assert not found, found
        """
    )


def test_importing_the_package_imports_nothing_heavy() -> None:
    run_python(
        """
        import sys
        import scipy_dispatch_cupy
        heavy = {"cupy", "numpy", "scipy", "scipy_dispatch"} & set(sys.modules)
        assert not heavy, heavy
        """
    )
