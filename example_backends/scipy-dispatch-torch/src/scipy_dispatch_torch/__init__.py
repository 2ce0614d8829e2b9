"""PyTorch tensors for `scipy_dispatch`: results stay on their device, and have gradients."""

from __future__ import annotations

__version__ = "0.1.0"
