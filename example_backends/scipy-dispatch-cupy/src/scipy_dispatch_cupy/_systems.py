"""Linear systems as SciPy has them, and as CuPy takes them."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PARTS = {
    "TransferFunction": ("num", "den"),
    "ZerosPolesGain": ("zeros", "poles", "gain"),
    "StateSpace": ("A", "B", "C", "D"),
}


def as_tuple(system: Any) -> Any:
    """Return the arrays of a system of SciPy's, and its sampling time if it has one.

    Parameters
    ----------
    system : object
        Such as `scipy.signal.lti` makes; what is none is returned as it is.
    """
    if isinstance(system, list | tuple):
        return system
    signal = sys.modules.get("scipy.signal")  # which whoever has a system has imported
    for name, parts in _PARTS.items():
        kind: Any = getattr(signal, name, ())
        if isinstance(system, kind):
            arrays = tuple(getattr(system, part) for part in parts)
            return arrays if system.dt is None else (*arrays, system.dt)
    return system
