"""Linear systems as SciPy has them, and as CuPy takes them."""

from __future__ import annotations

import sys

from ._rules import is_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

_CONTINUOUS = {"bode", "freqresp", "impulse", "lsim", "step"}
_DISCRETE = {"dbode", "dfreqresp", "dimpulse", "dlsim", "dstep"}
_PARTS = {
    "TransferFunction": ("num", "den"),
    "ZerosPolesGain": ("zeros", "poles", "gain"),
    "StateSpace": ("A", "B", "C", "D"),
}


def as_tuple(system: Any, name: str) -> Any:
    """Return the arrays of a system of SciPy's, and its sampling time if it has one.

    Parameters
    ----------
    system : object
        Such as `scipy.signal.lti` makes; what is none is returned as it is, and so is one that
        the function does not take: as arrays it would mean another one.
    name : str
        The function, such as ``"lsim"``.
    """
    if isinstance(system, list | tuple):
        return system
    signal = sys.modules.get("scipy.signal")  # which whoever has a system has imported
    for each, parts in _PARTS.items():
        kind: Any = getattr(signal, each, ())
        if isinstance(system, kind):
            if name not in (_DISCRETE if system.dt is not None else _CONTINUOUS):
                return system
            arrays = tuple(getattr(system, part) for part in parts)
            return arrays if system.dt is None else (*arrays, system.dt)
    return system


def taken(call: Call) -> str | None:
    """Refuse systems that are neither arrays nor what the function is for."""
    system = call["system"]
    if isinstance(system, list | tuple) or is_array(system):
        return None
    return f"system= is of {type(system).__name__}, which is no such for CuPy's {call.name}"
