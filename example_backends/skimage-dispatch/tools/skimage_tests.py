"""Run scikit-image's own tests with its functions dispatched, and backends prioritized.

    python tools/skimage_tests.py scikit-image-0.26.0/tests                 # all
    python tools/skimage_tests.py scikit-image-0.26.0/tests filters color   # some folders

The tests are in scikit-image's source distribution; they run unchanged. Three runs: with nothing
chosen, with threads, which share each call however small, and with Dask, for which each array of a
call becomes a Dask array of small chunks. The tests that do not pass are run again without any of
this. One that passes then is a difference, unless ``expected_differences.json`` gives its reason.
The module is a plugin of pytest, too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "tools"))

import library_tests

HERE, TOOLS = Path(__file__).parent, Path(library_tests.__file__).parent
RUN = "SKIMAGE_TESTS_RUN"
_DASK = {"DASK_ARRAY__CHUNK_SIZE": "2KiB", "DASK_SCIPY_DISPATCH__COMPUTE": "True"}
EXPECTED = HERE / "expected_differences.json"
"""By run and reason, the tests that differ."""
RUNS: dict[str, tuple[list[str], dict[str, str]]] = {
    "default": ([], {}),
    "threads": ([], {"SKIMAGE_DISPATCH_PRIORITIZE": "threads"}),
    "dask": (["--spatch-library=skimage_dispatch", "--spatch-backend=convert:dask"], _DASK),
}
"""For each run, the arguments of pytest and environment variables."""


def pytest_configure() -> None:
    """Put the dispatchables in place of scikit-image's functions; let threads share all calls."""
    run = os.environ.get(RUN)
    if run in ("default", "threads"):  # otherwise the kit's own plugin does so
        import skimage_dispatch
        from spatch_core.testing.backend_run import replace_functions

        for name in skimage_dispatch.__all__:
            getattr(skimage_dispatch, name)
        replace_functions(skimage_dispatch.system)
    if run == "threads":
        from scipy_dispatch_threads import set_workers
        from scipy_dispatch_threads._split import Policy

        set_workers(2)
        forced = Policy(2, smallest=1, slabs=3)
        Policy.current = lambda: forced  # type: ignore[method-assign]


def run(root: Path, tests: Iterable[str], name: str = "") -> dict[str, str]:
    """Run tests in one of the `RUNS`, or plainly; return the outcome of each."""
    options, variables = RUNS[name] if name else ([], {})
    path = [str(TOOLS), str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    outcomes, printed = library_tests.run(
        "skimage",
        list(tests),
        ["-n2", "--dist=worksteal", "-p", "skimage_tests", *options],
        {**variables, RUN: name, "PYTHONPATH": os.pathsep.join(path)},
        root,
    )
    if log := os.environ.get("SKIMAGE_TESTS_LOG"):
        Path(log, f"{name or 'plain'}.txt").write_text(printed)
    return outcomes


def differences(root: Path, outcomes: dict[str, str]) -> dict[str, str]:
    """Return the tests that do not pass with a backend, and do without."""
    doubtful = [test for test, outcome in outcomes.items() if outcome not in ("passed", "xfailed")]
    plain = run(root, doubtful) if doubtful else {}
    return {test: outcomes[test] for test, outcome in plain.items() if outcome == "passed"}


def main(arguments: Sequence[str]) -> int:
    """Run all, print the counts and the differences; return 1 if there are any."""
    if not arguments:
        sys.exit(__doc__)
    root = Path(arguments[0]).resolve()
    tests = [f"skimage/{folder}" for folder in arguments[1:] or [""]]
    expected: dict[str, dict[str, list[str]]] = json.loads(EXPECTED.read_text())
    code = 0
    for name in os.environ.get("SKIMAGE_TESTS_RUNS", " ".join(RUNS)).split():
        started = time.monotonic()
        outcomes = run(root, tests, name)
        took = time.monotonic() - started
        sys.stdout.write(f"{name}: {library_tests.counts(outcomes)} in {took:.0f} s\n")
        known = {test for tests in expected.get(name, {}).values() for test in tests}
        found = differences(root, outcomes)
        wrong = {test: outcome for test, outcome in found.items() if test not in known}
        wrong |= dict.fromkeys(known & outcomes.keys() - found.keys(), "no difference")
        for test, outcome in wrong.items():
            sys.stdout.write(f"  {test}: {outcome}\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
