"""Write the docs page that lists each backend's functions and how closely they match SciPy.

    python tools/agreement.py            # writes docs/examples/agreement.md
    python tools/agreement.py --check    # reports whether it is up to date; exit code 1 if not

The page is generated from the backends' descriptions and from their ``tests/tolerances.py``,
which their tests use to compare results with SciPy.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
"""The columns of the tables, with a heading for each backend."""

HEAD = """\
# Which backend implements what, and how closely

The tables show, for each function of `scipy_dispatch` and each backend that implements it, the
tolerance of the result in double precision, relative to the largest value of SciPy's result.
**exact** means bit-identical results for every data type. A letter links to [the tolerances for
other types, with the reason](#what-the-letters-mean). The tests of each backend compare each of its
functions with SciPy by these tolerances. If a backend does not support an argument, it defers with
the reason, and SciPy runs. The backends' READMEs describe the results for data with a NaN, where
SciPy's own result depends on the order of its comparisons.

The columns of CuPy have the tolerances of its tests on a machine with a GPU; no such run has been
recorded yet. They hold for ordinary calls: the backend's README lists the known differences.

`python tools/agreement.py` writes this page from the descriptions and from `tests/tolerances.py` of
each backend.
"""


class Tolerance(NamedTuple):
    """The tolerance for an element: relative to the largest value, plus an absolute part."""

    rtol: float
    atol: float
    reason: str

    @property
    def is_exact(self) -> bool:
        return not (self.rtol or self.atol)


Kinds = tuple[tuple[str, Tolerance], ...]


@dataclass(frozen=True)
class Column:
    """A column of the tables: a backend with its functions and their tolerances."""

    name: str
    functions: Mapping[str, Kinds]  # "ndimage.sobel" -> its tolerances
    letters: Mapping[Kinds, str]

    def cell(self, function: str) -> str:
        """Return the text of the cell for `function`."""
        kinds = self.functions.get(function)
        if kinds is None:
            return ""
        if all(tolerance.is_exact for _, tolerance in kinds):
            return "exact"
        tolerance = next(
            each for name, each in reversed(kinds) if name in ("float64", "double", "all")
        )
        shown = "exact" if tolerance.is_exact else f"{max(tolerance[:2]):.0e}"
        letter = self.letters[kinds]
        return f"{shown} [{letter}](#{self.name}-{letter})"


def columns() -> list[Column]:
    """Return the columns, read from the descriptions and tolerances in the checkout."""
    found = {}
    for file in sorted(ROOT.glob("example_backends/scipy-dispatch-*/src/**/*.toml")):
        description = tomllib.loads(file.read_text(encoding="utf-8"))
        if description["name"] in BACKENDS:
            tests = next(parent for parent in file.parents if parent.name == "src").parent / "tests"
            found[description["name"]] = _column(description, tests / "tolerances.py")
    return [found[name] for name in BACKENDS]


def _column(description: Mapping[str, Any], file: Path) -> Column:
    data = runpy.run_path(str(file))
    functions = {}
    for identifier in description["functions"]:
        module, _, name = identifier.removeprefix("scipy_dispatch.").partition(":")
        if name:
            tolerances = data["TOLERANCES"][f"{module}.{name}"]
            functions[f"{module}.{name}"] = tuple(
                (kind, Tolerance(*tolerance)) for kind, tolerance in tolerances.items()
            )
    inexact = [kinds for kinds in functions.values() if not all(each.is_exact for _, each in kinds)]
    letters = {kinds: _letter(number) for number, kinds in enumerate(dict.fromkeys(inexact))}
    return Column(description["name"], functions, letters)


def _letter(number: int) -> str:
    return (
        chr(ord("a") + number) if number < 26 else _letter(number // 26 - 1) + _letter(number % 26)
    )


def page(backends: Sequence[Column]) -> str:
    """Return the text of the page."""
    parts = [HEAD]
    names = sorted({name for each in backends for name in each.functions})
    for module in ("ndimage", "signal", "signal.windows", "fft"):
        rows = [name for name in names if name.rpartition(".")[0] == module]
        if rows:
            parts.append(f"## `scipy_dispatch.{module}`\n")
            cells = [
                [f"`{name.rpartition('.')[2]}`", *(b.cell(name) for b in backends)] for name in rows
            ]
            parts.append(table(["function", *(each.name for each in backends)], cells))
    parts.append("## What the letters mean\n")
    parts.append(
        "The first number is relative to the largest value of SciPy's result, the second is\n"
        "absolute; for integer results it is a count of units.\n"
    )
    for each in backends:
        parts.append(f"### {each.name}: {BACKENDS[each.name]}\n")
        exact = sum(kinds not in each.letters for kinds in each.functions.values())
        parts.append(f"{len(each.functions)} functions, {exact} of them exact.\n")
        for kinds, letter in each.letters.items():
            parts.append(f"({each.name}-{letter})=\n**{letter}**\n")
            parts.append(table(["data", "relative", "absolute", "why"], _rows(kinds)))
    return "\n".join(parts)


def _rows(kinds: Kinds) -> Iterable[list[str]]:
    """Return a row for each tolerance, with the data types that it applies to."""
    for tolerance in dict.fromkeys(tolerance for _, tolerance in kinds):
        names = ", ".join(kind for kind, each in kinds if each == tolerance)
        yield [names, *(f"{number:g}" for number in tolerance[:2]), tolerance.reason]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


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
