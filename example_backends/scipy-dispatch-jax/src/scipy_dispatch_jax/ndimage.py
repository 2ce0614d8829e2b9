"""Functions of `scipy_dispatch.ndimage`; importing this registers them."""

from __future__ import annotations

from . import (  # noqa: F401  # they register their functions
    _filters,
    _interpolation,
    _measurements,
    _morphology,
    _order,
    _regions,
)
