import os

import pytest
import torch


@pytest.fixture(scope="session")
def device() -> str:
    return os.environ.get("DEVICE", "npy")


@pytest.fixture(scope="session")
def made(device: str):
    if device == "npy":
        from torch_device.arrays.numpy_device import make_environment
    else:
        from torch_device.arrays.jax_device import make_environment
    torch.set_num_threads(1)
    return make_environment(conversions=False)


@pytest.fixture(autouse=True)
def environment(made):
    made.conversions = False
    made.report().reset()
    torch.manual_seed(0)
    return made
