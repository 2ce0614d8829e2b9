"""CuPy arrays for `scipy_dispatch`, and NumPy arrays on the GPU for those who ask for it.

Importing this imports neither CuPy nor NumPy nor SciPy, and `scipy_dispatch` does not even
import this before a CuPy array, or ``prioritize="cupy-offload"``, asks for it.
"""

from __future__ import annotations

from ._device import set_smallest, smallest

__version__ = "0.1.0"

__all__ = ["set_smallest", "smallest"]
