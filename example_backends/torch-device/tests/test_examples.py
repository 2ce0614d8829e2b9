"""The programs of `examples` run: losses are those of the CPU, and nothing is converted."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
PROGRAMS = {
    "digits": ("--steps", "3"),
    # More pictures: batch normalization of two values enlarges every rounding error.
    "resnet": ("--steps", "2", "--pictures", "8", "--size", "64"),
    "steps": ("--steps", "3"),
    "text": ("--steps", "3", "--batch", "2", "--write", "2"),
}


@pytest.mark.parametrize("device", ["npy", "jax"])
@pytest.mark.parametrize("program", list(PROGRAMS))
def test_examples(program: str, device: str) -> None:
    """They end with code 1 if a loss differs, and fail if an operator converts."""
    if device == "jax":
        pytest.importorskip("jax", reason="JAX is not installed")
    if program != "text" and device == "jax":
        pytest.skip("JAX compiles the operators of convolutional networks for long")
    command = [sys.executable, str(FOLDER / f"{program}.py"), device, *PROGRAMS[program]]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not found.returncode, found.stdout + found.stderr
    assert f"| {device} |" in found.stdout
    assert "step 1/" in found.stderr or "step 2/" in found.stderr or "step 3/" in found.stderr
