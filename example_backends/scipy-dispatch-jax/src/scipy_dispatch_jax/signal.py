"""Functions of `scipy_dispatch.signal`; importing this registers them."""

from __future__ import annotations

from . import (  # noqa: F401  # they register their functions
    _analytic,
    _convolution,
    _recursive,
    _resampling,
    _smoothing,
    _spectrum,
    _stft,
)
