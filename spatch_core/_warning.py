"""Shows warnings at the line of the caller, outside of this package."""

from __future__ import annotations

import sys
import warnings

from ._identifiers import GENERATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .exceptions import SpatchCoreWarning

_PACKAGE = __name__.rpartition(".")[0]


def warn_caller(warning: SpatchCoreWarning) -> None:
    """Issue `warning` at the first line outside this package.

    Parameters
    ----------
    warning : SpatchCoreWarning
        The warning to show.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(GENERATED) or _is_ours(frame.f_globals.get("__name__"))
    ):
        frame = frame.f_back
    warnings.warn_explicit(
        warning,
        type(warning),
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__") or "<unknown>",
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _is_ours(module: object) -> bool:
    if not isinstance(module, str):
        return False
    # These two modules of the standard library call back into this package.
    return (
        module == _PACKAGE
        or module.startswith(_PACKAGE + ".")
        or module.split(".")[0] in {"importlib", "functools"}
    )
