"""Make each call of SciPy's own tests with a backend as well, and compare what comes of it.

    python tools/scipy_tests/run.py default                     # NumPy's arrays, nothing asked for
    python tools/scipy_tests/run.py jax ndimage -k gaussian
    python tools/scipy_tests/run.py cupy --emulate fft signal/tests/test_spectral.py

SciPy's tests run as they are, on SciPy's results, so that they pass; what they call in
`scipy.ndimage`, `scipy.signal` and `scipy.fft` is called in `scipy_dispatch` too, with arrays
of the backend's. A result must be of SciPy's type and shape, and within the backend's
tolerance; what SciPy refuses must be refused. Where nothing but SciPy computes (``default``,
``threads``), the bits, the warnings and the errors must be the same.

The last line says how many calls were compared, how many SciPy and the backend both refuse,
how many the backend leaves to SciPy (`--left` says why), and how many were left out: large
arrays, an `output=` that shares memory with another array, long loops, and, with other arrays
than NumPy's, numbers that are not finite. Those arrays have no gaps: views are not tried. The
exit code is 1 where a call differs, unless that is known and has a reason (`_known.py`).

Needs SciPy with its tests, as wheels have them, pytest and Hypothesis, and the backend.
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
"""Tests for which a function must be SciPy's own: it is pickled, or found by its identity."""
ENDED = {1: "tests failed on SciPy's own results: see above", 5: "there are no such tests"}
"""What pytest's exit codes mean here."""
SHOWN = 3
"""How many calls of a function that differ in the same way are shown."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("backend", choices=ROUTES, help="what makes the calls")
    parser.add_argument(
        "tests",
        nargs="*",
        default=MODULES,
        metavar="TEST",
        help="a folder or file below SciPy's, such as ndimage or fft/tests/test_basic.py",
    )
    parser.add_argument("-k", default="", metavar="EXPRESSION", help="as pytest has it")
    parser.add_argument("--emulate", action="store_true", help="CuPy's kernels on the processor")
    parser.add_argument("--left", action="store_true", help="say what was left to SciPy, and why")
    options = parser.parse_intermixed_args(arguments)
    route = ROUTES[options.backend]()
    if options.emulate and not options.backend.startswith("cupy"):
        parser.error(f"--emulate is for CuPy, not for {options.backend}")
    try:
        route.prepare(emulate=options.emulate)
    except Exception as error:  # noqa: BLE001 - CuPy without a GPU has an error of its own
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
    """Run tests of SciPy's in this process; return pytest's exit code."""
    import pytest
    import scipy

    root = Path(scipy.__path__[0])
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "pytest.ini"
        # SciPy's own settings are not in its wheels; without any, this project's would count.
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
        # Those that differ in the same way begin alike.
        seen: Counter[str] = Counter()
        for each in found:
            way = re.sub(r"[-+\d.()]|\de|\dj", "", each.what)[:30]
            seen[way] += 1
            if seen[way] <= SHOWN:
                print(f"  {each.what}\n    {each.call}\n    {each.test}")


if __name__ == "__main__":
    sys.exit(main())
