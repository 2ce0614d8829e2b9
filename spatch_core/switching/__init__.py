"""Switch backends as users of TensorLy and Ivy know it: the current backend of a library."""

from __future__ import annotations

from .attributes import attributes
from .switch import Switch

__all__ = ["Switch", "attributes"]
