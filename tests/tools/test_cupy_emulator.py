"""CuPy's own kernels, compiled for the processor; skipped if that is impossible."""

from __future__ import annotations

import getpass
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("scipy_dispatch_cupy", reason="its tests run on the emulator")

from spatch_core.testing import run_python

TOOLS = Path(__file__).parents[2] / "tools"
BACKEND = TOOLS.parent / "example_backends" / "scipy-dispatch-cupy"

CALLS = """
import numpy as np

def calls(package, ndimage, signal, fft):
    random = np.random.default_rng(0)
    image = package.asarray(random.random((9, 11)))
    numbers = package.asarray((random.random((9, 11)) * 255).astype(np.uint8))
    line = package.asarray(random.random(30))
    weights = package.asarray([[0.0, 1, 2], [3, 4, 1]])
    return {
        "gaussian_filter": lambda: ndimage.gaussian_filter(image, 1.2, mode="mirror"),
        "correlate": lambda: ndimage.correlate(image, weights, mode="wrap"),
        "uniform_filter": lambda: ndimage.uniform_filter(numbers, 3),
        "median_filter": lambda: ndimage.median_filter(numbers, 3),
        "grey_erosion": lambda: ndimage.grey_erosion(image, 3, mode="constant", cval=0.5),
        "binary_dilation": lambda: ndimage.binary_dilation(image > 0.8),
        "label": lambda: ndimage.label(image > 0.5)[0],
        "minimum": lambda: ndimage.minimum(image, numbers // 100, package.asarray([0, 1, 2])),
        "shift": lambda: ndimage.shift(image, (0.3, -1.7), order=3),
        "distance_transform_edt": lambda: ndimage.distance_transform_edt(image > 0.3),
        "convolve": lambda: signal.convolve(line, weights[0], method="direct"),
        "convolve2d": lambda: signal.convolve2d(image, weights, boundary="symm"),
        "upfirdn": lambda: signal.upfirdn(weights[1], line, 3, 2),
        "lfilter": lambda: signal.lfilter(weights[1] / 9, package.asarray([1, 0.4, 0.1]), line),
        "savgol_filter": lambda: signal.savgol_filter(line, 5, 2),
        "fft": lambda: fft.fft(line, 29),
        "ifft2": lambda: fft.ifft2(image + 1j * image[::-1], (12, 7), norm="ortho"),
        "fftn": lambda: fft.fftn(image.reshape(3, 3, 11), axes=(0, 1)),
        "irfft2": lambda: fft.irfft2(fft.rfft2(image), (9, 11)),
        "ifftn": lambda: fft.ifftn((image + 2j).T.reshape(11, 3, 3, order="F")),
        "hfft": lambda: fft.hfft(image, 12, axis=0),
        "dctn": lambda: fft.dctn(image, 3),
        "hilbert": lambda: signal.hilbert(line),
    }
"""

COMPARED = """
import json, scipy.fft, scipy.ndimage, scipy.signal
from cupy_emulator import install
install()
import cupy
from cupyx.scipy import fft, ndimage, signal

wanted = calls(np, scipy.ndimage, scipy.signal, scipy.fft)
found = {}
for name, call in calls(cupy, ndimage, signal, fft).items():
    result, expected = call(), wanted[name]()
    assert type(result) is cupy.ndarray and not isinstance(result, np.ndarray)
    assert result.shape == np.shape(expected)
    off = np.abs(result.get().astype(complex) - np.asarray(expected, complex))
    found[name] = float(off.max())
print(json.dumps(found))
"""

NAMES = [line.split('"')[1] for line in CALLS.splitlines() if line.startswith(8 * " " + '"')]


@pytest.fixture(scope="module", autouse=True)
def _emulator() -> None:
    """Skip the test if there is no compiler or no CuPy."""
    code = "from cupy_emulator import why_unavailable; print(why_unavailable())"
    reason = run_python(code, path=[TOOLS]).stdout.strip()
    if reason != "None":
        pytest.skip(reason)


@pytest.fixture(scope="module")
def compared() -> dict[str, float]:
    """Return the differences between CuPy's results and SciPy's."""
    found: dict[str, float] = json.loads(run_python(CALLS + COMPARED, path=[TOOLS]).stdout)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_kernels_compute_what_scipy_does(name: str, compared: dict[str, float]) -> None:
    """A wrong boundary, data type or index in a kernel would show as a difference."""
    assert compared[name] <= 1e-12


def test_threads_of_a_grid_find_their_place() -> None:
    """A raw kernel runs once for each thread, also if it is an instance of a template."""
    run_python(
        """
        from cupy_emulator import install
        install()
        import cupy
        code = '''
        template <typename T>
        __global__ void fill(T* out, int width, double step) {
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
            if (x < width) out[y * width + x] = (T)(x + 10 * y + step);
        }
        '''
        module = cupy.RawModule(code=code, name_expressions=["fill<float>"])
        out = cupy.zeros((2, 5), cupy.float32)
        module.get_function("fill<float>")((2, 2), (3,), (out, 5, 0.5))
        assert out.get().tolist() == [[0.5, 1.5, 2.5, 3.5, 4.5], [10.5, 11.5, 12.5, 13.5, 14.5]]
        """,
        path=[TOOLS],
    )


