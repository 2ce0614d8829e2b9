"""Limits: differences between CuPy's functions and SciPy's; affected calls are left to SciPy.

Each rule returns the reason in one sentence, or None. Most differences were found by SciPy's own
test suite, which runs against CuPy and cites the issue in CuPy's tracker.
"""

from __future__ import annotations

import numpy as np

from . import _limits_filters, _limits_interpolation, _limits_morphology, _limits_signal
from ._rules import arrays_of, is_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call
    from ._rules import Rule

_NO_WINDOWS = {"dpss", "taylor", "taylorwin"}
_PARZEN = {"parzen", "parz", "par"}

LEFT_OUT: dict[str, dict[str, str]] = {
    "ndimage": {},
    "signal": {
        "abcd_normalize": "takes other arguments than SciPy's",
        "choose_conv_method": "what is quicker on a GPU, which is another question",
        "cwt": "SciPy has it no more since 1.15",
        "hilbert2": "weights the quadrants of the spectrum otherwise (cupy#9396)",
        "lfilter_zi": "the state has another shape than SciPy's (cupy#8677)",
        "lfiltic": "the state has another shape than SciPy's (cupy#8677)",
        "place_poles": "an iteration that ends elsewhere, and a result of a class of CuPy's",
        "qmf": "SciPy has it no more since 1.15",
        "sosfilt_zi": "the state has another shape than SciPy's (cupy#8677)",
        "spline_filter": "ends of lines as symiirorder2 has them, which does not end on short ones",
        "symiirorder1": "sums that do not converge as SciPy's do, and no integers",
        "symiirorder2": "sums that do not converge as SciPy's do, and no integers",
    },
    "fft": {},
}
"""Functions that CuPy has but this backend does not offer, with the reason."""


def why_not(call: Call) -> str | None:
    """Return why CuPy cannot be used for `call`; None if it can.

    Parameters
    ----------
    call : Call
        The call, with NumPy or CuPy arrays.
    """
    unknown = call.unknown_to_cupy()
    if unknown:
        return f"CuPy's {call.name} has no {unknown[0]}="
    for rule in (*_EVERYWHERE, *RULES.get((call.module, call.name), ())):
        reason = rule(call)
        if reason:
            return reason
    return None


def _data_types(call: Call) -> str | None:
    for name in call.arrays:
        for value in arrays_of(call[name]):
            dtype = value.dtype
            known = _known(dtype) or _is_half_image(call, name, dtype)
            if isinstance(dtype, np.dtype) and value.ndim and not known:
                return (
                    f"CuPy has no arrays of {dtype}, the type of {name}=, or rounds them otherwise"
                )
    return None


def _is_half_image(call: Call, name: str, dtype: Any) -> bool:
    # SciPy has no filters of such images, with which the results could be compared.
    filters = call.module == "ndimage" and call["mode"] is not None
    return bool(filters and name in ("input", "output") and dtype == np.float16)


def _known(dtype: np.dtype[Any]) -> bool:
    """Return whether CuPy has the data type and computes with it as SciPy does."""
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    # 8 bytes: double precision
    known = dtype.kind in "biufc" and size <= 8 and dtype.isnative
    return known and dtype != np.float16


def _output_type(call: Call) -> str | None:
    output = call["output"]
    if call.module != "ndimage" or output is None or is_array(output):
        return None
    try:
        dtype = np.dtype(output)
    except TypeError:
        return None  # SciPy reports the error
    if not (_known(dtype) or _is_half_image(call, "output", dtype)):
        return f"CuPy has no arrays of {dtype}, the type of output=, or rounds them otherwise"
    return None


def _symbolic_window(call: Call) -> str | None:
    window = call["window"]
    if call.is_default("window") or not isinstance(window, str | tuple):
        return None
    name = window[0] if isinstance(window, tuple) and window else window
    if not isinstance(name, str):
        return None
    if name in _NO_WINDOWS or name.endswith(("_periodic", "_symmetric")):
        return f"CuPy has no window {name!r}"
    if name in _PARZEN:
        return f"CuPy's window {name!r} is another one than SciPy's, at some lengths"
    return None


_EVERYWHERE: tuple[Rule, ...] = (_data_types, _output_type, _symbolic_window)

RULES = {
    **_limits_filters.RULES,
    **_limits_interpolation.RULES,
    **_limits_morphology.RULES,
    **_limits_signal.RULES,
}
