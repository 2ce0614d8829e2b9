"""Trains models on a device and on the CPU, and prints loss curves, accuracies and times.

python tools/models.py npy
python tools/models.py jax       # with compiled steps too
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

import torch
from opinfo import make
from torch import nn


def mlp() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def convolutional() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        nn.Linear(128, 10),
    )


class Transformer(nn.Module):
    """Two layers that look at rows of the picture as words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Linear(8, 32)
        self.places = nn.Parameter(torch.randn(8, 32) * 0.1)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)
        )
        self.out = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.words(x[:, 0]) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.out(x.mean(1))  # type: ignore[no-any-return]


def digits() -> Any:
    from sklearn.datasets import load_digits

    found = load_digits()
    x = torch.tensor(found.images, dtype=torch.float32)[:, None] / 16
    y = torch.tensor(found.target)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    return x[order[:1472]], y[order[:1472]], x[order[1472:]], y[order[1472:]]


def train(build: Any, place: str, epochs: int, compile: Any = None) -> Any:
    """Return the losses, the accuracy and the median time of a step in milliseconds."""
    x, y, test_x, test_y = (each.to(place) for each in digits())
    torch.manual_seed(0)
    net = build().to(place)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)

    def step(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = compile(step) if compile else step
    losses, times = [], []
    for epoch in range(epochs):
        for a, b in zip(x.split(64), y.split(64), strict=True):
            start = time.perf_counter()
            losses.append(run(a, b).cpu())
            times.append(time.perf_counter() - start)
        print(f"  {place} epoch {epoch + 1}/{epochs}: loss {losses[-1]:.4f}", file=sys.stderr)
    net.eval()
    with torch.no_grad():
        accuracy = (net(test_x).argmax(1) == test_y).float().mean().item()
    return torch.stack(losses), accuracy, sorted(times)[len(times) // 2] * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", choices=("npy", "jax"))
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # one operator for a whole layer
    environment = make(options.device)
    environment.conversions = False
    print("| model | way | accuracy | largest difference of losses | ms a step | to the CPU |")
    print("|---|---|---|---|---|---|")
    for name, build in (
        ("MLP", mlp),
        ("convolutional", convolutional),
        ("transformer", Transformer),
    ):
        losses, accuracy, base = train(build, "cpu", options.epochs)
        print(f"| {name} | CPU | {accuracy:.1%} | | {base:.2f} | 1 |", flush=True)
        ways: list[Any] = [(options.device, None)]
        if options.device == "jax":
            from torch_device import jax_jit

            ways.append(("jax_jit", jax_jit))
        for way, compile in ways:
            found, accuracy, cost = train(build, options.device, options.epochs, compile)
            difference = (found - losses).abs().max().item()
            print(
                f"| {name} | {way} | {accuracy:.1%} | {difference:.1e} | {cost:.2f} "
                f"| {cost / base:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
