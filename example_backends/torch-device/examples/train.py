"""Trains a model on the CPU, on a device and compiled, batch by batch beside each other.

    python examples/train.py digits npy              # NumPy's arrays
    python examples/train.py text jax --steps 40     # JAX's arrays, with compiled steps too

All ways begin with the same parameters and see the same batches. The table has the largest
difference from the CPU's losses and the median time of a step; a difference that is too large is
an error.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from itertools import cycle
from typing import Any

import torch
from threadpoolctl import threadpool_limits
from torch import nn


class Task:
    """What is trained; `test` is one more column of the table, if it has a name."""

    steps, batch, rate, tolerance, test_name = 40, 64, 0.05, 1e-2, ""

    def build(self) -> nn.Module:
        raise NotImplementedError

    def batches(self, size: int) -> Iterator[tuple[torch.Tensor, ...]]:
        raise NotImplementedError

    def test(self, way: Way, cpu: Way) -> str:
        return ""


class Digits(Task):
    """A convolutional network on scikit-learn's digits; tested on digits it has not seen."""

    steps, test_name = 184, "accuracy"

    def __init__(self) -> None:
        from sklearn.datasets import load_digits

        found = load_digits()
        order = torch.randperm(len(found.target), generator=torch.Generator().manual_seed(0))
        self.x = torch.tensor(found.images, dtype=torch.float32)[order, None] / 16
        self.y = torch.tensor(found.target)[order]

    def build(self) -> nn.Module:
        return nn.Sequential(
            *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(128, 10)),
        )

    def batches(self, size: int) -> Iterator[tuple[torch.Tensor, ...]]:
        return cycle(zip(self.x[:1472].split(size), self.y[:1472].split(size), strict=True))

    def test(self, way: Way, cpu: Way) -> str:
        way.net.eval()
        with torch.no_grad():
            found = way.net(self.x[1472:].to(way.place)).argmax(1).cpu()
        return f"{(found == self.y[1472:]).float().mean():.1%}"


class MLP(Digits):
    """Two linear layers on the digits, whose steps are short."""

    steps = 46

    def build(self) -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


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


class ResNet(Task):
    """ResNet-18, 11.7 million parameters, on random pictures; gradients are compared too."""

    steps, batch, rate, test_name = 6, 4, 1e-3, "gradients"

    def build(self) -> nn.Module:
        widths = (64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)
        blocks = [
            each for before, after, stride in widths
            for each in (Block(before, after, stride), Block(after, after, 1))
        ]  # fmt: skip
        first = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)
        last = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)
        return nn.Sequential(*first, nn.MaxPool2d(3, 2, 1), *blocks, *last)

    def batches(self, size: int) -> Iterator[tuple[torch.Tensor, ...]]:
        random = torch.Generator().manual_seed(0)
        x = torch.randn(size, 3, 64, 64, generator=random)
        return cycle([(x, torch.randint(1000, (size,), generator=random))])

    def test(self, way: Way, cpu: Way) -> str:
        """Return the largest difference of a gradient, in relation to its norm."""
        pairs = zip(way.net.parameters(), cpu.net.parameters(), strict=True)
        found = [(a.grad, b.grad) for a, b in pairs if a.grad is not None and b.grad is not None]
        return f"{max(((a.cpu() - b).norm() / b.norm()).item() for a, b in found):.1e}"


class Transformer(nn.Module):
    """Two layers with causal attention over 64 letters."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, 64)
        self.places = nn.Parameter(torch.randn(64, 64) * 0.02)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(64))
        options: dict[str, Any] = {"dropout": 0.0, "activation": "gelu", "batch_first": True}
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(64, 4, 256, **options) for _ in range(2)
        )
        self.out = nn.Linear(64, letters)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.letters(x) + self.places
        for layer in self.layers:
            x = layer(x, src_mask=self.mask)
        return self.out(x)  # type: ignore[no-any-return]


class Text(Task):
    """A transformer on the text of Python's `help()`; it says what it would write next."""

    steps, batch, rate, tolerance, test_name = 300, 16, 0.1, 5e-2, "writes"

    def __init__(self) -> None:
        from pydoc_data.topics import topics

        text = "\n".join(topics[each] for each in sorted(topics)).encode("ascii", "ignore").decode()
        self.letters = sorted(set(text))
        codes = {each: number for number, each in enumerate(self.letters)}
        self.data = torch.tensor([codes[each] for each in text])

    def build(self) -> nn.Module:
        return Transformer(len(self.letters))

    def batches(self, size: int) -> Iterator[tuple[torch.Tensor, ...]]:
        """Return random pieces of the text, and the same one letter later."""
        random = torch.Generator().manual_seed(0)
        while True:
            starts = torch.randint(len(self.data) - 65, (size,), generator=random)
            pieces = torch.stack([self.data[each : each + 65] for each in starts.tolist()])
            yield pieces[:, :-1], pieces[:, 1:]

    def test(self, way: Way, cpu: Way) -> str:
        written = self.data[:64].tolist()
        with torch.no_grad():
            for _ in range(8):
                x = torch.tensor([written[-64:]], device=way.place)
                written.append(int(way.net(x)[0, -1].argmax()))
        return repr("".join(self.letters[each] for each in written[64:]))


