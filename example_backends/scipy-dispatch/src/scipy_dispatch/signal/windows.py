"""`scipy.signal.windows`, unchanged: window functions take no array."""

from __future__ import annotations

from scipy.signal.windows import *  # noqa: F403 - all public names of the installed SciPy
from scipy.signal.windows import __all__  # noqa: F401 - re-exported; lists those names
