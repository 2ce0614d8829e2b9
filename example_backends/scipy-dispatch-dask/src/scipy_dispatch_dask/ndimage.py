"""Implementations of the functions of `scipy_dispatch.ndimage` that are in the table."""

from __future__ import annotations

from ._table import implement_all

implement_all("scipy_dispatch.ndimage", globals())
