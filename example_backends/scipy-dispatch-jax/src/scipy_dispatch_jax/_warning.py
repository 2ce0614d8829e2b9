"""Warnings at the user's line, not at a line of the libraries in between."""

from __future__ import annotations

import sys
import warnings

_BETWEEN = frozenset({"scipy_dispatch_jax", "scipy_dispatch", "spatch_core"})


def warn_caller(message: str) -> None:
    """Warn at the line that called the function of `scipy_dispatch`.

    Parameters
    ----------
    message : str
        The text of the warning, the same as SciPy's.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_between(frame.f_back.f_globals, frame.f_back.f_code):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level + 1)


def _is_between(namespace: dict[str, object], code: object) -> bool:
    package = str(namespace.get("__name__")).partition(".")[0]
    generated = str(getattr(code, "co_filename", "")).startswith("<dispatch")
    return package in _BETWEEN or generated
