"""Settings for all tests of spatch_core."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

# Processes that tests start find the modules of tests; last, so that what is installed wins.
sys.path.append(str(Path(__file__).parents[1]))

settings.register_profile("local", deadline=None, max_examples=50)
# In CI the same examples every time: a failure there is never luck.
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
