"""CuPy's own kernels on the processor: a `cupy` of NumPy's arrays that compiles them with g++.

`install` puts modules called `cupy` and `cupyx` into this process. `cupy.fft` and
`cupyx.scipy.ndimage`, `signal` and `fft` among them are CuPy's own sources, unchanged, read from
the installed wheel; none of its binaries is loaded. The CUDA source of each kernel that they
start is compiled by a C++ compiler, and run, one thread after the other; threads that wait for
each other take turns.

What this shows is the arithmetic of the kernels: their types, their boundaries, what they cut
off and when. Plans of Fourier transforms are carried out by the definition of the transform;
plain operations on arrays, such as sums, sorting and linear algebra, are NumPy's in the place of
CuPy's. What cannot be shown raises `NotEmulated`.

    from emulator import install
    install()
    import cupy
    from cupyx.scipy import ndimage
"""

from __future__ import annotations

from ._errors import NotEmulated, Unavailable
from ._modules import install, why_unavailable

__all__ = ["NotEmulated", "Unavailable", "install", "why_unavailable"]
