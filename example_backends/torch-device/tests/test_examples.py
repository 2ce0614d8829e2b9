"""`examples/train.py` trains: losses are those of the CPU, and nothing is converted."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "examples" / "train.py"
TASKS = {
    "digits": ("--steps", "3"),
    "mlp": ("--steps", "3"),
    # More pictures: batch normalization of two values enlarges every rounding error.
    "resnet": ("--steps", "2", "--batch", "8"),
    "text": ("--steps", "3", "--batch", "2"),
}


@pytest.mark.parametrize("device", ["npy", "jax"])
@pytest.mark.parametrize("task", list(TASKS))
def test_tasks(task: str, device: str) -> None:
    """They end with code 1 if a loss differs, and fail if an operator converts."""
    if device == "jax":
        pytest.importorskip("jax", reason="JAX is not installed")
        if task != "text":
            pytest.skip("JAX compiles the operators of convolutional networks for long")
    command = [sys.executable, str(PROGRAM), task, device, *TASKS[task]]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not found.returncode, found.stdout + found.stderr
    assert f"| {device} |" in found.stdout
    assert "step 1/" in found.stderr
