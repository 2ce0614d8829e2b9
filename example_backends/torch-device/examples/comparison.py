"""Trains one model on the CPU, on a device and compiled, batch by batch beside each other."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import torch
from threadpoolctl import threadpool_limits
from torch import nn


class Way:
    """One way to train the model: all begin with the same parameters.

    Parameters
    ----------
    name : str
        What the table calls it.
    place : str
        The device.
    build : callable
        Returns the model.
    optimizer : callable
        Takes parameters.
    compile : callable, optional
        Takes a step, and returns what runs instead.
    """

    def __init__(
        self,
        name: str,
        place: str,
        build: Callable[[], nn.Module],
        optimizer: Callable[..., torch.optim.Optimizer],
        compile: Callable[..., Any] | None = None,
    ) -> None:
        torch.manual_seed(0)
        self.name, self.place = name, place
        self.net = build().to(place)
        self.losses: list[torch.Tensor] = []
        self.times: list[float] = []
        changes = optimizer(self.net.parameters())

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            changes.zero_grad()
            found = self.net(x)
            loss = nn.functional.cross_entropy(found.flatten(0, -2), y.flatten())
            loss.backward()
            changes.step()
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


def ways(
    device: str,
    build: Callable[[], nn.Module],
    optimizer: Callable[..., torch.optim.Optimizer],
) -> list[Way]:
    """Return the CPU, the device, and for JAX's device the compiled step, where it is installed."""
    made = [Way("CPU", "cpu", build, optimizer), Way(device, device, build, optimizer)]
    if device == "jax" and find_spec("torch_device_jit") is not None:
        from torch_device_jit import jax_jit

        made.append(Way("jax_jit", device, build, optimizer, jax_jit))
    return made


def compare(all_ways: list[Way], batches: Iterable[Any], count: int, every: int) -> None:
    """Train all ways on the same batches, in turn, and show how far they are."""
    if any(each.place == "jax" for each in all_ways):
        text = "in the first steps JAX compiles each operator: a minute on a slow machine"
        print(text, file=sys.stderr, flush=True)
    started = time.perf_counter()
    is_terminal = sys.stderr.isatty()
    for number, (x, y) in enumerate(batches, 1):
        for way in all_ways:
            way.train(x, y)
        losses = ", ".join(f"{each.name} {each.losses[-1]:.4f}" for each in all_ways)
        seconds = time.perf_counter() - started
        text = f"step {number}/{count}, {seconds:.0f} s: loss {losses}"
        is_last = number % every == 0 or number in (1, count)
        if is_terminal or is_last:
            start, end = ("\r", "\x1b[K") if is_terminal else ("", "")
            print(start + text, end=end + "\n" * is_last, file=sys.stderr, flush=True)


def show(title: str, all_ways: list[Way], tolerance: float, **more: Callable[[Way], str]) -> int:
    """Print a table, and return 1 if a loss is further from the CPU's than the tolerance."""
    cpu = all_ways[0]
    wanted = torch.stack(cpu.losses)
    names = ("way", "last loss", "largest difference", "ms a step", "to the CPU", *more)
    print(f"{title}, {len(wanted)} steps")
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    worst = 0.0
    for each in all_ways:
        found = torch.stack(each.losses)
        difference = (found - wanted).abs().max().item()
        worst = max(worst, difference)
        cells = [each.name, f"{found[-1]:.4f}", f"{difference:.1e}", f"{each.milliseconds:.2f}"]
        cells += [f"{each.milliseconds / cpu.milliseconds:.2f}"]
        cells += [value(each) for value in more.values()]
        print("| " + " | ".join(cells) + " |", flush=True)
    if worst > tolerance:
        print(f"a loss differs by {worst:.1e}, more than {tolerance:.1e}", file=sys.stderr)
    return int(worst > tolerance)


def parser(description: str, **defaults: int) -> argparse.ArgumentParser:
    """Return a parser of the device and of some numbers."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("device", choices=("npy", "jax"), nargs="?", default="jax")
    for name, value in defaults.items():
        made.add_argument(f"--{name}", type=int, default=value, help=f"(default: {value})")
    return made


def begin(device: str) -> Any:
    """Make the device, which converts nothing to the CPU, and return its environment.

    Each way has one thread: several, on a busy machine, wait for each other.
    """
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    )
    threadpool_limits(1)
    if device == "npy":
        from torch_device.arrays.numpy_device import make_environment
    else:
        from torch_device.arrays.jax_device import make_environment
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # one operator for a whole layer
    return make_environment(conversions=False)
