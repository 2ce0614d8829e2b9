"""Write the tables of rooms and modules into the page about the architecture.

    python tools/architecture.py            # writes docs/explanation/architecture.md
    python tools/architecture.py --check    # reports whether it is up to date; exit code 1 if not

The order is that of the import contracts in ``pyproject.toml``. The texts are the first lines
of the modules' docstrings. The rest of the page is written by hand.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "spatch_core"
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
START = "<!--- tables: written by tools/architecture.py -->"
END = "<!--- end of tables -->"


def layers(contract: str) -> list[str]:
    """Return the names in a contract about layers, lowest first; none if there is no contract."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    none: list[str] = []
    found = next((each["layers"] for each in contracts if each["id"] == contract), none)
    return [
        name.strip(" ()") for layer in reversed(found) for name in sorted(re.split(r"[|:]", layer))
    ]


def rooms() -> list[str]:
    """Return the folders of the package that have modules, lowest first."""
    return [name for name in layers("rooms") if (PACKAGE / name).is_dir()]


def modules_of(room: str) -> list[str]:
    """Return the modules of a room: those of the contract, lowest first, then others by name."""
    found = sorted(
        file.stem
        for pattern in ("*.py", "*.c")
        for file in (PACKAGE / room).glob(pattern)
        if file.stem != "__init__"
    )
    order = layers(room.strip("_"))
    return sorted(found, key=lambda name: order.index(name) if name in order else len(order))


def first_line(place: str) -> str:
    """Return the first line of the docstring of a module or room (in C, of the first comment)."""
    path = PACKAGE / place
    files = (path / "__init__.py", path.with_suffix(".py"), path.with_suffix(".c"))
    file = next(file for file in files if file.exists())
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".c":
        return text.splitlines()[0].removeprefix("/*").strip()
    docstring = ast.get_docstring(ast.parse(text))
    if not docstring:
        raise ValueError(f"{file.relative_to(ROOT)} has no docstring")
    return docstring.splitlines()[0].replace("``", "`")


def table(head: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table of two columns."""
    cells = ((first, second.replace("|", "\\|")) for first, second in rows)
    return [head, "|---|---|", *(f"| {first} | {second} |" for first, second in cells), ""]


def tables() -> str:
    """Return the generated part of the page."""
    names = layers("rooms")
    lines = table(
        "| room or module | input and output |",
        [
            (f"[`{name}/`](#room-{name})" if name in rooms() else f"`{name}`", line)
            for name in names
            for line in [first_line(name)]
        ],
    )
    for room in rooms():
        lines += [f"### Room `{room}/`", ""]
        rows = [(f"`{name}`", first_line(f"{room}/{name}")) for name in modules_of(room)]
        lines += table("| module | contents |", rows)
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page with new tables."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{tables()}\n{END}{after}"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if stale")
    check = parser.parse_args().check
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if old == new:
        return 0
    if check:
        print(f"{PAGE.relative_to(ROOT)} is out of date: run python tools/architecture.py")
        return 1
    PAGE.write_text(new, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
