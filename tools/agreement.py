"""Write the docs page that lists each backend's functions and how closely they match SciPy.

    python tools/agreement.py            # writes docs/examples/agreement.md
    python tools/agreement.py --check    # reports whether it is up to date; exit code 1 if not

The page is made from the backends' descriptions and from their ``tests/tolerances.py``, which
their tests use to compare results with SciPy.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "examples" / "agreement.md"
BACKENDS = {
    "threads": "NumPy arrays, on all cores",
    "opencv": "two-dimensional NumPy arrays, by OpenCV",
    "dask": "Dask arrays, lazily",
    "jax": "JAX arrays",
    "torch": "PyTorch tensors",
    "cupy": "CuPy arrays, on a GPU",
}
"""The columns of the tables, with what each backend is for."""

HEAD = """\
# Which backend implements what, and how closely

Where a backend has a function, its result is SciPy's, bit for bit or within rounding. Each cell
is the tolerance in double precision, relative to the largest value of SciPy's result, as the
backend's tests state it. "exact" is bit-identical, **exact** also for all other data types. A
backend does not have the functions of its empty cells. Its `tests/tolerances.py` has the tolerances
of other types, with reasons; its README describes results for data with a NaN.

The column of CuPy holds for ordinary calls: the backend's README lists the known differences. No
run on a GPU has been recorded yet.

`python tools/agreement.py` writes this page.
"""

DOUBLE = ("float64", "double", "all")
"""The names of double precision in a table of tolerances."""


def columns() -> dict[str, dict[str, str]]:
    """Return the cells of each backend by function, from descriptions and stated tolerances."""
    found = {}
    for file in sorted(ROOT.glob("example_backends/scipy-dispatch-*/src/**/*.toml")):
        description = tomllib.loads(file.read_text(encoding="utf-8"))
        if description["name"] in BACKENDS:
            tests = next(parent for parent in file.parents if parent.name == "src").parent / "tests"
            stated = runpy.run_path(str(tests / "tolerances.py"))["TOLERANCES"]
            names = [
                identifier.removeprefix("scipy_dispatch.").replace(":", ".")
                for identifier in description["functions"]
                if ":" in identifier  # the rest is for `spatch-core update`
            ]
            found[description["name"]] = {name: cell(stated[name]) for name in names}
    return {name: found[name] for name in BACKENDS}


def cell(tolerances: Mapping[str, tuple[float, float, str]]) -> str:
    """Return the text for the tolerances of one function, by kinds of data."""
    if not any(rtol or atol for rtol, atol, *_ in tolerances.values()):
        return "**exact**"
    rtol, atol, *_ = [each for kind, each in tolerances.items() if kind in DOUBLE][-1]
    return f"{max(rtol, atol):.0e}" if rtol or atol else "exact"


def page(backends: Mapping[str, Mapping[str, str]]) -> str:
    """Return the text of the page."""
    exact = {name: list(cells.values()).count("**exact**") for name, cells in backends.items()}
    rows = [
        [f"`{name}`", kind, f"{len(backends[name])}", f"{exact[name]}"]
        for name, kind in BACKENDS.items()
    ]
    parts = [HEAD, table(["backend", "for", "functions", "exact"], rows)]
    names = sorted({name for cells in backends.values() for name in cells})
    for module in ("ndimage", "signal", "signal.windows", "fft"):
        inside = [name for name in names if name.rpartition(".")[0] == module]
        shown = [backend for backend, cells in backends.items() if cells.keys() & set(inside)]
        alike: dict[tuple[str, ...], list[str]] = {}
        for name in inside:
            found = tuple(backends[backend].get(name, "") for backend in shown)
            alike.setdefault(found, []).append(f"`{name.rpartition('.')[2]}`")
        rows = [[", ".join(functions), *found] for found, functions in alike.items()]
        if rows:
            parts.append(f"## `scipy_dispatch.{module}`\n")
            parts.append(table(["functions", *shown], rows))
    return "\n".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:], ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    text = page(columns())
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.relative_to(ROOT)} is out of date: run python tools/agreement.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
