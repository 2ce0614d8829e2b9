"""Rules for images: modes, constants beyond the edges, and the type of the result."""

from __future__ import annotations

import numpy as np

from ._rules import kind_of, on_host, result_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call
    from ._rules import Rule


def modes(call: Call) -> list[Any]:
    """Return the modes as a list, of one mode or one for each axis."""
    mode = call["mode"]
    return [mode] if isinstance(mode, str) or mode is None else list(mode)


def has_complex_numbers(call: Call) -> bool:
    """Return whether the image or the weights are complex."""
    return any(kind_of(call[name]) == "c" for name in ("input", "weights"))


def pads(call: Call) -> bool:
    """Return whether the image is extended by a constant other than 0."""
    around = {"constant", "grid-constant"}
    return bool(call["cval"]) and not around.isdisjoint(modes(call))


def holds(dtype: np.dtype[Any], value: Any, fractions: bool = False) -> bool:
    """Return whether an integer or boolean type can hold `value`; `fractions` are truncated."""
    if dtype.kind == "b":
        return value in (0, 1)
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max) and (fractions or float(value).is_integer())


def is_endless(call: Call) -> bool:
    """Return whether the image is extended by an infinite constant or NaN."""
    return pads(call) and not np.isfinite(call["cval"])


def left_out(name: str, value: Any) -> str:
    """Return the reason for rejecting a non-finite `value` that meets weights of 0."""
    return f"CuPy leaves out weights of 0, where SciPy's product with {name}={value} is NaN"


def solid_line(name: str) -> Rule:
    """Reject 1-d windows with gaps, for which SciPy's ranks differ from CuPy's."""

    def rule(call: Call) -> str | None:
        window = call[name]
        if window is None or np.ndim(call[call.first]) != 1:
            return None
        if not np.all(np.asarray(on_host(window))):
            return f"SciPy looks at the gaps of {name}= too, for one dimension, and CuPy does not"
        return None

    return rule


def complex_constant(call: Call) -> str | None:
    """Reject complex constants, and constants other than 0 for complex images."""
    if np.iscomplexobj(call["cval"]) or (has_complex_numbers(call) and call["cval"]):
        return "CuPy takes no cval= with complex numbers (cupy#8405)"
    return None


def whole_constant(call: Call) -> str | None:
    """Reject constants that an integer result cannot hold, such as NaN."""
    result = result_type(call["output"], call["input"])
    if result.kind in "biu" and not np.isfinite(call["cval"]):
        return f"cval={call['cval']} is no number of {result}"
    return None


def takes_nearest(call: Call) -> bool:
    """Return whether an interpolation looks up elements of a boolean image, as for masks."""
    looks_up = call["prefilter"] is not None and call["order"] == 0
    return looks_up and kind_of(call["input"]) == "b" and call["cval"] in (0, 1)


def boolean_result(call: Call) -> str | None:
    """Reject boolean results of sums."""
    if result_type(call["output"], call["input"]).kind == "b" and not takes_nearest(call):
        return "SciPy cuts fractions off, and CuPy makes True of them; pass output=float"
    return None


def complex_result(call: Call) -> str | None:
    """Reject real results of complex numbers, and complex results of real numbers."""
    output = call["output"]
    if output is None:
        return None
    given = result_type(output, call["input"])
    if has_complex_numbers(call) and given.kind != "c":
        return f"output= is of {given}, for complex numbers; pass output=complex"
    if given.kind == "c" and not has_complex_numbers(call):
        return f"output= is of {given}, which SciPy does not fill with real numbers"
    return None
