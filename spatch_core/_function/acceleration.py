"""The optional C extension: whether it is used, and its functions for wrappers."""

from __future__ import annotations

from os import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

prepare: Callable[..., None]
"""Attach the data for calls through C to a wrapper's code object; see the extension."""
accelerate: Callable[[FunctionType], None]
"""Let calls of a wrapper go through C from now on."""
slow_down: Callable[[FunctionType], None]
"""Let calls of a wrapper run its Python code from now on."""

protect_exit: Callable[[type], None]
"""Give a class of options an ``__exit__`` that no signal handler can keep from running."""


def _do_nothing(*_: object) -> None:
    """Replace each of the four functions where there is no extension."""


try:
    if environ.get("SPATCH_CORE_PURE", "").strip().lower() not in ("", "0", "no", "false", "off"):
        raise ImportError("SPATCH_CORE_PURE asks for pure Python")
    from ._accelerator import accelerate, prepare, protect_exit, slow_down
except ImportError:  # it was not built, or not for this version of Python
    accelerated = False
    prepare = accelerate = slow_down = protect_exit = _do_nothing
else:
    accelerated = True
