from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import pytest

import scipy_dispatch
from spatch_core.testing import run_python


def fresh(code: str) -> Any:
    """Run code in a new interpreter and return its output, parsed as JSON."""
    return json.loads(run_python(code, options=["-W", "error"]).stdout)


def modules_after(statement: str) -> set[str]:
    """Return the modules that a new interpreter has imported after running a statement."""
    return set(fresh(f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"))


def test_importing_the_library_imports_no_scipy_and_no_numpy() -> None:
    roots = {name.partition(".")[0] for name in modules_after("import scipy_dispatch")}
    assert roots.isdisjoint({"numpy", "scipy"})


@pytest.mark.parametrize("name", ["fft", "ndimage", "signal"])
def test_a_module_imports_no_more_of_scipy_than_its_namesake(name: str) -> None:
    ours = modules_after(f"import scipy_dispatch.{name}")
    scipys = modules_after(f"import scipy.{name}")
    more = {module for module in ours - scipys if module.partition(".")[0] == "scipy"}
    assert more == set()


def test_importing_reads_no_entry_point() -> None:
    searches = fresh(
        "import json, sys\n"
        "searches = []\n"
        "class Spy:\n"
        "    def find_spec(*arguments): return None\n"
        "    def find_distributions(context): searches.append(context.name); return []\n"
        "sys.meta_path.append(Spy)\n"
        "import scipy_dispatch.fft, scipy_dispatch.ndimage, scipy_dispatch.signal\n"
        "before = len(searches)\n"
        "scipy_dispatch.fft.fft([1.0])\n"
        "print(json.dumps([before, len(searches)]))"
    )
    before, after = searches
    assert before == 0
    assert after > 0


def test_the_library_is_registered() -> None:
    try:
        importlib.metadata.distribution("scipy-dispatch")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("scipy-dispatch is on the path but not installed")
    (entry_point,) = importlib.metadata.entry_points(
        group="spatch_core.libraries", name="scipy_dispatch"
    )
    assert entry_point.load() is scipy_dispatch.system


BACKENDS = {"cupy": "cupy", "dask": "dask", "jax": "jax", "opencv": "cv2", "xarray": "xarray"}


@pytest.mark.parametrize("name", [*BACKENDS, "threads", "torch"])
def test_calls_with_numpy_arrays_import_no_backend(name: str) -> None:
    """Only its description is read, also to explain a call and to document the function."""
    if name not in scipy_dispatch.system.backends:
        pytest.skip(f"scipy-dispatch-{name} is not installed")
    package = BACKENDS.get(name, name)
    roots = fresh(
        "import json, sys\n"
        "import numpy as np\n"
        "from scipy_dispatch import fft, ndimage, signal\n"
        "ndimage.gaussian_filter(np.eye(3), 1), fft.fft(np.eye(3)), signal.detrend(np.eye(3))\n"
        "ndimage.gaussian_filter.explain(np.eye(3), 1), ndimage.gaussian_filter.__doc__\n"
        f"assert {name!r} in ndimage.gaussian_filter.backends\n"
        "print(json.dumps([each.partition('.')[0] for each in sys.modules]))"
    )
    assert not {package, f"scipy_dispatch_{name}"} & {*roots}
