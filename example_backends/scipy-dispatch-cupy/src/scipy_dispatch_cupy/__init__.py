"""Run functions of `scipy_dispatch` on CuPy arrays, and on request on NumPy arrays, with a GPU.

Importing this package imports neither CuPy nor NumPy nor SciPy. `scipy_dispatch` imports the
package only for a CuPy array or for ``prioritize="cupy-offload"``.
"""

from __future__ import annotations

from ._device import set_smallest, smallest

__version__ = "0.1.0"

__all__ = ["set_smallest", "smallest"]
