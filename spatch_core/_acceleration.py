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
    if environ.get("SPATCH_CORE_PURE", "0") not in ("", "0"):
        raise ImportError("SPATCH_CORE_PURE asks for pure Python")
    from . import _accelerator
except ImportError:
    accelerated = False
    prepare = accelerate = slow_down = _do_nothing
else:
    accelerated = True
    prepare = _accelerator.prepare
    accelerate = _accelerator.accelerate
    slow_down = _accelerator.slow_down
