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
        env={**os.environ, "PYTHONPATH": path, "SPATCH_CORE_CACHE": "off"},
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


def test_numpy_arrays_go_and_come_back(standin: Path) -> None:
    """The backend must be prioritized and the array large; the trace shows the call."""
    run_python(
        """
        import numpy as np, scipy.ndimage, sys
        from scipy_dispatch import backend_opts, ndimage
        import scipy_dispatch_cupy
        image = np.arange(20, dtype=np.float32).reshape(4, 5)
        with backend_opts(prioritize="cupy-offload", trace=True) as trace:
            ndimage.gaussian_filter(image, 1)
        assert "cupy" not in sys.modules, "too small to import CuPy for"
        (event,) = [event for event in trace if event.backend == "cupy-offload"]
        assert "20 elements are too few" in str(event), event
        scipy_dispatch_cupy.set_smallest(20)
        with backend_opts(prioritize="cupy-offload", trace=True) as trace:
            result = ndimage.gaussian_filter(image, 1)
        assert [event.backend for event in trace] == ["cupy-offload"]
        assert type(result) is np.ndarray and result.dtype == np.float32
        np.testing.assert_array_equal(result, scipy.ndimage.gaussian_filter(image, 1))
        output = np.zeros((4, 5), np.int16)
        with backend_opts(prioritize="cupy-offload"):
            assert ndimage.gaussian_filter(image, 1, output=output) is output
            assert ndimage.gaussian_filter(image, 1, output="f8").dtype == np.float64
        assert output.any()
        import cupy
        assert cupy.made
        """,
        path=[standin],
    )


def test_the_environment_says_how_small(standin: Path) -> None:
    run_python(
        """
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage
        with backend_opts(prioritize="cupy-offload"):
            assert ndimage.sobel.explain(np.zeros(10)).selected == "cupy-offload"
            assert ndimage.sobel.explain(np.zeros(9)).selected == "default"
        """,
        path=[standin],
        environment={"SCIPY_DISPATCH_CUPY_SMALLEST": "10"},
    )


@pytest.mark.parametrize("text", ["many", "²", "-1", "1e6"])
def test_what_the_environment_says_must_be_a_number(text: str) -> None:
    """Otherwise one warning at the caller's line names the variable, and the estimate is used."""
    run_python(
        f"""
        import warnings
        import scipy_dispatch_cupy
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert scipy_dispatch_cupy.smallest() == scipy_dispatch_cupy.smallest() == 2**18
        (warning,) = caught
        assert "SMALLEST={text!r} is no number of elements" in str(warning.message)
        assert warning.filename == __file__, warning.filename
        """,
        environment={"SCIPY_DISPATCH_CUPY_SMALLEST": text},
    )


NO_DEVICE, NO_MEMORY = {"STANDIN_DEVICES": "0"}, {"STANDIN_FREE": "1000"}
MEBIBYTES = "the GPU has 0 MiB free, and the call may need {} MiB"
REASONS = [
    ("ndimage.sobel", NO_DEVICE, "CuPy finds no GPU: cudaErrorNoDevice"),
    ("ndimage.sobel", NO_MEMORY, MEBIBYTES.format(5)),
    ("fft.fft2", NO_MEMORY, MEBIBYTES.format(18)),
]


