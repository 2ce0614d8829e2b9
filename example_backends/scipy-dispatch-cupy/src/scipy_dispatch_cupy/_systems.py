"""Linear systems: conversion from SciPy's classes to the tuples that CuPy accepts."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTINUOUS = {"bode", "freqresp", "impulse", "lsim", "step"}
_DISCRETE = {"dbode", "dfreqresp", "dimpulse", "dlsim", "dstep"}
_PARTS = {
    "TransferFunction": ("num", "den"),
    "ZerosPolesGain": ("zeros", "poles", "gain"),
    "StateSpace": ("A", "B", "C", "D"),
}


def as_tuple(system: Any, name: str) -> Any:
    """Return the arrays of a SciPy system as a tuple, with the sampling time if it is discrete.

    Parameters
    ----------
    system : object
        A system such as `scipy.signal.lti`. Other values are returned unchanged. So is a system
        that the function does not support, since its arrays would describe a different system.
    name : str
        The function, such as ``"lsim"``.
    """
    if isinstance(system, list | tuple):
        return system
    # A caller that has a system has imported this module.
    signal = sys.modules.get("scipy.signal")
    for each, parts in _PARTS.items():
        kind: Any = getattr(signal, each, ())
        if isinstance(system, kind):
            if name not in (_DISCRETE if system.dt is not None else _CONTINUOUS):
                return system
            arrays = tuple(getattr(system, part) for part in parts)
            return arrays if system.dt is None else (*arrays, system.dt)
    return system
