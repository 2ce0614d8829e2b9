"""Count for which functions of the array API standard other packages keep units.

python tests/peers.py        # prints the table of tests/README.md
"""

from __future__ import annotations

import importlib.metadata
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from standard import CALLS, X, Y  # isort: skip


def quantity() -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return how this package makes lengths, and the power of the metre in a result."""
    from duck_array import Quantity

    return lambda values: Quantity(values, "m"), lambda result: result.unit.powers.get("m", 0)


def pint() -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the same for pint."""
    from pint import UnitRegistry

    metre = UnitRegistry().metre
    return lambda values: values * metre, lambda result: result.dimensionality.get("[length]", 0)


def unyt() -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the same for unyt."""
    from unyt import unyt_array
    from unyt.dimensions import length

    def power(result: Any) -> Any:
        return result.units.dimensions.as_powers_dict().get(length, 0)

    return lambda values: unyt_array(values, "m"), power


def outcome(name: str, make: Callable[[Any], Any], power_of: Callable[[Any], Any]) -> str:
    """Say what became of the unit: ``"kept"``, ``"lost"``, ``"wrong"`` or ``"raises"``."""
    function, expected = CALLS[name]
    x, y = make(X), make(Y)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(x, y, x / y)
    except Exception:  # noqa: BLE001  # whatever a package raises where it has no rule
        return "raises"
    try:
        power = float(power_of(result))
    except AttributeError:
        return "kept" if expected in (None, 0) else "lost"
    if expected is None:
        return "kept"
    return "kept" if abs(power - float(expected)) < 1e-9 else "wrong"


def main() -> None:
    """Print the table."""
    lines = ["| package | unit kept | lost | wrong | raises |", "|---|---|---|---|---|"]
    for maker in (quantity, pint, unyt):
        found = {name: outcome(name, *maker()) for name in CALLS}
        title = "duck_array"
        if maker is not quantity:
            title = f"{maker.__name__} {importlib.metadata.version(maker.__name__)}"
        cells = []
        for each in ("kept", "lost", "wrong", "raises"):
            names = [name for name, said in found.items() if said == each]
            shown = ": " + ", ".join(names) if names and each != "kept" else ""
            cells.append(f"{len(names)}{shown}")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    head = f"NumPy {np.__version__}, {len(CALLS)} functions\n\n"
    sys.stdout.write(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
