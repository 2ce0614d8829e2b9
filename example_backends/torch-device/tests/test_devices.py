"""A process has one device: the tests of `tests/device` run in a process for each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "device"


@pytest.mark.parametrize("device", ["npy", "jax"])
def test_device(device: str) -> None:
    """All tests of a device pass; of parametrized ones a part, unless ``EVERY=1``."""
    if device == "jax":
        pytest.importorskip("jax", reason="JAX is not installed")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FOLDER)]
    # JAX compiles each operator for each shape.
    variables = {"EVERY": "24", **os.environ, "DEVICE": device}
    variables = {key: each for key, each in variables.items() if not key.startswith("PYTEST_")}
    found = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_process_has_one_device() -> None:
    """A second device is refused, and so is a name that PyTorch has."""
    code = """
from torch_device import BackendEnvironment
for name, kind in (("numpy", ValueError), ("one", None), ("two", RuntimeError)):
    try:
        BackendEnvironment(name, list, list, list)
    except (ValueError, RuntimeError) as error:
        assert type(error) is kind, error
    else:
        assert kind is None
"""
    subprocess.run([sys.executable, "-c", code], check=True)


LEAST_BACKEND = """
import numpy as np, torch
from torch_device import BackendEnvironment

class Box:
    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

environment = BackendEnvironment(
    "box", Box, lambda t: Box(t.detach().numpy().copy()), lambda b: torch.tensor(b.array)
)
environment.register_default_decompositions()
"""


def test_a_checkpoint_on_the_least_backend() -> None:
    """The CPU draws its random numbers, whose state is kept; a state of its own is asked for."""
    code = """
from torch.nn.functional import dropout
from torch.utils.checkpoint import checkpoint
for reentrant in (False, True):
    x = torch.ones(50, device="box", requires_grad=True)
    y = checkpoint(lambda x: dropout(x, 0.5), x, use_reentrant=reentrant)
    y.sum().backward()
    assert torch.equal(x.grad.cpu(), y.detach().cpu())
with torch.random.fork_rng():
    first = torch.rand(3, device="box").cpu()
assert torch.equal(torch.rand(3, device="box").cpu(), first)

@environment.register_op(torch.ops.aten.uniform.default)
def uniform(x, low=0.0, high=1.0):
    return Box(np.random.uniform(low, high, x.shape).astype(x.dtype))

try:
    checkpoint(lambda x: x + 1, x, use_reentrant=False)
except NotImplementedError as error:
    assert "set get_state, set_state and seed of environment.module" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", LEAST_BACKEND + code], check=True)
