import pytest

# Not an error of a test: these tests have a step of their own on one Python.
pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("jax", reason="JAX is not installed")

import torch

DEVICE = "jax"


@pytest.fixture(scope="session")
def made():
    from torch_device.arrays.jax_device import make_environment

    torch.set_num_threads(1)
    return make_environment(DEVICE)


@pytest.fixture(autouse=True)
def environment(made):
    made.report().reset()
    torch.manual_seed(0)
    return made
