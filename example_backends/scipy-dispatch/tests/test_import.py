from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from typing import Any

import pytest

import scipy_dispatch


def fresh(code: str) -> Any:
    """Run code in a new interpreter and return its output, parsed as JSON."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
