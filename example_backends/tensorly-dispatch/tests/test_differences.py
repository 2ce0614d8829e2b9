"""What TensorLy's managers of backends get wrong, and these do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import differences
import pytest


@pytest.mark.parametrize("module", ["tensorly", "tensorly_dispatch"])
def test_tensorly_fails_and_this_does_not(module: str) -> None:
    """The same functions, with one more import."""
    output = subprocess.check_output(
        [sys.executable, differences.__file__, module],
        env={**os.environ, "TENSORLY_BACKEND": "numpy"},
    )
    names = [each.__name__ for each in differences.FUNCTIONS]
    assert json.loads(output) == ([] if module == "tensorly_dispatch" else names)
