from __future__ import annotations

import sys
from pathlib import Path

# Tests share modules of data, which pytest's importlib mode does not add to the path.
sys.path.insert(0, str(Path(__file__).parent))


def pytest_report_header() -> str:
    """Report how many functions of the installed SciPy are dispatchable."""
    import scipy

    from scipy_dispatch import fft, ndimage, signal, system

    owners = [identifier.partition(":")[0] for identifier in system.functions]
    counts = ", ".join(
        f"{owners.count(module.__name__)} in {module.__name__}" for module in (ndimage, signal, fft)
    )
    return f"SciPy {scipy.__version__}; dispatchable functions: {counts}"
