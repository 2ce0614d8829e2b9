"""The calls of SciPy's tests are made with a backend too, and what differs is shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("scipy_dispatch", reason="the calls are made with scipy-dispatch")
pytest.importorskip("scipy.ndimage.tests", reason="this SciPy came without its tests")


from spatch_core.testing import run_python, write_distribution

TOOLS = Path(__file__).parents[2] / "tools"

CALLS = """
import numpy as np, pytest
from scipy import ndimage, signal
X = np.arange(6.0)

def test_right():
    assert ndimage.uniform_filter1d(X, 3).tolist()[1:3] == [1, 2]

def test_values():
    assert ndimage.sobel(X).tolist()[1:3] == [2, 2]

def test_type():
    assert ndimage.laplace(X).dtype == float

def test_error():
    ndimage.gaussian_filter(X, 1)

def test_refused():
    with pytest.raises(RuntimeError, match="no footprint"):
        ndimage.median_filter(X)

def test_written():
    x, output = np.arange(3.0), np.zeros(3)
    ndimage.correlate(x, [1, 2, 1], output)
    assert (x[0], output[1]) == (0, 4)

def test_warns_more():
    ndimage.gaussian_laplace(X, 1)

def test_filled():
    output = np.zeros(6)
    ndimage.maximum_filter(X, 3, output=output)

def test_shared():
    x = np.arange(8.0)
    ndimage.uniform_filter1d(x[:-1], 3, output=x[1:])

def test_in_turn():
    signal.decimate(np.arange(100.0), 2)
"""
WRONG = """
import warnings
import numpy as np, scipy.ndimage

def uniform_filter1d(*args, **kwargs):
    return scipy.ndimage.uniform_filter1d(*args, **kwargs)

def sobel(*args, **kwargs):
    result = scipy.ndimage.sobel(*args, **kwargs)
    result[2] += 1e-9
    return result

def laplace(*args, **kwargs):
    return scipy.ndimage.laplace(*args, **kwargs).astype("f4")

def gaussian_filter(*args, **kwargs):
    raise ValueError("sigh")

def median_filter(*args, **kwargs):
    return 0

def gaussian_laplace(*args, **kwargs):
    warnings.warn("sigh", RuntimeWarning)
    return scipy.ndimage.gaussian_laplace(*args, **kwargs)

def maximum_filter(*args, **kwargs):
    return scipy.ndimage.maximum_filter(*args, **kwargs).copy()

def correlate(input, weights, output):
    scipy.ndimage.correlate(input, weights, output)
    input[0] = -1
    return output
"""
ASKING = """
from scipy_tests import run
from scipy_tests._routes import Asked

class Wrong(Asked):
    name = "wrong"

run.ROUTES["wrong"] = Wrong
print("ended with", run.main(["wrong", {tests!r}, "--left"]))
"""


def program(*arguments: str) -> tuple[int, list[str]]:
    """Return the exit code, and what is printed besides the progress of the tests."""
    done = subprocess.run(
        [sys.executable, str(TOOLS / "scipy_tests" / "run.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, [line for line in done.stdout.splitlines() if "%]" not in line]


@pytest.mark.parametrize("backend", ["default", "threads"])
def test_nothing_differs_where_scipy_computes(backend: str) -> None:
    """The same bits, warnings and errors, whatever is installed and wherever arrays are cut."""
    code, lines = program(backend, "ndimage/tests/test_splines.py", "-k", "not complex")
    assert code == 0, lines
    found = re.fullmatch(r"(\d+) calls compared, .*: 0 differ", lines[-1])
    assert found
    assert int(found[1]) > 20


def test_every_kind_of_difference_is_found(tmp_path: Path) -> None:
    """With the function, the call and the test; the tests themselves pass."""
    names = re.findall(r"^def (\w+)", WRONG, re.MULTILINE)
    functions = "".join(
        f'[functions."scipy_dispatch.ndimage:{name}"]\nfunction = "wrong:{name}"\n'
        for name in names
    )
    backend = 'name = "wrong"\nprimary_types = ["numpy:ndarray"]\nrequires_opt_in = true\n'
    write_distribution(
        tmp_path / "site",
        "wrong",
        entry_points={"scipy_dispatch.backends": {"wrong": "wrong_files:backend.toml"}},
        files={
            "wrong.py": WRONG,
            "wrong_files/__init__.py": "",
            "wrong_files/backend.toml": backend + functions,
        },
    )
    tests = tmp_path / "test_calls.py"
    tests.write_text(CALLS, encoding="utf-8")
    asking = ASKING.format(tests=str(tests))
    printed = run_python(asking, path=[tmp_path / "site", TOOLS]).stdout
    shown = {
        "ndimage.sobel": "2.000000001 for 2.0",
        "ndimage.laplace": "float32 for float64",
        "ndimage.gaussian_filter": "raises ValueError: sigh",
        "ndimage.median_filter": "returns int, and SciPy raises RuntimeError",
        "ndimage.gaussian_laplace": r"warns \['RuntimeWarning: sigh'\], and SciPy \[\]",
        "ndimage.maximum_filter": "another array than the one that was to be filled",
        "ndimage.correlate": "an argument has -1.0 for 0.0",
    }
    for name, what in shown.items():
        assert re.search(f"^{name}: 1 calls differ\n  .*{what}", printed, re.MULTILINE), printed
    assert "float64[0.0, 1.0, 2.0], [1, 2, 1]" in printed
    assert "::test_written" in printed
    assert "ndimage.uniform_filter1d" not in printed
    assert (
        "signal.decimate: 1 calls left to SciPy\n  1: the backend has no such function" in printed
    )
    assert (
        "7 calls compared, 1 that SciPy refuses, 1 left to SciPy, 1 left out: 7 differ" in printed
    )
    assert printed.endswith("ended with 1\n")


def test_what_cannot_be_run_is_said() -> None:
    """And is no success."""
    code, lines = program("default", "ndimage/tests/test_splines.py", "-k", "nothing")
    assert (code, lines[-1]) == (1, "there are no such tests")
    code, lines = program("default", "ndimage/tests/test_nothing.py")
    assert (code, lines[-1]) == (1, "pytest ended with 4: see above")
