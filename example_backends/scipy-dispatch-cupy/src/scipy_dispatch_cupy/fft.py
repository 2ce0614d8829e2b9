"""Implementations of the functions of `scipy_dispatch.fft` for CuPy arrays."""

from __future__ import annotations

from ._implement import implement_all

implement_all("fft", globals())
