"""Run functions of `scipy_dispatch` on CuPy arrays.

Importing this package imports neither CuPy nor NumPy nor SciPy. `scipy_dispatch` imports the
package only for a CuPy array.
"""

from __future__ import annotations

__version__ = "0.1.0"
