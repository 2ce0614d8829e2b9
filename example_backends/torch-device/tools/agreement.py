"""Compares a device with the CPU on PyTorch's own samples, and records how far they agree.

    python tools/agreement.py operators npy --backward --record results/opinfo.csv
    python tools/agreement.py modules npy --record results/modules.csv
    python tools/agreement.py errors npy --record results/errors.csv
    python tools/agreement.py operators npy --only eigh svd     # these, with the reasons

`operators` are those of OpInfo, forward or with `--backward` their gradients; `modules` those of
`module_db`, forward and backward; `errors` are the wrong arguments of OpInfo. A sample of an
operator is comparable if the CPU gives the same results twice, and draws no random numbers; of a
module that draws, the shapes are compared.

A record is a table (CSV) with a row for each operator or module, and a column for each device and
way. It is written after each row, so that a command that has been stopped goes on where it was.
A cell is the outcome of the worst sample, and the number of the samples; `-` says that none is
comparable. The outcomes are:

    alone      the CPU's results, without conversions or reads by the host
    reads      the CPU's results, but the host has read values
    converts   the CPU's results, but an operator ran on the CPU
    fails      an error, or other results

In the record of errors, a row is an operator of which some error inputs do not raise what the CPU
raises: `silent` ones raise no error, the others one that is no instance of the CPU's class.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from torch_device import BackendEnvironment
from torch_device.arrays import make_environment

ORDER = ("alone", "reads", "converts", "fails")
ON_CPU = {"tensor_split"}
"""Operators whose other arguments PyTorch takes on the CPU alone, of any device."""
UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty"}
UNDEFINED |= {"new_empty_strided"}
"""Operators whose results have any values."""


class Box:
    """Data without a shape and a dtype."""

    __slots__ = ("hidden",)

    def __init__(self, hidden: torch.Tensor) -> None:
        self.hidden = hidden


def make(name: str) -> Any:
    """Return a device: one of the bundled ones, that of MLX, or a class and two conversions."""
    if name == "mlx":
        sys.path.append(str(Path(__file__).parents[1] / "examples"))
        import mlx_device

        return mlx_device.make_environment()
    if name != "box":
        return make_environment(name)
    made = BackendEnvironment(name, Box, lambda x: Box(x.clone()), lambda box: box.hidden.clone())
    made.register_default_decompositions()
    return made


def moved(tree: Any, device: str) -> Any:
    """Return arguments whose tensors are new ones on a device."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().clone().to(device).requires_grad_(tensor.requires_grad)

    return tree_map_only(torch.Tensor, move, tree)


def tensors(tree: Any) -> list[torch.Tensor]:
    """Return the tensors of a tree."""
    return [each for each in tree_leaves(tree) if isinstance(each, torch.Tensor)]


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


def compare(
    environment: Any, compute: Callable[[], Any], wanted: list[Any], *, of_shapes: bool = False
) -> tuple[str, str]:
    """Return the outcome of a computation on a device, and its reason.

    Parameters
    ----------
    environment : BackendEnvironment
        The device.
    compute : callable
        Returns a tree of tensors of the device.
    wanted : list
        What it gives on the CPU.
    of_shapes : bool, default: False
        Whether the shapes alone are compared.
    """
    counts = environment.report()
    try:
        counts.reset()
        found = tree_leaves(compute())
        outcome = "converts" if counts.conversions else "reads" if counts.host_reads else "alone"
        reason = " ".join(sorted({*counts.conversions, *counts.host_reads}))
        for each in tensors(found):
            if each.device.type != environment.name:
                raise AssertionError(f"a result is on the device {each.device}")
        for each, other in zip(to_cpu(found), wanted, strict=True):
            if not of_shapes:
                close(each, other)
            elif getattr(each, "shape", None) != getattr(other, "shape", None):
                raise AssertionError(f"the shape is {each.shape}")
    except Exception as error:  # noqa: BLE001 -- the outcome
        return "fails", f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"
    return outcome, reason


class Record:
    """A column of a table; without a path, there is no file."""

    def __init__(self, path: Path | None, column: str) -> None:
        self.path = path
        self.column = column
        self.cells: dict[str, str] = {}
        if path is not None and path.exists():
            rows = self._read(path)[1]
            self.cells = {name: row[column] for name, row in rows.items() if row.get(column)}

    def add(self, name: str, outcomes: list[tuple[str, str]], *, is_shown: bool) -> None:
        """Write the worst outcome, and print it with its reason if it fails or `is_shown`."""
        cell = reason = "-"
        if outcomes:
            outcome, reason = max(outcomes, key=lambda each: ORDER.index(each[0]))
            cell = f"{outcome} {len(outcomes)}" + (f": {reason}" if outcome == "fails" else "")
        self.set(name, cell)
        if is_shown or cell.startswith("fails"):
            print(f"{name}: {cell} {'' if reason in cell else reason}", flush=True)

    def set(self, name: str, cell: str) -> None:
        """Write a cell."""
        self.cells[name] = cell
        if self.path is None:
            return
        columns, rows = self._read(self.path) if self.path.exists() else (["name"], {})
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

    def _read(self, path: Path) -> tuple[list[str], dict[str, dict[str, str]]]:
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            rows = {row["name"]: row for row in reader}
            return list(reader.fieldnames or ["name"]), rows


