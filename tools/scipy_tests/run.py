"""Run SciPy's own tests, repeat each of their calls with a backend, and compare the outcomes.

    python tools/scipy_tests/run.py default                     # NumPy arrays, default options
    python tools/scipy_tests/run.py jax ndimage -k gaussian
    python tools/scipy_tests/run.py dask fft signal/tests/test_spectral.py

SciPy's tests run unchanged and receive SciPy's results, so they pass. Each call of a function in
`scipy.ndimage`, `scipy.signal` or `scipy.fft` is repeated with `scipy_dispatch` and the
backend's arrays. The result must have SciPy's type and shape and be within the backend's
tolerance. If SciPy raises an error, so must the backend. If SciPy itself computes the backend's
results (``default``, ``threads``), bits, warnings and errors must be identical.

The last line gives the number of calls that were compared, that SciPy and the backend both
reject, that the backend leaves to SciPy (`--left` shows why), and that were skipped: calls with
large arrays or with an `output=` that shares memory with another array, and, for arrays other
than NumPy's, long loops and values that are not finite. Those arrays are contiguous: views are
not tried. The exit code is 1 if a call differs, unless the difference is accepted with a reason
(`_known.py`).

Requires SciPy with its tests, which its wheels include, pytest, Hypothesis, and the backend.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scipy_tests._known import why_known
from scipy_tests._routes import ROUTES
from scipy_tests._watch import MODULES, Finding, Watch

OF_REPLACING = ("fft/tests/test_backend.py", "fft/tests/test_basic.py::test_multiprocess")
"""Tests that require SciPy's own functions, because they pickle or identify them."""
ENDED = {1: "tests failed on SciPy's own results: see above", 5: "there are no such tests"}
"""The meaning of pytest's exit codes here."""
SHOWN = 3
"""The number of examples shown for calls of a function that differ in the same way."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("backend", choices=ROUTES, help="the backend that makes the calls")
    parser.add_argument(
        "tests",
        nargs="*",
        default=MODULES,
        metavar="TEST",
        help="a folder or file below SciPy's, such as ndimage or fft/tests/test_basic.py",
    )
    parser.add_argument("-k", default="", metavar="EXPRESSION", help="as in pytest")
    parser.add_argument(
        "--left",
        action="store_true",
        help="list the calls that were left to SciPy, with the reasons",
    )
    options = parser.parse_intermixed_args(arguments)
    route = ROUTES[options.backend]()
    try:
        route.prepare()
    except ImportError as error:
        parser.error(f"{options.backend} cannot be tried here: {type(error).__name__}: {error}")
    watch = Watch(route)
    watch.replace()
    code = _run_tests(options.tests, options.k)
    if options.left:
        _show_left(watch)
    by_reason: dict[str | None, list[Finding]] = defaultdict(list)
    for each in watch.findings:
        by_reason[why_known(route.name, each)].append(each)
    unknown = by_reason.pop(None, [])
    _show_findings(unknown)
    known = Counter({reason: len(found) for reason, found in by_reason.items()})
    for reason, count in known.most_common():
        print(f"known: {count} calls, {reason}")
    print(
        f"{watch.compared.total()} calls compared, {watch.refused.total()} that SciPy refuses, "
        f"{sum(each.total() for each in watch.left_to_scipy.values())} left to SciPy, "
        f"{watch.left_out.total()} left out: {len(unknown)} differ"
    )
    if code:
        print(ENDED.get(code, f"pytest ended with {code}: see above"))
    return 1 if unknown or code else 0


def _run_tests(tests: Sequence[str], expression: str) -> int:
    """Run some of SciPy's tests in this process; return pytest's exit code."""
    import pytest
    import scipy

    root = Path(scipy.__path__[0])
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "pytest.ini"
        # SciPy's wheels lack its pytest settings; without a file, pytest would use this
        # project's.
        settings.write_text("[pytest]\n", encoding="utf-8")
        arguments = [
            "-qq",
            "--tb=short",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-k",
            expression,
        ]
        arguments += ["-c", str(settings), "--rootdir", str(root), "--confcutdir", str(root)]
        arguments += [f"--deselect={each}" for each in OF_REPLACING]
        return int(pytest.main([*arguments, *(str(root / each) for each in tests)]))


def _show_left(watch: Watch) -> None:
    for function, reasons in sorted(watch.left_to_scipy.items()):
        print(f"\n{function}: {reasons.total()} calls left to SciPy")
        for reason, count in reasons.most_common():
            print(f"  {count}: {reason}")


def _show_findings(findings: Sequence[Finding]) -> None:
    by_function: dict[str, list[Finding]] = defaultdict(list)
    for each in findings:
        by_function[each.function].append(each)
    for function, found in sorted(by_function.items()):
        print(f"\n{function}: {len(found)} calls differ")
        # Messages about similar differences begin alike.
        seen: Counter[str] = Counter()
        for each in found:
            way = re.sub(r"[-+\d.()]|\de|\dj", "", each.what)[:30]
            seen[way] += 1
            if seen[way] <= SHOWN:
                print(f"  {each.what}\n    {each.call}\n    {each.test}")


if __name__ == "__main__":
    sys.exit(main())
