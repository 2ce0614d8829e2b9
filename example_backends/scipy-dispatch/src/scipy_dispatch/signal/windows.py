"""`scipy.signal.windows`, unchanged: window generators take no array."""

from __future__ import annotations

from scipy.signal.windows import *  # noqa: F403 - whatever there is
from scipy.signal.windows import __all__  # noqa: F401 - says what that is
