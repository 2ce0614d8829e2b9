"""Write `_map.py`: CuPy's functions with SciPy's names, and their signatures.

    python tools/write_map.py                  from the installed CuPy, which need not import
    python tools/write_map.py --cupyx PATH     from a folder, a wheel or a source distribution
    python tools/write_map.py --check          write nothing, end with 1 if the file would change

No GPU and no CUDA are needed. `--check` also compares the map with the functions themselves if
`cupyx.scipy` can be imported.
"""

# ruff: noqa: T201 - it says what it did

from __future__ import annotations

import argparse
import ast
import difflib
import inspect
import sys
from importlib import import_module
from pathlib import Path

from read_cupyx import MODULES, Sources, signature

TARGET = Path(__file__).parents[1] / "src" / "scipy_dispatch_cupy" / "_map.py"
HEADER = '''"""Which functions CuPy has under SciPy's names.

Written by ``tools/write_map.py``, do not edit. For each function CuPy's signature, and the
parameters that `scipy_dispatch` dispatches on.
"""

# ruff: noqa: E501 - signatures are as long as they are

from __future__ import annotations

CUPY_VERSION = "{version}"

FUNCTIONS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {{
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupyx", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sources = Sources(options.cupyx) if options.cupyx else Sources.installed()
    if sources is None:
        print("CuPy is not installed; name its wheel, sources or folder with --cupyx")
        return 2
    text = text_of(sources)
    if not options.check:
        TARGET.write_text(text, encoding="utf-8")
        print(f"wrote {TARGET.name} from CuPy {sources.version}")
        return 0
    current = TARGET.read_text(encoding="utf-8")
    difference = list(
        difflib.unified_diff(
            current.splitlines(), text.splitlines(), TARGET.name, f"CuPy {sources.version}", n=0
        )
    )
    print("\n".join(difference) or f"{TARGET.name} is what CuPy {sources.version} has")
    faults = [] if options.cupyx else imported_faults()
    print("\n".join(faults))
    return int(bool(difference or faults))


def text_of(sources: Sources) -> str:
    """Return the new text of `_map.py`."""
    lines = [HEADER.format(version=sources.version)]
    for module, table in library_tables().items():
        functions = sources.functions(MODULES[module], table)
        lines.append(f'    "{module}": {{\n')
        for name in sorted(functions):
            arrays = _tuple(list(table[name]))
            lines.append(f'        "{name}": (\n            "{signature(functions[name])}",\n')
            lines.append(f"            {arrays},\n        ),\n")
        lines.append("    },\n")
    return "".join([*lines, "}\n"])


def library_tables() -> dict[str, dict[str, list[str]]]:
    """Return the dispatchable functions of each module with their dispatch parameters."""
    tables = import_module("scipy_dispatch._table")
    return {
        module: {name: list(each) for name, each in getattr(tables, module.upper())[0].items()}
        for module in MODULES
    }


def imported_faults() -> list[str]:
    """Compare the map with the functions of each module that can be imported."""
    sys.path.insert(0, str(TARGET.parents[1]))
    functions_of = import_module("scipy_dispatch_cupy._map").FUNCTIONS
    faults = []
    for module, functions in functions_of.items():
        try:
            real = import_module(MODULES[module])
        except ImportError as error:
            print(f"{MODULES[module]} cannot be imported here, its sources were read: {error}")
            continue
        for name, (text, _) in functions.items():
            expected = _parameters(text)
            found = list(inspect.signature(getattr(real, name)).parameters)
            if expected != found:
                faults.append(f"{module}.{name}: the map has {expected}, the function {found}")
        print(f"{MODULES[module]} was imported, and has the {len(functions)} functions")
    return faults


def _parameters(text: str) -> list[str]:
    arguments = ast.parse(f"def function{text}: ...").body[0].args  # type: ignore[attr-defined]
    found = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs]
    return [each.arg for each in [*found, arguments.kwarg] if each is not None]


def _tuple(names: list[str]) -> str:
    inside = ", ".join(f'"{name}"' for name in names)
    return f"({inside},)" if len(names) == 1 else f"({inside})"


if __name__ == "__main__":
    sys.exit(main())
