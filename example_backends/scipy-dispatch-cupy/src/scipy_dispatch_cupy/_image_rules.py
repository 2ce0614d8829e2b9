"""Rules for images: modes, what is put around an image, and of which type the result is."""

from __future__ import annotations

import numpy as np

from ._rules import kind_of, of_cupy, result_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call
    from ._rules import Rule

_MODES = {
    *("reflect", "constant", "nearest", "mirror", "wrap"),
    *("grid-mirror", "grid-constant", "grid-wrap"),
}


def modes(call: Call) -> list[Any]:
    """Return the modes, of which there may be one for each axis."""
    mode = call["mode"]
    return [mode] if isinstance(mode, str) or mode is None else list(mode)


def known_mode(call: Call) -> str | None:
    """Refuse modes that SciPy does not have."""
    for mode in modes(call):
        if mode is not None and mode not in _MODES:
            return f"mode={mode!r} is none of SciPy's, and CuPy may know it; see SciPy's docs"
    return None


def has_complex_numbers(call: Call) -> bool:
    """Whether the image or the weights are complex."""
    return any(kind_of(call[name]) == "c" for name in ("input", "weights"))


def pads(call: Call) -> bool:
    """Whether numbers other than 0 are put around the image."""
    around = {"constant", "grid-constant"}
    return bool(call["cval"]) and not around.isdisjoint(modes(call))


def holds(dtype: np.dtype[Any], value: Any, fractions: bool = False) -> bool:
    """Whether a type of whole numbers has `value`, or what is left without its fraction."""
    if dtype.kind == "b":
        return value in (0, 1)
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max) and (fractions or float(value).is_integer())


def is_endless(call: Call) -> bool:
    """Whether numbers that are not finite are put around the image."""
    return pads(call) and not np.isfinite(call["cval"])


def left_out(name: str, value: Any) -> str:
    """Return the reason not to take a `value` that is multiplied with weights of 0."""
    return f"CuPy leaves out weights of 0, where SciPy's product with {name}={value} is NaN"


def unseen(name: str) -> str:
    """Return the reason not to take an array whose elements matter."""
    return f"{name}= is an array of CuPy's, which is not looked at; pass one of NumPy's"


def solid_line(name: str) -> Rule:
    """Refuse windows with gaps along a line, which SciPy's ranks take as other windows."""

    def rule(call: Call) -> str | None:
        window = call[name]
        if window is None or np.ndim(call[call.first]) != 1:
            return None
        if of_cupy(window):
            return unseen(name)
        if not np.all(np.asarray(window)):
            return f"SciPy looks at the gaps of {name}= too, for one dimension, and CuPy does not"
        return None

    return rule


def complex_constant(call: Call) -> str | None:
    """Refuse numbers around an image that are complex, or for complex images."""
    if np.iscomplexobj(call["cval"]) or (has_complex_numbers(call) and call["cval"]):
        return "CuPy takes no cval= with complex numbers (cupy#8405)"
    return None


def whole_constant(call: Call) -> str | None:
    """Refuse what whole numbers have not, such as NaN."""
    result = result_type(call["output"], call["input"])
    if result.kind in "biu" and not np.isfinite(call["cval"]):
        return f"cval={call['cval']} is no number of {result}"
    return None


def boolean_result(call: Call) -> str | None:
    """Refuse booleans as the result of sums."""
    if result_type(call["output"], call["input"]).kind == "b":
        return "SciPy cuts fractions off, and CuPy makes True of them; pass output=float"
    return None


def complex_result(call: Call) -> str | None:
    """Refuse complex numbers as real ones, and real as complex ones."""
    output = call["output"]
    if output is None:
        return None
    given = result_type(output, call["input"])
    if has_complex_numbers(call) and given.kind != "c":
        return f"output= is of {given}, for complex numbers; pass output=complex"
    if given.kind == "c" and not has_complex_numbers(call):
        return f"output= is of {given}, which SciPy does not fill with real numbers"
    return None
