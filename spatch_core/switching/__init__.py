"""Switch backends as users of TensorLy and Ivy know it: the current backend of a library."""

from __future__ import annotations

from .attributes import attributes
from .switch import Switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .namespaces import namespace

__all__ = ["Switch", "attributes", "namespace"]


def __getattr__(name: str) -> object:
    # Imported on first use: few libraries with attributes need it, but their users.
    if name == "namespace":
        from .namespaces import namespace

        return namespace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
