"""The optional C extension, which speeds the wrappers up; without it they run their Python code."""

from __future__ import annotations

from os import environ

__all__ = ["accelerate", "accelerated", "tables_type"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType
    from typing import Any

tables_type: Any
"""The class of the data for calls through C, `Tables` in the extension; None without it."""
accelerate: Callable[[FunctionType], None]
"""Let calls of a wrapper that has such data in its closure go through C."""


def _do_nothing(_: FunctionType) -> None:
    """Replace `accelerate` where there is no extension."""


try:
    if environ.get("SPATCH_CORE_PURE", "").strip().lower() not in ("", "0", "no", "false", "off"):
        raise ImportError("SPATCH_CORE_PURE asks for pure Python")
    from . import _accelerator
except ImportError:  # it was not built, or not for this version of Python
    accelerate, tables_type = _do_nothing, None
else:
    accelerate, tables_type = _accelerator.accelerate, _accelerator.Tables

accelerated = tables_type is not None
