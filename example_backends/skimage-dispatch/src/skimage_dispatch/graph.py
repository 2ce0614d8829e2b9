"""`skimage.graph`, open to backends."""

from __future__ import annotations

from ._expose import expose

expose(globals())
