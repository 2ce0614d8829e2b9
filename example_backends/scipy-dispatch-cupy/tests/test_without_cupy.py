"""Without CuPy, or without opting in, nothing is imported and results do not change."""

from __future__ import annotations

from spatch_core.testing import run_python

BLOCKED = """
import sys
sys.modules["cupy"] = sys.modules["cupyx"] = None  # as if it were not installed
"""


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
        assert "cupy" in ndimage.sobel.backends and "cupy-offload" in ndimage.sobel.backends
        ndimage.sobel.explain(np.eye(3))
        ndimage.sobel.__doc__
        with backend_opts(prioritize="cupy"):
            ndimage.sobel(np.eye(3))
        found = [each for each in sys.modules if each.startswith(("cupy", "scipy_dispatch_cupy"))]
        assert not found, found
        """
    )


def test_small_arrays_look_for_no_cupy() -> None:
    """The size is checked first; the search for CuPy runs only once."""
    run_python(
        """
        import sys
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage

        looked = []

        class Witness:
            @staticmethod
            def find_spec(name, path=None, target=None):
                looked.extend([name] if name == "cupy" else [])

        sys.meta_path.insert(0, Witness)
        with backend_opts(prioritize="cupy-offload", trace=True) as trace:
            for _ in range(3):
                ndimage.sobel(np.eye(3))
        assert "too few" in str(trace[0]), trace
        assert not looked
        assert "cupy" not in sys.modules
        with backend_opts(prioritize="cupy-offload"):
            for _ in range(3):
                ndimage.sobel(np.zeros(2**18))
        assert looked.count("cupy") <= 2, "once to find it, once to import it"
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


def test_without_cupy_scipy_runs_and_the_reason_is_told() -> None:
    run_python(
        BLOCKED
        + """
import numpy as np
from scipy_dispatch import backend_opts, fft, ndimage, signal
image = np.zeros(2**19)
for function in (ndimage.sobel, fft.fft, signal.medfilt):
    with backend_opts(prioritize="cupy-offload", trace=True) as trace:
        explanation = function.explain(image)
        result = function(image)
    assert type(result) is np.ndarray
    assert explanation.selected == "default"
    reason = "CuPy is not installed: pip install 'scipy-dispatch-cupy[cuda12]', say"
    assert reason in str(explanation), explanation
    assert reason in "\\n".join(map(str, trace)), trace
    with backend_opts(prioritize="cupy", trace=True) as trace:
        function(image)
    assert [event.backend for event in trace][-1] == "default"
"""
    )


def test_nothing_is_measured_without_a_gpu() -> None:
    """The command states the reason, and lists the functions that it can measure."""
    ended = run_python(
        BLOCKED
        + """
from scipy_dispatch_cupy.measure import main
print("ended with", main([]))
main(["ndimage.label"])
""",
        check=False,
    )
    assert ended.stdout == "ended with 1\n"
    assert "nothing was measured: CuPy" in ended.stderr
    assert "ndimage.label cannot be measured; these can: ndimage.sobel, " in ended.stderr
