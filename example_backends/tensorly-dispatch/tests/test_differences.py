"""What TensorLy's managers of backends get wrong, and these do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import differences
import pytest


@pytest.mark.parametrize("module", ["tensorly", "tensorly_dispatch"])
def test_tensorly_fails_and_this_does_not(module: str) -> None:
    """The same functions, with one more import."""
    program = f"import {module}, differences; print(*differences.failing())"
    variables = {"TENSORLY_BACKEND": "numpy", "PYTHONPATH": str(Path(differences.__file__).parent)}
    command = [sys.executable, "-c", program]
    output = subprocess.check_output(command, env={**os.environ, **variables}, text=True)
    names = [each.__name__ for each in differences.FUNCTIONS]
    assert output.split() == ([] if module == "tensorly_dispatch" else names)
