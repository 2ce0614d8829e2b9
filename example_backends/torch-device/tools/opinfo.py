"""Compares a device with the CPU on PyTorch's own samples of its operators (OpInfo).

    python tools/opinfo.py npy                        # float32, forward
    python tools/opinfo.py npy --dtypes float32 int64 --backward --record results/npy.csv
    python tools/opinfo.py box                        # a class and two conversions
    python tools/opinfo.py npy --every 10             # a sample of the operators
    python tools/opinfo.py npy --only eigh svd --record results/npy.csv    # again, in a record

An operator counts as comparable if the CPU gives the same results twice. Its outcome is that of its
worst sample:

    alone      the CPU's results, without conversions or reads by the host
    reads      the CPU's results, but the host has read values
    converts   the CPU's results, but an operator ran on the CPU
    fails      an error, or other results
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from torch_device import BackendEnvironment

ON_CPU = {"tensor_split"}
"""Operators whose other arguments PyTorch takes on the CPU alone, of any device."""

ORDER = ("alone", "reads", "converts", "fails")


class Box:
    """Data without a shape and a dtype."""

    __slots__ = ("hidden",)

    def __init__(self, hidden: torch.Tensor) -> None:
        self.hidden = hidden


def make(name: str) -> Any:
    """Return a device: one of the two bundled ones, or a class and two conversions."""
    if name == "box":
        made = BackendEnvironment(
            name, Box, lambda x: Box(x.clone()), lambda box: box.hidden.clone()
        )
        made.register_default_decompositions()
        return made
    if name == "npy":
        from torch_device.arrays.numpy_device import make_environment
    else:
        from torch_device.arrays.jax_device import make_environment
    return make_environment()


def run(info: Any, sample: Any, *, is_backward: bool) -> list[Any]:
    """Return the tensors of an operator's results, and the gradients of its inputs."""
    torch.manual_seed(0)
    tensors = [
        each
        for each in tree_flatten((sample.input, sample.args, sample.kwargs))[0]
        if isinstance(each, torch.Tensor) and each.requires_grad
    ]
    found = info(sample.input, *sample.args, **sample.kwargs)
    if sample.output_process_fn_grad is not None:
        found = sample.output_process_fn_grad(found)
    flat: list[Any] = list(tree_flatten(found)[0])
    if is_backward:
        outputs = [each for each in flat if isinstance(each, torch.Tensor) and each.requires_grad]
        ones = [torch.ones_like(each) for each in outputs]
        flat += torch.autograd.grad(outputs, tensors, ones, allow_unused=True)
    return flat


def copied(sample: Any, device: str, name: str, *, is_backward: bool) -> Any:
    """Return a sample whose tensors are on a device."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return (
            tensor.detach().clone().to(device).requires_grad_(is_backward and tensor.requires_grad)
        )

    parts = tree_map_only(torch.Tensor, move, (sample.input, sample.args, sample.kwargs))
    if name in ON_CPU:
        parts = parts[0], sample.args, sample.kwargs
    parts = tree_map_only(torch.device, lambda each: torch.device(device), parts)
    parts = tree_map_only(str, lambda each: device if each == "cpu" else each, parts)
    made = type(sample)(parts[0], args=parts[1], kwargs=parts[2])
    made.output_process_fn_grad = sample.output_process_fn_grad
    if "device" in made.kwargs:
        made.kwargs["device"] = device
    return made


def to_cpu(found: list[Any]) -> list[Any]:
    return [each.detach().cpu() if isinstance(each, torch.Tensor) else each for each in found]


class _Random(TorchDispatchMode):
    """Notes whether an operator draws random numbers, which are not to be compared."""

    is_used = False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        tags = getattr(function, "tags", ())
        is_certain = "attention" in str(function)  # it draws for a dropout alone
        self.is_used |= torch.Tag.nondeterministic_seeded in tags and not is_certain
        return function(*args, **(kwargs or {}))


def outcome(
    environment: Any, info: Any, dtype: torch.dtype, count: int, *, is_backward: bool
) -> tuple[str, str] | None:
    """Return the outcome of an operator and its reason; None if it is not comparable."""
    try:
        given = itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=is_backward), count)
        samples, expected = [], []
        for sample in given:
            with _Random() as random:
                plain = copied(sample, "cpu", info.name, is_backward=False)
                info(plain.input, *plain.args, **plain.kwargs)
            if random.is_used:
                continue
            samples.append(sample)
            twice = [
                run(
                    info,
                    copied(sample, "cpu", info.name, is_backward=is_backward),
                    is_backward=is_backward,
                )
                for _ in range(2)
            ]
            torch.testing.assert_close(to_cpu(twice[0]), to_cpu(twice[1]), equal_nan=True)
            expected.append(to_cpu(twice[0]))
    except Exception:  # noqa: BLE001 -- the CPU does not have it
        return None
    if not samples or not any(
        isinstance(each, torch.Tensor) for each in itertools.chain(*expected)
    ):
        return None
    worst, reason = 0, ""
    counts = environment.report()
    for sample, wanted in zip(samples, expected, strict=True):
        moved = copied(sample, environment.name, info.name, is_backward=is_backward)
        counts.reset()
        try:
            found = run(info, moved, is_backward=is_backward)
            what = 2 if counts.conversions else 1 if counts.host_reads else 0
            why = " ".join(sorted({*counts.conversions, *counts.host_reads}))
            for each in found:
                if isinstance(each, torch.Tensor) and each.device.type != environment.name:
                    raise AssertionError(f"a result is on the device {each.device}")
            torch.testing.assert_close(to_cpu(found), wanted, equal_nan=True, rtol=1e-4, atol=2e-5)
        except Exception as error:  # noqa: BLE001 -- the outcome
            what = 3
            why = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
        if what > worst:
            worst, reason = what, why
    return ORDER[worst], reason


def merged(record: Path, rows: list[Any]) -> list[Any]:
    """Return the rows of a record, some of them replaced."""
    with record.open(newline="") as file:
        found = {tuple(each[:4]): each for each in list(csv.reader(file))[1:]}
    return list((found | {each[:4]: each for each in rows}).values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", choices=("npy", "jax", "box"))
    parser.add_argument("--dtypes", nargs="+", default=["float32"])
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="take one operator of so many")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--only", nargs="+", help="operators with one of these in their names")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    environment = make(options.device)
    from torch.testing._internal.common_methods_invocations import op_db

    rows = []
    for name in options.dtypes:
        dtype = getattr(torch, name)
        counts: Counter[str] = Counter()
        for info in op_db[options.first :: options.every]:
            if dtype not in info.dtypes or (options.backward and not info.supports_autograd):
                continue
            if options.only and not any(each in info.full_name for each in options.only):
                continue
            if "sparse" in info.full_name or info.full_name.startswith("_refs"):
                continue
            found = outcome(environment, info, dtype, options.samples, is_backward=options.backward)
            if found is None:
                continue
            counts[found[0]] += 1
            way = "backward" if options.backward else "forward"
            rows.append((options.device, name, way, info.full_name, *found))
            if options.only:
                print(rows[-1])
        total = counts.total() or 1
        shares = ", ".join(f"{each} {counts[each]} ({counts[each] / total:.1%})" for each in ORDER)
        print(f"{options.device} {name}: {counts.total()} comparable: {shares}", flush=True)
    if options.record:
        if options.only and options.record.exists():
            rows = merged(options.record, rows)
        options.record.parent.mkdir(parents=True, exist_ok=True)
        with options.record.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("device", "dtype", "way", "operator", "outcome", "reason"))
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
