"""The path of a call, tested with a stand-in for CuPy: see `standin.py`.

These tests cover how calls are passed on, not the numbers: the stand-in computes with SciPy.
`test_gpu.py` compares what CuPy computes; it runs here too, with the stand-in.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from standin import write_standin

from spatch_core.testing import run_python

FOLDER = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with packages named `cupy` and `cupyx`."""
    return write_standin(tmp_path_factory.mktemp("standin"))


@pytest.mark.parametrize("module", ["test_gpu.py", "test_fallbacks.py"])
def test_the_tests_for_a_gpu_run(standin: Path, module: str) -> None:
    """All cases of all functions pass, so that failures on a GPU concern the computation."""
    path = os.pathsep.join(map(str, filter(None, [standin, os.environ.get("PYTHONPATH")])))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-m",
            "gpu",
            "-p",
            "no:cacheprovider",
            f"tests/{module}",
        ],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert "Device: stand-in" in done.stdout or module != "test_gpu.py"
    assert "skipped" not in done.stdout


def test_cupy_in_and_out(standin: Path) -> None:
    """NumPy arrays and lists beside a CuPy image are moved to the device; nothing is moved back."""
    run_python(
        """
        import cupy, numpy as np
        from scipy_dispatch import backend_opts, ndimage
        image = cupy.asarray(np.arange(20.0).reshape(4, 5))
        with backend_opts(trace=True) as trace:
            result = ndimage.correlate1d(image, [1, 2, 1])
            ndimage.grey_erosion(image, structure=np.zeros((3, 3)))
        assert type(result) is cupy.ndarray
        assert [event.backend for event in trace] == ["cupy", "cupy"]
        labels = ndimage.label(image)
        assert type(labels[0]) is cupy.ndarray
        """,
        path=[standin],
    )


def test_what_cupy_does_not_have_is_not_passed(standin: Path) -> None:
    """An argument equal to SciPy's default is omitted; any other value defers the call."""
    run_python(
        """
        import cupy, numpy as np
        import cupyx.scipy.fft, cupyx.scipy.signal
        from scipy_dispatch import fft, ndimage, signal
        x = cupy.asarray(np.arange(8.0))
        fft.fft(x, workers=None)
        assert "workers" not in cupyx.scipy.fft.calls[-1][1]
        fft.fft(x, workers=2)  # which changes no result
        assert "workers" not in cupyx.scipy.fft.calls[-1][1]
        explanation = fft.fft.explain(x, workers=0)
        assert explanation.selected == "default"
        assert "CuPy's fft has no workers=" in str(explanation)
        signal.welch(x, nperseg=8)
        assert cupyx.scipy.signal.calls[-1][1]["window"] == "hann"
        try:
            fft.fft(x, workers=0)
        except TypeError as error:
            assert "Implicit conversion" in str(error)
        else:
            raise AssertionError("SciPy took an array of CuPy's")
        """,
        path=[standin],
    )


def test_as_long_as_it_is(standin: Path) -> None:
    """A length of -1 stands for the axis' own length; CuPy would drop the last element.

    The lengths are not a tuple, because CuPy ignores a tuple that equals the shape.
    """
    run_python(
        """
        import cupy, numpy as np, scipy.fft
        import cupyx.scipy.fft
        from scipy_dispatch import fft
        image = np.arange(32.0).reshape(4, 8)
        for name, s, axes, meant in (
            ("fftn", (4, -1), None, [4, 8]),
            ("fftn", -1, None, [8]),
            ("fftn", 6, None, [6]),
            ("fftn", (4, 8), (1, 0), [4, 8]),
            ("irfft2", (4, 8), None, [4, 8]),
            ("rfft2", (-1, 6), (1, 0), [8, 6]),
            ("irfftn", (-1, np.int64(-1)), None, [4, 8]),
            ("dctn", [-1], 0, [4]),
        ):
            kwargs = {} if axes is None else {"axes": axes}
            result = getattr(fft, name)(cupy.asarray(image), s=s, **kwargs)
            assert cupyx.scipy.fft.calls[-1][1]["s"] == meant
            expected = getattr(scipy.fft, name)(image, s=s, **kwargs)
            np.testing.assert_array_equal(result.get(), expected)
        for s in ((4, 8), (-1, 8)):
            try:
                fft.fftn(cupy.asarray(image), s=s, axes=(1,))
            except ValueError as error:
                assert "of the same length" in str(error)
            else:
                raise AssertionError("took two lengths for one axis")
        """,
        path=[standin],
    )