TASKS: dict[str, type[Task]] = {"digits": Digits, "mlp": MLP, "resnet": ResNet, "text": Text}


class Way:
    """One way to train a model; with `compile`, the step is what this makes of it."""

    def __init__(
        self, name: str, place: str, task: Task, compile: Callable[..., Any] | None = None
    ) -> None:
        torch.manual_seed(0)
        self.name, self.place = name, place
        self.net = task.build().to(place)
        self.losses: list[torch.Tensor] = []
        self.times: list[float] = []
        optimizer = torch.optim.SGD(self.net.parameters(), task.rate, momentum=0.9)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            found = self.net(x)
            loss = nn.functional.cross_entropy(found.flatten(0, -2), y.flatten())
            loss.backward()
            optimizer.step()
            return loss.detach()

        self.step = compile(step) if compile else step

    def train(self, x: torch.Tensor, y: torch.Tensor) -> None:
        """Run one step, and note its loss and its time; data are on the device before."""
        x, y = x.to(self.place), y.to(self.place)
        start = time.perf_counter()
        loss = self.step(x, y).cpu()
        self.times.append(time.perf_counter() - start)
        self.losses.append(loss)

    @property
    def milliseconds(self) -> float:
        """The median time of a step, without the first ones, which compile."""
        return statistics.median(self.times[2:] or self.times) * 1e3


def train(ways: list[Way], batches: Iterable[Any], count: int) -> None:
    """Train all ways on the same batches, in turn, and show how far they are."""
    for number, (x, y) in zip(range(1, count + 1), batches, strict=False):
        for way in ways:
            way.train(x, y)
        if number % 20 == 0 or number in (1, count):
            losses = ", ".join(f"{each.name} {each.losses[-1]:.4f}" for each in ways)
            print(f"step {number}/{count}: loss {losses}", file=sys.stderr, flush=True)


def show(task: Task, ways: list[Way]) -> int:
    """Print a table, and return 1 if a loss is further from the CPU's than the tolerance."""
    cpu = ways[0]
    names = ("way", "last loss", "largest difference", "ms a step", "to the CPU", task.test_name)
    names = tuple(filter(None, names))
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    worst = 0.0
    for way in ways:
        found, wanted = torch.stack(way.losses), torch.stack(cpu.losses)
        difference = (found - wanted).abs().max().item()
        worst = max(worst, difference)
        cells = [way.name, f"{found[-1]:.4f}", f"{difference:.1e}", f"{way.milliseconds:.2f}"]
        cells += [f"{way.milliseconds / cpu.milliseconds:.2f}", task.test(way, cpu)]
        print("| " + " | ".join(filter(None, cells)) + " |", flush=True)
    if worst > task.tolerance:
        print(f"a loss differs by {worst:.1e}, more than {task.tolerance:.1e}", file=sys.stderr)
    return int(worst > task.tolerance)


def make(device: str) -> Any:
    """Make the device, and print how long that took; only that of MLX converts operators."""
    start = time.perf_counter()
    # One thread for each way: several, on a busy machine, wait for each other.
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    )
    threadpool_limits(1)
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # one operator for a whole layer
    if device == "mlx":
        import mlx_device

        made = mlx_device.make_environment()
    else:
        from torch_device.arrays import make_environment

        made = make_environment(device, conversions=False)
    seconds = time.perf_counter() - start
    libraries = "torch", "numpy", *([device] if device != "npy" else [])
    versions = ", ".join(f"{each} {version(each)}" for each in libraries)
    print(f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {versions}")
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {seconds:.2f} s to make {device}"
    )
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("device", choices=("npy", "jax", "mlx"))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--batch", type=int)
    options = parser.parse_args()
    environment = make(options.device)
    task = TASKS[options.task]()
    ways = [Way("CPU", "cpu", task), Way(options.device, options.device, task)]
    if options.device == "jax":
        print("in the first steps JAX compiles each operator: for a minute", file=sys.stderr)
        if find_spec("torch_device_jit") is not None:
            from torch_device_jit import jax_jit

            ways.append(Way("jax_jit", "jax", task, jax_jit))
    train(ways, task.batches(options.batch or task.batch), options.steps or task.steps)
    code = show(task, ways)
    print(environment.report())
    return code


if __name__ == "__main__":
    sys.exit(main())
