"""The optional C extension: whether it is there and wanted, and what it does to wrappers."""

from __future__ import annotations

from os import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

prepare: Callable[..., None]
"""Tell what C needs to know about a wrapper; see the extension."""
accelerate: Callable[[FunctionType], None]
"""Let calls of a wrapper go through C from now on."""
slow_down: Callable[[FunctionType], None]
"""Let calls of a wrapper run its Python code from now on."""


def _do_nothing(*_: object) -> None:
    """Stand in for each of the three where there is no C."""


try:
    if environ.get("SPATCH_CORE_PURE", "").strip().lower() not in ("", "0", "no", "false", "off"):
        raise ImportError("SPATCH_CORE_PURE asks for pure Python")
    from ._accelerator import accelerate, prepare, slow_down
except ImportError:  # it is not there, or is not the one of this version
    accelerated = False
    prepare = accelerate = slow_down = _do_nothing
else:
    accelerated = True
