"""Times steps of three networks on the CPU, on a device and compiled, and the registration.

python examples/steps.py npy
python examples/steps.py jax --steps 100
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import comparison
import torch
from torch import nn

NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], float]] = {
    "MLP": (
        lambda: nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)),
        (64, 64),
        1e-4,
    ),
    "convolutional network": (
        lambda: nn.Sequential(
            *(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(128, 10)),
        ),
        (64, 1, 8, 8),
        1e-3,
    ),
    "transformer layer": (
        lambda: nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True),
        (8, 32, 64),
        1e-3,
    ),
}
"""Networks, the shapes of their batches, and how far the losses may be from the CPU's."""


def main() -> int:
    options = comparison.parser(__doc__, steps=30).parse_args()
    start = time.perf_counter()
    comparison.begin(options.device)
    registration = time.perf_counter() - start
    names = ["torch", "numpy", *(["jax"] if options.device == "jax" else [])]
    versions = ", ".join(f"{each} {version(each)}" for each in names)
    print(f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {versions}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {registration:.2f} s to make")
    print(f"the device {options.device}, with the imports of its libraries")
    worst = 0
    for name, (build, shape, tolerance) in NETWORKS.items():
        torch.manual_seed(1)
        x = torch.randn(shape)
        y = torch.randint(10, shape[:-1] if len(shape) == 3 else shape[:1])
        optimizer = partial(torch.optim.SGD, lr=0.05, momentum=0.9)
        ways = comparison.ways(options.device, build, optimizer)
        comparison.compare(ways, [(x, y)] * options.steps, options.steps, options.steps)
        worst |= comparison.show(f"\n{name}", ways, tolerance)
    return worst


if __name__ == "__main__":
    sys.exit(main())
