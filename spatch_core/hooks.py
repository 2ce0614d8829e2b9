"""Hooks that are ready to use, and the type of what hooks get."""

from __future__ import annotations

from ._state.hooks import Call

__all__ = ["Call"]
