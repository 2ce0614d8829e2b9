"""Trains a convolutional network on scikit-learn's digits, on the CPU and on a device.

    python examples/digits.py           # JAX's arrays, with compiled steps too
    python examples/digits.py npy       # NumPy's arrays
    python examples/digits.py --mlp     # two linear layers, whose steps are short

All ways begin with the same parameters and see the same batches. The table has the accuracy on
pictures that the network has not seen, and the largest difference to the CPU's losses.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from comparison import Way, begin, compare, parser, show, ways
from torch import nn


def build() -> nn.Module:
    """Return two convolutions with normalization, and a linear layer."""
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(128, 10)),
    )


def mlp() -> nn.Module:
    """Return two linear layers."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def digits() -> tuple[torch.Tensor, ...]:
    """Return pictures and digits to train with, and others to test with."""
    from sklearn.datasets import load_digits

    found = load_digits()
    x = torch.tensor(found.images, dtype=torch.float32)[:, None] / 16
    y = torch.tensor(found.target)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    return x[order[:1472]], y[order[:1472]], x[order[1472:]], y[order[1472:]]


def main() -> int:
    known = parser(__doc__ or "", epochs=8, steps=0)
    known.add_argument("--mlp", action="store_true", help="two linear layers")
    options = known.parse_args()
    net, title = (mlp, "MLP") if options.mlp else (build, "convolutional network")
    begin(options.device)
    x, y, test_x, test_y = digits()
    batches: list[Any] = list(zip(x.split(64), y.split(64), strict=True)) * options.epochs
    batches = batches[: options.steps or None]
    made = ways(options.device, net, lambda each: torch.optim.SGD(each, 0.05, momentum=0.9))
    compare(made, batches, len(batches), every=23)

    def accuracy(way: Way) -> str:
        way.net.eval()
        with torch.no_grad():
            found = way.net(test_x.to(way.place)).argmax(1).cpu()
        return f"{(found == test_y).float().mean():.1%}"

    return show(f"{title} on digits", made, 1e-2, accuracy=accuracy)


if __name__ == "__main__":
    sys.exit(main())
