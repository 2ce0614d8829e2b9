"""Write the type stubs of the library's modules from the installed SciPy.

    python tools/write_stubs.py [--check]

SciPy ships no types, and the library's functions also take and return arrays of other libraries,
so that array types could not be named. The stubs therefore declare only the parameters of each
function and that it is dispatchable.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scipy

from scipy_dispatch._table import FFT, NDIMAGE, SIGNAL, ModuleTable

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1] / "src" / "scipy_dispatch"
STUBS: dict[str, tuple[ModuleTable, Path]] = {
    "ndimage": (NDIMAGE, PACKAGE / "ndimage.pyi"),
    "signal": (SIGNAL, PACKAGE / "signal" / "__init__.pyi"),
    "signal.windows": (ModuleTable({}, frozenset()), PACKAGE / "signal" / "windows.pyi"),
    "fft": (FFT, PACKAGE / "fft.pyi"),
}
RELEASE = ".".join(scipy.__version__.split(".")[:2])
HEADER = "# Written by tools/write_stubs.py from SciPy "
NOT_LOWERCASE = {"signal": "N802, N803", "fft": "N803"}
LINE_LENGTH = 100


def render(module: str) -> str:
    """Return the text of a module's stub.

    Parameters
    ----------
    module : str
        A key of `STUBS`.

    Returns
    -------
    str
        The stub for the installed SciPy.
    """
    table, path = STUBS[module]
    scipy_module = importlib.import_module(f"scipy.{module}")
    names = sorted(scipy_module.__all__)
    unchanged = [
        name
        for name in sorted(names, key=import_order)
        if name not in table.dispatched and not inspect.ismodule(getattr(scipy_module, name))
    ]
    dots = "." if path.name != "__init__.pyi" else ".."
    lines = [f"{HEADER}{RELEASE}; do not edit."]
    if module in NOT_LOWERCASE:
        lines.append(f"# ruff: noqa: {NOT_LOWERCASE[module]} -- SciPy's names")
    if table.dispatched:
        lines += ["from typing import Any", ""]
    lines += [f"from scipy.{module} import {name} as {name}" for name in unchanged]
    if table.dispatched:
        lines += ["", f"from {dots}_dispatch import system"]
    if "windows" in table.unchanged:
        lines.append("from . import windows as windows")
    if table.dispatched:
        lines.append("")
    for name in names:
        if name in table.dispatched:
            lines.append("@system.dispatchable()")
            lines += definition(name, getattr(scipy_module, name))
    return "\n".join(lines) + "\n"


def import_order(name: str) -> tuple[bool, bool, str]:
    """Return a sort key: constants first, then classes, then functions, as linters sort imports."""
    return not name.isupper(), not name[0].isupper(), name


def definition(name: str, function: Any) -> list[str]:
    """Return the lines of a stub that declares a function with SciPy's parameters."""
    parameters = list(rendered_parameters(inspect.signature(function)))
    line = f"def {name}({', '.join(parameters)}) -> Any: ..."
    if len(line) <= LINE_LENGTH:
        return [line]
    return [f"def {name}(", *(f"    {each}," for each in parameters), ") -> Any: ..."]


def rendered_parameters(signature: inspect.Signature) -> Iterator[str]:
    """Yield the parameters, each annotated as ``Any``, with ``...`` for each default."""
    keyword_only = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "*"
        stars = ""
        if parameter.kind is parameter.VAR_POSITIONAL:
            keyword_only = True
            stars = "*"
        elif parameter.kind is parameter.VAR_KEYWORD:
            stars = "**"
        default = "" if parameter.default is parameter.empty else " = ..."
        yield f"{stars}{parameter.name}: Any{default}"


def main() -> int:
    """Write the stubs, or with ``--check`` print how they differ.

    Returns
    -------
    int
        The exit status: 1 if a stub is out of date.
    """
    parser = argparse.ArgumentParser(description="Write the stubs from the installed SciPy.")
    parser.add_argument("--check", action="store_true", help="write nothing, show differences")
    is_check = parser.parse_args().check
    status = 0
    for module, (_, path) in STUBS.items():
        text = render(module)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if is_check and text != old:
            status = 1
            sys.stdout.writelines(
                difflib.unified_diff(
                    old.splitlines(True), text.splitlines(True), path.name, f"SciPy {RELEASE}"
                )
            )
        elif not is_check:
            path.write_text(text, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
