"""`scipy.ndimage` with every function that takes an array open to backends."""

from __future__ import annotations

from ._dispatch import system as _system
from ._table import NDIMAGE as _TABLE

_TABLE.expose(_system, globals())

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any:
        """Tell type checkers that every name is there."""
