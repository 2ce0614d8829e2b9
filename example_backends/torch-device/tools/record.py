"""What the instruments have in common: the devices, their comparison with the CPU, and the record.

A record is a table (CSV) with a row for each operator or module, and a column for each device and
way. It is written after each row, so that an instrument that has been stopped goes on where it was.
A cell is the outcome of the worst sample, and the number of the samples; `-` says that none is
comparable. The outcomes are:

    alone      the CPU's results, without conversions or reads by the host
    reads      the CPU's results, but the host has read values
    converts   the CPU's results, but an operator ran on the CPU
    fails      an error, or other results
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from torch_device import BackendEnvironment

DEVICES = ("npy", "jax", "mlx", "box")
ORDER = ("alone", "reads", "converts", "fails")


class Box:
    """Data without a shape and a dtype."""

    __slots__ = ("hidden",)

    def __init__(self, hidden: torch.Tensor) -> None:
        self.hidden = hidden


def make(name: str) -> Any:
    """Return a device: one of the bundled ones, that of MLX, or a class and two conversions."""
    if name == "npy":
        from torch_device.arrays.numpy_device import make_environment
    elif name == "jax":
        from torch_device.arrays.jax_device import make_environment
    elif name == "mlx":
        sys.path.append(str(Path(__file__).parents[1] / "examples"))
        from mlx_device import make_environment
    else:
        made = BackendEnvironment(
            name, Box, lambda x: Box(x.clone()), lambda box: box.hidden.clone()
        )
        made.register_default_decompositions()
        return made
    return make_environment()


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options that all instruments have."""
    made = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    made.add_argument("device", choices=DEVICES)
    made.add_argument("--only", nargs="+", help="those with one of these in their names, once more")
    made.add_argument("--record", type=Path, help="a table, to which a column is added")
    return made


def start(options: argparse.Namespace) -> Any:
    """Return the device that the options name."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    return make(options.device)


def is_wanted(name: str, only: list[str] | None) -> bool:
    return not only or any(each in name for each in only)


def moved(tree: Any, device: str) -> Any:
    """Return arguments whose tensors are new ones on a device."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().clone().to(device).requires_grad_(tensor.requires_grad)

    return tree_map_only(torch.Tensor, move, tree)


def to_cpu(tree: Any) -> list[Any]:
    """Return what is in a tree, the tensors on the CPU."""
    return [
        each.detach().cpu() if isinstance(each, torch.Tensor) else each
        for each in tree_leaves(tree)
    ]


class Draws(TorchDispatchMode):
    """Notes whether an operator draws random numbers, which are not to be compared."""

    found = False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        tags = getattr(function, "tags", ())
        is_certain = "attention" in str(function)  # it draws for a dropout alone
        self.found |= torch.Tag.nondeterministic_seeded in tags and not is_certain
        return function(*args, **(kwargs or {}))


def close(found: Any, wanted: Any) -> None:
    """Raise an error if results differ by more than float32 rounds off.

    Sums of large numbers leave small ones that are wrong by a part of the large ones.
    """
    largest = 1.0
    if isinstance(wanted, torch.Tensor) and (wanted.is_floating_point() or wanted.is_complex()):
        largest = wanted[wanted.isfinite()].abs().max().item() if wanted.isfinite().any() else 1.0
    atol = 2e-5 * max(largest, 1)
    torch.testing.assert_close(found, wanted, equal_nan=True, rtol=1e-4, atol=atol)


def compare(environment: Any, compute: Callable[[], Any], wanted: list[Any]) -> tuple[str, str]:
    """Return the outcome of a computation on a device, and its reason.

    Parameters
    ----------
    environment : BackendEnvironment
        The device.
    compute : callable
        Returns a tree of tensors of the device.
    wanted : list
        What it gives on the CPU.
    """
    counts = environment.report()
    try:
        counts.reset()
        found = tree_leaves(compute())
        outcome = "converts" if counts.conversions else "reads" if counts.host_reads else "alone"
        reason = " ".join(sorted({*counts.conversions, *counts.host_reads}))
        for each in found:
            if isinstance(each, torch.Tensor) and each.device.type != environment.name:
                raise AssertionError(f"a result is on the device {each.device}")
        for each, other in zip(to_cpu(found), wanted, strict=True):
            close(each, other)
    except Exception as error:  # noqa: BLE001 -- the outcome
        return "fails", f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"
    return outcome, reason


def worst(outcomes: list[tuple[str, str]]) -> tuple[str, str]:
    """Return the worst outcome as a cell, and its reason."""
    if not outcomes:
        return "-", ""
    outcome, reason = max(outcomes, key=lambda each: ORDER.index(each[0]))
    cell = f"{outcome} {len(outcomes)}"
    return f"{cell}: {reason}" if outcome == "fails" else cell, reason


class Record:
    """A column of a table.

    Parameters
    ----------
    path : pathlib.Path or None
        The file of the table; with None, there is none.
    column : str
        The column.
    """

    def __init__(self, path: Path | None, column: str) -> None:
        self.path = path
        self.column = column
        self.cells: dict[str, str] = {}
        if path is not None and path.exists():
            rows = self._read()[1]
            self.cells = {name: row[column] for name, row in rows.items() if row.get(column)}

    def add(self, name: str, outcomes: list[tuple[str, str]], *, is_shown: bool) -> None:
        """Write the worst outcome, and print it with its reason if it fails or `is_shown`."""
        cell, reason = worst(outcomes)
        self.set(name, cell)
        if is_shown or cell.startswith("fails"):
            print(f"{name}: {cell} {'' if reason in cell else reason}", flush=True)

    def set(self, name: str, cell: str) -> None:
        """Write a cell."""
        self.cells[name] = cell
        if self.path is None:
            return
        columns, rows = self._read() if self.path.exists() else (["name"], {})
        if self.column not in columns:
            columns.append(self.column)
        rows.setdefault(name, {"name": name})[self.column] = cell
        new = self.path.with_suffix(".new")
        with new.open("w", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows.values())
        new.replace(self.path)

    def summary(self) -> str:
        """Return how many cells begin with each word, and the sum of the numbers after it."""
        words = [each.split(maxsplit=2) for each in self.cells.values() if each != "-"]
        counts = Counter(each[0].rstrip(":") for each in words)
        samples = sum(int(each[1].rstrip(":")) for each in words if len(each) > 1)
        shares = ", ".join(
            f"{word} {count} ({count / len(words):.1%})" for word, count in sorted(counts.items())
        )
        return f"{self.column}: {len(words)} with {samples} samples: {shares}"

    def _read(self) -> tuple[list[str], dict[str, dict[str, str]]]:
        assert self.path is not None
        with self.path.open(newline="") as file:
            reader = csv.DictReader(file)
            rows = {row["name"]: row for row in reader}
            return list(reader.fieldnames or ["name"]), rows