def test_both_arrays_of_a_convolution_are_of_one_type(standin: Path) -> None:
    """CuPy would sum in the smaller array's type, and lacks "auto" for several dimensions."""
    run_python(
        """
        import cupy, numpy as np
        import cupyx.scipy.signal
        from scipy_dispatch import signal
        image = cupy.asarray(np.arange(20).reshape(4, 5).astype("f4"))
        for name in ("convolve", "correlate", "convolve2d", "correlate2d"):
            for dtype in ("i8", "c16", "f8", "u1"):
                kernel = cupy.asarray(np.ones((2, 2), dtype))
                getattr(signal, name)(image, kernel)
                arguments = cupyx.scipy.signal.calls[-1][1]
                assert arguments["in1"].dtype == arguments["in2"].dtype
                assert arguments["in1"].dtype == np.result_type("f4", dtype)
                assert arguments.get("method", "fft") == "fft"
        signal.convolve(image.astype(int), [[1, 2]])
        assert cupyx.scipy.signal.calls[-1][1]["method"] == "direct"
        signal.convolve(image.astype(int), [[1, 2]], method="fft")
        assert cupyx.scipy.signal.calls[-1][1]["method"] == "fft"
        """,
        path=[standin],
    )


def test_iterations_are_asked_for_as_cupy_wants_it(standin: Path) -> None:
    run_python(
        """
        import cupy, numpy as np
        import cupyx.scipy.ndimage
        from scipy_dispatch import ndimage
        image = cupy.asarray(np.ones((5, 5), bool))
        ndimage.binary_erosion(image, iterations=2)
        assert cupyx.scipy.ndimage.calls[-1][1]["brute_force"] is True
        ndimage.binary_erosion(image)
        assert cupyx.scipy.ndimage.calls[-1][1]["brute_force"] is False
        """,
        path=[standin],
    )


def test_whole_numbers_are_interpolated_in_double_precision(standin: Path) -> None:
    """Values are rounded as in SciPy and clipped to the limits of the type."""
    run_python(
        """
        import cupy, numpy as np, scipy.ndimage
        import cupyx.scipy.ndimage
        from scipy_dispatch import ndimage
        image = np.array([0, 255, 0, 255, 255, 0, 3], dtype=np.uint8)
        for output in (None, np.int8, np.uint16):
            result = ndimage.shift(cupy.asarray(image), 0.4, output)
            arguments = cupyx.scipy.ndimage.calls[-1][1]
            assert arguments["input"].dtype == np.float64
            assert arguments["output"] is np.float64
            expected = scipy.ndimage.shift(image, 0.4, output)
            np.testing.assert_array_equal(result.get(), expected)
            assert result.dtype == expected.dtype
        """,
        path=[standin],
    )


def test_warnings_of_cupy_about_itself_are_not_the_callers(standin: Path) -> None:
    """Warnings from importing CuPy during a call are suppressed."""
    run_python(
        """
        import warnings
        warnings.simplefilter("error")
        import cupy, numpy as np
        from scipy_dispatch import signal
        assert type(signal.detrend(cupy.asarray(np.arange(8.0)))) is cupy.ndarray
        """,
        path=[standin],
        environment={"STANDIN_WARNS": "1"},
    )


def test_what_cupy_asks_for_is_passed(standin: Path) -> None:
    """Arguments include plain numbers for ``cval=``, sizes of a ``structure=``, and data types."""
    run_python(
        """
        import cupy, numpy as np
        import cupyx.scipy.ndimage, cupyx.scipy.signal
        from scipy_dispatch import ndimage, signal
        calls = cupyx.scipy.ndimage.calls
        image = cupy.asarray(np.arange(20.0).reshape(4, 5))
        for cval in (True, 1, np.float32(1), np.int8(1)):
            ndimage.laplace(image, mode="constant", cval=cval)
            assert type(calls[-1][1]["cval"]) is float and calls[-1][1]["cval"] == 1
        ndimage.laplace(image, mode="constant", cval=np.float32("nan"))
        assert calls[-1][1]["cval"] is np.nan
        ndimage.grey_dilation(image, 5, structure=[[0, 1, 2]])
        assert calls[-1][1]["footprint"].shape == (1, 3)
        assert calls[-1][1]["size"] is None
        small = image.astype("u1")
        for output in (float, np.dtype("f8"), cupy.asarray(np.zeros((4, 5)))):
            ndimage.uniform_filter(small, 3, output=output)
            assert calls[-1][1]["input"].dtype == np.float64
        ndimage.uniform_filter(small, 3)
        assert calls[-1][1]["input"].dtype == np.uint8
        ndimage.binary_fill_holes(small)  # whose bytes it would take for booleans
        assert calls[-1][1]["input"].dtype == bool
        t, calls = cupy.asarray(np.arange(4.0)), cupyx.scipy.signal.calls
        for width in (0, 1, True, np.int8(1), np.arange(4) // 3, cupy.asarray(np.arange(4) // 3)):
            signal.sawtooth(t, width)
            signal.square(t, width)
            for _, given in calls[-2:]:
                number = given.get("width", given.get("duty"))
                assert type(number) is float or number.dtype == np.float64
        """,
        path=[standin],
    )
