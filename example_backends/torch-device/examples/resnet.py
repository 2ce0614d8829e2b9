"""Runs ResNet-18 forward and backward, on the CPU and on a device.

    python examples/resnet.py           # JAX's arrays, with compiled steps too
    python examples/resnet.py npy       # NumPy's arrays

The weights and the pictures are random: what is compared are losses and gradients.
"""

from __future__ import annotations

import sys

import torch
from comparison import Way, begin, compare, parser, show, ways
from torch import nn


class Block(nn.Module):
    """Two convolutions beside a short cut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            *(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after)),
            nn.ReLU(inplace=True),
            *(nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after)),
        )
        self.short = nn.Sequential()
        if stride != 1 or before != after:
            self.short.append(nn.Conv2d(before, after, 1, stride, bias=False))
            self.short.append(nn.BatchNorm2d(after))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.relu(self.convolutions(x) + self.short(x), inplace=True)


def resnet18(classes: int = 1000) -> nn.Module:
    """Return the network: 11.7 million parameters for 1000 classes."""
    first = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    blocks = [
        Block(before, after, stride)
        for before, after, stride in (
            *((64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1)),
            *((128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)),
        )
    ]
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes)]
    return nn.Sequential(*first, nn.MaxPool2d(3, 2, 1), *blocks, *last)


def main() -> int:
    options = parser(__doc__ or "", steps=6, pictures=4, size=64).parse_args()
    begin(options.device)
    random = torch.Generator().manual_seed(0)
    x = torch.randn(options.pictures, 3, options.size, options.size, generator=random)
    y = torch.randint(1000, (options.pictures,), generator=random)
    made = ways(options.device, resnet18, lambda each: torch.optim.SGD(each, 1e-3, momentum=0.9))
    compare(made, [(x, y)] * options.steps, options.steps, every=1)
    wanted = [each.grad for each in made[0].net.parameters()]

    def gradients(way: Way) -> str:
        """Return the largest difference of a gradient, in relation to its norm."""
        found = [each.grad for each in way.net.parameters()]
        pairs = zip(found, wanted, strict=True)
        return f"{max(((a.cpu() - b).norm() / b.norm()).item() for a, b in pairs):.1e}"

    return show("ResNet-18", made, 1e-2, gradients=gradients)


if __name__ == "__main__":
    sys.exit(main())