def test_threads_of_a_block_wait_for_each_other() -> None:
    """Before a barrier, each thread writes a value that another thread reads after it."""
    run_python(
        """
        from cupy_emulator import install
        install()
        import cupy
        code = '''
        extern "C" __global__ void turn_around(const double* given, double* out) {
            __shared__ double kept[4];
            int first = blockIdx.x * blockDim.x;
            kept[threadIdx.x] = given[first + threadIdx.x];
            __syncthreads();
            out[first + threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
        }
        '''
        out = cupy.zeros(8)
        cupy.RawKernel(code, "turn_around")((2,), (4,), (cupy.arange(8.0), out))
        assert out.get().tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
        """,
        path=[TOOLS],
    )


def test_arrays_and_kernels_are_as_particular_as_those_of_cupy() -> None:
    """Errors that would occur on a GPU occur in the emulator too."""
    run_python(
        """
        from cupy_emulator import install
        install()
        import cupy, numpy as np, pytest
        from cupyx.scipy import ndimage
        x = cupy.arange(4.0)
        for wrong in (
            lambda: np.asarray(x),
            lambda: x + np.ones(4),
            lambda: cupy.add(x, np.ones(4)),
            lambda: ndimage.convolve1d(x, x, output=np.ones(4)),
            lambda: cupy.ElementwiseKernel("float32 x", "float32 y", "y = x")(x),
            lambda: cupy.ElementwiseKernel("T x, T y", "T z", "z = x")(x, cupy.arange(4)),
        ):
            with pytest.raises(TypeError):
                wrong()
        with pytest.raises(cupy.cuda.compiler.CompileException, match="nonsense"):
            cupy.ElementwiseKernel("T x", "T y", "y = nonsense", "wrong")(x)
        assert cupy.sum(x).shape == () and type(cupy.sum(x)) is cupy.ndarray
        """,
        path=[TOOLS],
    )


def test_what_is_not_emulated_says_so() -> None:
    """The error names the function and what it requires, and is not handled as an error of CuPy."""
    run_python(
        """
        from cupy_emulator import NotEmulated, install
        install()
        import cupy, numpy as np, pytest
        import cupyx.scipy.ndimage, cupyx.scipy.signal
        from scipy_dispatch import ndimage
        with pytest.raises(NotEmulated, match="max_len_seq is not emulated: threads of a warp"):
            cupyx.scipy.signal.max_len_seq(4)
        with pytest.raises(NotEmulated, match="numbers of 16 bits"):
            cupy.ElementwiseKernel("T x", "T y", "y = x")(cupy.ones(4, cupy.float16))
        with pytest.raises(NotEmulated, match="the module cupyx.cusolver"):
            import cupyx.cusolver

        def missing(*args, **kwargs):
            raise NotEmulated("sobel", "it would take a GPU")

        cupyx.scipy.ndimage.sobel = missing
        with pytest.raises(NotEmulated):
            ndimage.sobel(cupy.ones((4, 4)))
        """,
        path=[TOOLS],
    )


def test_it_comes_before_cupy_or_not_at_all() -> None:
    """The emulator refuses to replace CuPy if it was imported already."""
    run_python(
        """
        import sys, types
        import cupy_emulator, pytest
        sys.modules["cupy"] = cupy = types.ModuleType("cupy")
        with pytest.raises(cupy_emulator.Unavailable, match="imported already"):
            cupy_emulator.install()
        assert sys.modules["cupy"] is cupy
        """,
        path=[TOOLS],
    )


@pytest.mark.skipif(sys.platform == "win32", reason="folders have owners and modes")
def test_compiled_kernels_are_in_a_folder_of_ones_own(tmp_path: Path) -> None:
    """The emulator rejects a folder that others can write to, because it runs the files in it."""
    code = """
        import cupy_emulator, pytest
        with pytest.raises(cupy_emulator.Unavailable, match="of your own"):
            cupy_emulator.install()
    """
    folder = tmp_path / f"cupy-emulator-{getpass.getuser()}"
    folder.mkdir()
    folder.chmod(0o777)
    run_python(code, path=[TOOLS], environment={"TMPDIR": str(tmp_path)})


def test_the_tests_for_a_gpu_run_emulated() -> None:
    """Tests with emulated calls pass; tests without any are skipped."""
    done = _pytest("--emulate", "-k", "cupy_arrays and (hit_or_miss or max_len_seq)")
    assert "1 passed, 1 skipped" in done, done
    assert "because threads of a warp" in done, done


def test_nothing_is_emulated_unasked() -> None:
    """Without the option, no module of the emulator is imported."""
    done = _pytest(
        "-k", "cupy_arrays and hit_or_miss", after="print('cupy_emulator' in sys.modules)"
    )
    assert done.splitlines()[-1] == "False", done


def _pytest(*options: str, after: str = "") -> str:
    arguments = ["-q", "-m", "gpu", "-p", "no:cacheprovider", "tests/test_gpu.py", *options]
    code = f"import os, sys, pytest; os.chdir({str(BACKEND)!r}); pytest.main({arguments!r})"
    return run_python(f"{code}; {after}").stdout
