"""Show why `scipy.fft` is not in this backend: ``workers=`` changes bits.

    python benchmarks/fft_workers.py

SciPy's transforms process several lines at once, and the remaining lines one by one, in code
that rounds differently. The number of remaining lines depends on how lines are divided among
workers.
"""

# ruff: noqa: T201 - it prints what it finds

from __future__ import annotations

import numpy as np
import scipy
from scipy import fft


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"SciPy {scipy.__version__}; calls whose bits differ with workers=2")
    for dtype in ("float32", "float64", "complex64", "complex128"):
        different = []
        for length in (360, 720, 1000, 1440, 2000, 4000, 4096):
            for lines in (17, 33, 101):
                array = rng.standard_normal((lines, length)).astype(dtype)
                one, two = fft.fft(array), fft.fft(array, workers=2)
                if one.tobytes() != two.tobytes():
                    different.append(f"{lines} x {length}")
        print(f"  {dtype}: {', '.join(different) or 'none of those tried'}")


if __name__ == "__main__":
    main()
