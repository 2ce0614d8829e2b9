"""Switch the current backend of a library, as users of TensorLy and Ivy know it."""

from __future__ import annotations

from .attributes import attributes
from .switch import Switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .classes import describe_class
    from .namespaces import namespace

__all__ = ["Switch", "attributes", "describe_class", "namespace"]


def __getattr__(name: str) -> object:
    # Imported on first use: a library that only has a switch needs none of these.
    if name == "describe_class":
        from .classes import describe_class

        return describe_class
    if name == "namespace":
        from .namespaces import namespace

        return namespace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