def run_operator(info: Any, sample: Any, device: str, *, is_backward: bool) -> list[Any]:
    """Return an operator's results on a device, and the gradients of its inputs."""
    parts = moved((sample.input, sample.args, sample.kwargs), device)
    if info.name in ON_CPU:
        parts = parts[0], sample.args, sample.kwargs
    parts = tree_map_only(torch.device, lambda each: torch.device(device), parts)
    x, args, kwargs = tree_map_only(str, lambda each: device if each == "cpu" else each, parts)
    given = tensors(parts)
    if "device" in kwargs or not given:
        kwargs["device"] = device
    torch.manual_seed(0)
    found = info(x, *args, **kwargs)
    if sample.output_process_fn_grad is not None:
        found = sample.output_process_fn_grad(found)
    flat: list[Any] = tree_leaves(found)
    if is_backward:
        outputs = [each for each in tensors(flat) if each.requires_grad]
        inputs = [each for each in given if each.requires_grad]
        ones = [torch.ones_like(each) for each in outputs]
        flat += torch.autograd.grad(outputs, inputs, ones, allow_unused=True)
    return flat


def on_cpu(compute: Any) -> list[Any] | None:
    """Return the CPU's results; None if they are not comparable."""
    try:
        with Draws() as draws:
            compute("cpu", is_backward=False)
        if draws.found:
            return None
        first, again = to_cpu(compute("cpu")), to_cpu(compute("cpu"))
        torch.testing.assert_close(first, again, equal_nan=True)
    except Exception:  # noqa: BLE001 -- the CPU does not have it
        return None
    return first if tensors(first) else None


def examine_operator(environment: Any, info: Any, options: Any) -> list[Any]:
    """Return the outcomes of an operator's samples, and their reasons."""
    end = time.monotonic() + options.seconds
    torch.manual_seed(0)
    try:
        given = info.sample_inputs("cpu", options.dtype, requires_grad=options.backward)
        samples = list(itertools.islice(given, options.samples))
    except Exception:  # noqa: BLE001 -- there are no samples for the CPU
        return []
    outcomes: list[tuple[str, str]] = []
    for sample in samples:
        compute = partial(run_operator, info, sample, is_backward=options.backward)
        wanted = on_cpu(compute)
        if wanted is None:
            continue
        outcomes.append(compare(environment, partial(compute, environment.name), wanted))
        if options.only and outcomes[-1][0] == "fails":
            print(f"  {sample.summary()[:300]}: {outcomes[-1][1]}", flush=True)
        if time.monotonic() > end:
            break
    return outcomes


