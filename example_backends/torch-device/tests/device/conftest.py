import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_map

from torch_device.arrays import make_environment

EVERY = int(os.environ.get("EVERY", "1"))
"""Of each parametrized test, one of so many parts runs, the first one among them; above 1, no test
that is marked as long."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    counts: Counter[str] = Counter()
    kept, left_out = [], []
    for each in items:
        function = each.nodeid.partition("[")[0]
        is_long = EVERY > 1 and each.get_closest_marker("long") is not None
        (left_out if is_long or counts[function] % EVERY else kept).append(each)
        counts[function] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


@pytest.fixture(scope="session")
def device() -> str:
    return os.environ.get("DEVICE", "npy")


@pytest.fixture(scope="session")
def made(device: str):
    torch.set_num_threads(1)
    return make_environment(device, conversions=False)


@pytest.fixture
def agree(device: str) -> Callable[..., None]:
    """A function that computes on the CPU and on the device, and compares the results."""

    def agree(compute: Callable[[str], Any], **tolerances: float) -> None:
        found = []
        for place in ("cpu", device):
            torch.manual_seed(0)
            found.append(tree_map(lambda each: each.detach().cpu(), compute(place)))
        torch.testing.assert_close(found[1], found[0], equal_nan=True, **tolerances)

    return agree


@pytest.fixture(autouse=True)
def environment(made):
    made.conversions = False
    made.report().reset()
    torch.manual_seed(0)
    return made
