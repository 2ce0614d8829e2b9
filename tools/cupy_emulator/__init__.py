"""An emulator of CuPy on the processor: CuPy's own kernels, compiled by g++, on NumPy arrays.

`install` adds modules named `cupy` and `cupyx` to this process. Some of them (`cupy.fft` and
`cupyx.scipy.ndimage`, `signal` and `fft`) run CuPy's own unchanged sources, read from the
installed wheel. None of its binaries is loaded. Each kernel that these sources launch is
compiled from its CUDA source by a C++ compiler. Its threads run in sequence, or take turns if
they synchronize.

The emulator reproduces the arithmetic of the kernels: data types, boundaries and truncation.
Fourier transforms are computed from the definition. Plain array operations, such as sums,
sorting and linear algebra, are NumPy's instead of CuPy's. Anything else raises `NotEmulated`.

    from cupy_emulator import install
    install()
    import cupy
    from cupyx.scipy import ndimage
"""

from __future__ import annotations

from ._errors import NotEmulated, Unavailable
from ._modules import install, why_unavailable

__all__ = ["NotEmulated", "Unavailable", "install", "why_unavailable"]
