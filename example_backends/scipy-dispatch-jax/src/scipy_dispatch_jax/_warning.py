"""Warnings at the user's line, not at a line of the libraries in between."""

from __future__ import annotations

from spatch_core import backend_utils


def warn_caller(message: str) -> None:
    """Warn at the line that called the function of `scipy_dispatch`.

    Parameters
    ----------
    message : str
        The text of the warning, the same as SciPy's.
    """
    backend_utils.warn_caller(message, UserWarning, "scipy_dispatch")
