"""Implementations of the functions of `scipy_dispatch.ndimage`, as the table has them."""

from __future__ import annotations

from ._implement import implement_all

implement_all("scipy_dispatch.ndimage", globals())
