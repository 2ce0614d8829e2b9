"""Write the numbers of attacks, and of attacks that were withstood, into the page Reliability.

    ATTACK_SCALE=20 pytest tests/attacks -m "" --junitxml=attacks-3.13.xml
    python tools/reliability.py attacks-3.13.xml attacks-3.10.xml

Each file has the counts of one interpreter, which becomes a column. Each module of the suite
becomes a table, titled by the first line of the docstring, and each test becomes a row.
"""

from __future__ import annotations

import argparse
import ast
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
SUITE = ROOT / "tests" / "attacks"
PAGE = ROOT / "docs" / "explanation" / "reliability.md"
START = "<!--- figures: written by tools/reliability.py -->"
END = "<!--- end of figures -->"


def counts(report: Path) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield the module, the attack, the interpreter, and the counts of tried and withstood attacks.

    Parameters
    ----------
    report
        A JUnit report of pytest.
    """
    for case in ET.parse(report).iter("testcase"):
        found = {each.get("name"): each.get("value", "") for each in case.iter("property")}
        if "tried" in found:
            module = case.get("classname", "").rpartition(".")[2]
            tried, held = int(found["tried"]), int(found["held"])
            yield module, attack(case.get("name", "")), found["python"], tried, held


def attack(test: str) -> str:
    """Return the name of an attack, from the name of its test.

    >>> attack("test_a_newcomer_that_declares_order[1-2]")
    'a newcomer that declares order'
    """
    return test.partition("[")[0].removeprefix("test_").replace("_", " ")


def title(module: str) -> str:
    """Return the first line of the docstring of a module of the suite."""
    tree = ast.parse((SUITE / f"{module}.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or module).splitlines()[0].rstrip(".")


def tables(reports: Iterable[Path]) -> str:
    """Return a table for each module; parameters of one test are summed."""
    modules: dict[str, dict[str, dict[str, tuple[int, int]]]] = {}
    for report in reports:
        for module, name_of_row, python, tried, held in counts(report):
            row = modules.setdefault(module, {}).setdefault(name_of_row, {})
            before = row.get(python, (0, 0))
            row[python] = before[0] + tried, before[1] + held
    pythons = sorted({name for rows in modules.values() for row in rows.values() for name in row})
    lines = []
    total: dict[str, tuple[int, int]] = dict.fromkeys(pythons, (0, 0))
    for module, rows in sorted(modules.items()):
        lines += [f"**{title(module)}** (`{module}`)", "", *head("attack", pythons)]
        for name_of_row, row in rows.items():
            lines.append(line(name_of_row, [row.get(name) for name in pythons]))
            for name, (tried, held) in row.items():
                total[name] = total[name][0] + tried, total[name][1] + held
        lines.append("")
    return "\n".join([*lines, *head("", pythons), line("all", list(total.values())), ""])


def head(first: str, pythons: Sequence[str]) -> list[str]:
    """Return the first two lines of a table."""
    return [f"| {' | '.join([first, *pythons])} |", "|---|" + "---:|" * len(pythons)]


def line(first: str, cells: Sequence[tuple[int, int] | None]) -> str:
    """Return a row: withstood of tried, or an empty cell for an attack that was not tried."""
    texts = ["" if cell is None else f"{cell[1]:,} of {cell[0]:,}" for cell in cells]
    return f"| {' | '.join([first.replace('|', chr(92) + '|'), *texts])} |"


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", nargs="+", type=Path, help="a JUnit report of tests/attacks")
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    _, after = rest.split(END)
    figures = tables(parser.parse_args().report)
    PAGE.write_text(f"{before}{START}\n\n{figures}\n{END}{after}", encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