def make_module(info: Any, given: Any, is_training: bool, device: str) -> tuple[Any, Any, Any]:
    """Return a module of float32 on a device, and its arguments."""

    def single(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.float() if tensor.dtype is torch.float64 else tensor

    torch.manual_seed(0)
    made = given.constructor_input
    args, kwargs = moved((made.args, made.kwargs), "cpu")  # which some modules keep
    args, kwargs = tree_map_only(torch.Tensor, single, (args, kwargs))
    module = info.module_cls(*args, **kwargs).train(is_training)
    args, kwargs = given.forward_input.args, given.forward_input.kwargs
    if info.is_lazy:  # which would draw parameters on the device
        module(*args, **kwargs)
    return module.to(device), *moved((args, kwargs), device)


def run_module(info: Any, given: Any, is_training: bool, device: str) -> list[Any]:
    """Return a module's results and buffers, and the gradients of its parameters and inputs."""
    module, args, kwargs = make_module(info, given, is_training, device)
    found = tree_leaves(module(*args, **kwargs))
    outputs = [each for each in tensors(found) if each.requires_grad]
    if outputs:
        sum((each.abs() ** 2).sum() for each in outputs).backward()
    leaves = (*module.parameters(), *tensors((args, kwargs)))
    return [*found, *module.buffers(), *(each.grad for each in leaves)]


def examine_module(
    environment: Any, info: Any, is_training: bool, count: int | None = None
) -> list[tuple[str, str]]:
    """Return the outcomes of a module's inputs, or of the first ones, and their reasons."""
    options = {"requires_grad": True, "training": is_training}
    outcomes = []
    for given in itertools.islice(
        info.module_inputs_func(info, "cpu", torch.float32, **options), count
    ):
        if given.forward_input is None:
            continue
        module, args, kwargs = make_module(info, given, is_training, "cpu")
        with Draws() as draws:
            module(*args, **kwargs)
        compute = partial(run_module, info, given, is_training)
        here = partial(compute, environment.name)
        wanted = to_cpu(compute("cpu"))
        outcomes.append(compare(environment, here, wanted, of_shapes=draws.found))
    return outcomes


def modules() -> dict[str, tuple[Any, bool]]:
    """Return all modules by name; those that differ in training have two."""
    from torch.testing._internal.common_modules import module_db

    found = {}
    for info in module_db:
        for is_training in (True, False) if info.train_and_eval_differ else (True,):
            way = f", {'training' if is_training else 'evaluation'}"
            found[info.name + way * info.train_and_eval_differ] = info, is_training
    return found


def error_of(info: Any, sample: Any, device: str) -> Exception | None:
    """Return the error that an operator raises for a sample on a device.

    Arguments that share their memory on the CPU also do on the device.
    """
    storages: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def move(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type == "meta":
            return tensor
        storage = tensor.untyped_storage()
        key = storage._cdata, tensor.dtype
        if key not in storages:
            whole = torch.empty(0, dtype=tensor.dtype).set_(storage)
            storages[key] = whole.clone().to(device)
        size, stride = tensor.size(), tensor.stride()
        return storages[key].as_strided(size, stride, tensor.storage_offset())

    try:
        parts = tree_map_only(torch.Tensor, move, (sample.input, sample.args, sample.kwargs))
        x, args, kwargs = parts
        if "device" in kwargs:
            kwargs["device"] = device
        info(x, *args, **kwargs)
    except Exception as error:  # noqa: BLE001 -- the outcome
        return error
    return None


def examine_errors(environment: Any, info: Any) -> Counter[str]:
    """Return how many error inputs of an operator have each outcome, and print the wrong ones."""
    counts: Counter[str] = Counter()
    for given in info.error_inputs("cpu"):
        wanted = error_of(info, given.sample_input, "cpu")
        if wanted is None:  # an error on other kinds of devices
            continue
        found = error_of(info, given.sample_input, environment.name)
        outcome = "silent" if found is None else "same"
        if found is not None and not isinstance(found, type(wanted)):
            outcome = f"{type(found).__name__} for {type(wanted).__name__}"
        counts[outcome] += 1
        if outcome != "same":
            print(f"{info.full_name}: {outcome}\n  CPU: {wanted!r:.150}\n  here: {found!r:.150}")
    return counts


def examinations(environment: Any, options: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return what is compared: names, and functions that return outcomes."""
    if options.what == "modules":
        for name, (info, is_training) in modules().items():
            yield name, partial(examine_module, environment, info, is_training)
        return
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        name = info.full_name
        if "sparse" in name:
            continue
        if options.what == "errors":
            if info.error_inputs_func is not None:
                yield name, partial(examine_errors, environment, info)
            continue
        has_way = info.supports_autograd or not options.backward
        if has_way and options.dtype in info.dtypes and info.name not in UNDEFINED:
            yield name, partial(examine_operator, environment, info, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("operators", "modules", "errors"))
    parser.add_argument("device", choices=("npy", "jax", "mlx", "box"))
    parser.add_argument("--only", nargs="+", help="those with one of these in their names, again")
    parser.add_argument("--record", type=Path, help="a table, to which a column is added")
    of_operators = parser.add_argument_group("operators")
    of_operators.add_argument("--dtype", default="float32")
    of_operators.add_argument("--backward", action="store_true")
    of_operators.add_argument("--samples", type=int, default=60, help="at most so many of each")
    of_operators.add_argument(
        "--seconds", type=float, default=1e9, help="no further sample of an operator after these"
    )
    options = parser.parse_args()
    way = f" {options.dtype} {'backward' if options.backward else 'forward'}"
    options.dtype = getattr(torch, options.dtype)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    environment = make(options.device)
    record = Record(options.record, options.device + way * (options.what == "operators"))
    total: Counter[str] = Counter()
    for name, examine in examinations(environment, options):
        if options.only and not any(each in name for each in options.only):
            continue
        if options.what == "errors":
            counts = examine()
            total += counts
            del counts["same"]
            if counts or name in record.cells:
                record.set(name, ", ".join(f"{each} {n}" for each, n in sorted(counts.items())))
        elif options.only or name not in record.cells:
            record.add(name, examine(), is_shown=bool(options.only))
    print(f"{total.total()} error inputs: {dict(total)}" if total else record.summary())


if __name__ == "__main__":
    sys.exit(main())
