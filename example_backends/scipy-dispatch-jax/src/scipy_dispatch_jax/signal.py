"""Functions of `scipy_dispatch.signal`; importing this registers them."""

from __future__ import annotations

from . import _convolution, _spectrogram, _spectrum  # noqa: F401  # they register their functions
