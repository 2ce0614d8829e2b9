"""Write the table of modules into the page about the architecture.

    python tools/architecture.py    # writes docs/explanation/architecture.md

The order is that of the import contract in ``pyproject.toml``. The texts are the first lines
of the modules' docstrings. The rest of the page is written by hand.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "spatch_core"
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
START = "<!--- table: written by tools/architecture.py -->"
END = "<!--- end of the table -->"


def modules() -> list[str]:
    """Return the modules and packages in the contract about the whole package, lowest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return next(each["layers"][::-1] for each in contracts if each["id"] == "modules")


def first_line(name: str) -> str:
    """Return the first line of the docstring of a module or package."""
    file = PACKAGE / f"{name}.py"
    if not file.is_file():
        file = PACKAGE / name / "__init__.py"
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    if not docstring:
        raise ValueError(f"{file.relative_to(ROOT)} has no docstring")
    return docstring.splitlines()[0].replace("``", "`").replace("|", "\\|")


def table() -> str:
    """Return the generated part of the page."""
    # Outside of the order: neither imports any of the others.
    comment = (PACKAGE / "_accelerator.c").read_text(encoding="utf-8").partition("/* ")[2]
    rows = [
        f"| `__init__.py` | {first_line('__init__')} Imports the public names on first use. |",
        f"| `_accelerator.c` | {comment.splitlines()[0]} Optional. |",
    ]
    rows += [
        f"| `{name}{'' if (PACKAGE / f'{name}.py').is_file() else '/'}` | {first_line(name)} |"
        for name in modules()
    ]
    return "\n".join(["| module | contents |", "|---|---|", *rows])


def page(text: str) -> str:
    """Return the page with a new table."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