@pytest.mark.parametrize(("name", "environment", "reason"), REASONS)
def test_the_reason_is_told(
    standin: Path, name: str, environment: dict[str, str], reason: str
) -> None:
    """The trace and `explain` give the reason, and SciPy runs."""
    run_python(
        f"""
        import numpy as np
        from scipy_dispatch import backend_opts, fft, ndimage
        image = np.ones((300, 400))
        with backend_opts(prioritize="cupy-offload", trace=True) as trace:
            explanation = {name}.explain(image)
            result = {name}(image)
        assert type(result) is np.ndarray
        assert explanation.selected == "default"
        assert {reason!r} in str(explanation), explanation
        assert {reason!r} in "\\n".join(map(str, trace)), trace
        """,
        path=[standin],
        environment={**environment, "SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
    )


def test_memory_that_cupy_keeps_is_free(standin: Path) -> None:
    run_python(
        """
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage
        with backend_opts(prioritize="cupy-offload"):
            assert ndimage.sobel.explain(np.ones((300, 400))).selected == "cupy-offload"
        """,
        path=[standin],
        environment={**NO_MEMORY, "STANDIN_POOL": str(2**23), "SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX systems only")
def test_a_process_that_was_forked_looks_for_a_device_itself(standin: Path) -> None:
    """The child process cannot use the device of its parent."""
    run_python(
        """
        import os
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage
        with backend_opts(prioritize="cupy-offload"):
            assert ndimage.sobel.explain(np.ones(9)).selected == "cupy-offload"
            os.environ["STANDIN_DEVICES"] = "0"
            child = os.fork()
            if not child:
                os._exit(ndimage.sobel.explain(np.ones(9)).selected != "default")
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert ndimage.sobel.explain(np.ones(9)).selected == "cupy-offload"
        """,
        path=[standin],
        environment={"SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
    )


def test_memory_that_runs_out_leaves_the_call_to_scipy(standin: Path) -> None:
    """The result is returned, a warning explains the delay, and ``output=`` is complete."""
    run_python(
        """
        import warnings
        import numpy as np, scipy.ndimage
        from scipy_dispatch import backend_opts, ndimage
        image = np.random.default_rng(0).random((30, 40))
        output = np.zeros((30, 40))
        with backend_opts(prioritize="cupy-offload", trace=True) as trace:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ndimage.sobel(image, output=output)
        np.testing.assert_array_equal(output, scipy.ndimage.sobel(image))
        (warning,) = caught
        assert "the GPU is out of memory" in str(warning.message)
        import cupy
        assert cupy.cuda.freed
        assert trace[-1].backend == "default", trace
        """,
        path=[standin],
        environment={"STANDIN_FULL": "1", "SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
    )


ERRORS = ["builtins:NotImplementedError", "builtins:ValueError", "builtins:IndexError"]
ERRORS += ["builtins:ZeroDivisionError", "builtins:AttributeError", "builtins:RuntimeError"]
ERRORS += ["numpy.linalg:LinAlgError", "numpy.exceptions:ComplexWarning"]


@pytest.mark.parametrize("error", ERRORS)
def test_what_cupy_refuses_is_for_scipy(standin: Path, error: str) -> None:
    """Invalid arguments raise SciPy's own error; SciPy computes what only CuPy rejects."""
    run_python(
        """
        import numpy as np, scipy.ndimage
        from scipy_dispatch import backend_opts, ndimage
        image = np.arange(20.0).reshape(4, 5)
        with backend_opts(prioritize="cupy-offload"):
            np.testing.assert_array_equal(ndimage.sobel(image), scipy.ndimage.sobel(image))
            for wrong in ({"axis": 7}, {"mode": "sideways"}, {"no_such": 1}):
                try:
                    scipy.ndimage.sobel(image, **wrong)
                except Exception as error:
                    expected = error
                try:
                    ndimage.sobel(image, **wrong)
                except Exception as error:
                    assert type(error) is type(expected) and str(error) == str(expected)
                else:
                    raise AssertionError(wrong)
        """,
        path=[standin],
        environment={
            "STANDIN_REFUSES": "not today",
            "STANDIN_RAISES": error,
            "SCIPY_DISPATCH_CUPY_SMALLEST": "0",
            "PYTHONWARNINGS": "error",
        },
    )


BROKEN = ["cupy.cuda:CompileException", "builtins:ImportError", "builtins:OSError"]
BROKEN += ["builtins:RuntimeError"]


@pytest.mark.parametrize("error", BROKEN)
def test_a_broken_installation_is_told_once(standin: Path, error: str) -> None:
    """The warning points to the caller's line; the result is SciPy's."""
    run_python(
        f"""
        import warnings
        import numpy as np, scipy.ndimage
        from scipy_dispatch import backend_opts, ndimage
        image = np.arange(20.0).reshape(4, 5)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with backend_opts(prioritize="cupy-offload"):
                for function in ("sobel", "sobel", "prewitt"):
                    result = getattr(ndimage, function)(image)
                    np.testing.assert_array_equal(
                        result, getattr(scipy.ndimage, function)(image)
                    )
        (warning,) = caught
        text = str(warning.message)
        assert text.startswith("cupy-offload leaves sobel, CuPy fails here: "), text
        assert text.endswith("{error.partition(":")[2]}: no nvrtc: libnvrtc.so"), text
        assert warning.filename == __file__, warning.filename
        """,
        path=[standin],
        environment={
            "STANDIN_REFUSES": "no nvrtc: libnvrtc.so",
            "STANDIN_RAISES": error,
            "SCIPY_DISPATCH_CUPY_SMALLEST": "0",
        },
    )


def test_what_is_no_error_is_not_caught(standin: Path) -> None:
    run_python(
        """
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage
        with backend_opts(prioritize="cupy-offload"):
            try:
                ndimage.sobel(np.ones((4, 5)))
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError("went on")
        """,
        path=[standin],
        environment={
            "STANDIN_REFUSES": "stop",
            "STANDIN_RAISES": "builtins:KeyboardInterrupt",
            "SCIPY_DISPATCH_CUPY_SMALLEST": "0",
        },
    )


def test_arguments_that_no_rule_understands_are_scipy_s_to_judge(standin: Path) -> None:
    """After any exception in a rule, the caller gets SciPy's own error."""
    run_python(
        """
        import numpy as np, scipy.ndimage
        from scipy_dispatch import backend_opts, ndimage

        class Odd:
            def __float__(self):
                raise OverflowError("odd")

        image = np.ones((4, 5))
        with backend_opts(prioritize="cupy-offload"):
            assert "SciPy to judge: odd" in str(ndimage.rotate.explain(image, Odd()))
            for run in (scipy.ndimage.rotate, ndimage.rotate):
                try:
                    run(image, Odd())
                except Exception as error:
                    print(type(error), error)
        """,
        path=[standin],
        environment={"SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
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


def test_a_result_that_cannot_be_scipy_s_is_not_returned(standin: Path) -> None:
    """Results with another shape or a dropped imaginary part are computed by SciPy instead."""
    run_python(
        """
        import cupy, cupyx.scipy.ndimage, numpy as np, scipy.ndimage
        from scipy_dispatch import backend_opts, ndimage
        image = np.arange(20.0).reshape(4, 5)
        expected = scipy.ndimage.laplace(image)
        for wrong in (image * 1j, image[:3]):
            cupyx.scipy.ndimage._call = lambda name, arguments: cupy.asarray(wrong)
            with backend_opts(prioritize="cupy-offload", trace=True) as trace:
                np.testing.assert_array_equal(ndimage.laplace(image), expected)
            assert trace[-1].backend == "default"
        """,
        path=[standin],
        environment={"SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
    )


def test_results_have_scipy_s_types(standin: Path) -> None:
    """Cases include complex weights with a real image, and functions that return None."""
    run_python(
        """
        import numpy as np, scipy.ndimage
        from scipy_dispatch import backend_opts, ndimage
        weights, holes = np.array([1j, 2]), np.ones((5, 5), bool)
        with backend_opts(prioritize="cupy-offload", trace=True) as trace:
            for dtype in ("u1", "i8", "f4", "f8", "c8"):
                image = np.arange(20).astype(dtype)
                result = ndimage.convolve1d(image, weights)
                assert result.dtype == scipy.ndimage.convolve1d(image, weights).dtype
            assert ndimage.binary_fill_holes(holes, output=np.zeros((5, 5), bool)) is None
        assert {event.backend for event in trace} == {"cupy-offload"}
        """,
        path=[standin],
        environment={"SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
    )


def test_numbers_that_are_not_finite_are_scipy_s(standin: Path) -> None:
    """The arguments that are not CuPy arrays are checked."""
    run_python(
        """
        import numpy as np
        from scipy_dispatch import backend_opts, fft, ndimage, signal
        image = np.full((4, 5), 3e38, np.float32)
        image[2] = -1
        whole = image.copy()
        with backend_opts(prioritize="cupy-offload"):
            assert ndimage.uniform_filter.explain(image, 3).selected == "cupy-offload"
            for value in (np.nan, np.inf, -np.inf):
                image[1, 1] = value
                for explanation in (
                    ndimage.uniform_filter.explain(image, 3),
                    ndimage.correlate.explain(whole, image),
                    signal.detrend.explain(image * 1j),
                    fft.fft.explain(image),
                    signal.convolve2d.explain(whole, [[value, 0], [1, 1]]),
                    ndimage.shift.explain(whole, value),
                    ndimage.affine_transform.explain(whole, [1, value]),
                    ndimage.map_coordinates.explain(whole, [[value, 1], [1, 2]], order=1),
                ):
                    assert explanation.selected == "default"
                    assert "has NaN or infinity" in str(explanation), explanation
                filled = ndimage.uniform_filter.explain(whole, 3, output=image)
                assert filled.selected == "cupy-offload", filled
        """,
        path=[standin],
        environment={"SCIPY_DISPATCH_CUPY_SMALLEST": "0"},
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
