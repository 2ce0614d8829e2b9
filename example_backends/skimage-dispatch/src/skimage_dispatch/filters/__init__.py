"""`skimage.filters`, open to backends."""

from __future__ import annotations

from .._expose import expose
from . import rank as rank

expose(globals())
