"""Implementations of functions of `scipy_dispatch.ndimage` for NumPy arrays, on the GPU."""

from __future__ import annotations

from ._implement import implement_all

implement_all("ndimage", globals())
