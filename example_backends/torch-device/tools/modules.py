"""Compares PyTorch's modules (`module_db`) on a device with the CPU, forward and backward.

    python tools/modules.py npy --record results/modules.csv
    python tools/modules.py npy --only LSTM                     # these, with the reasons

Modules that differ in training have two rows, so there are 126. The outcomes are those of
`record.py`; an input is comparable if the module draws no random numbers when it is called.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import torch
from record import Draws, Record, compare, is_wanted, moved, parser, start, to_cpu
from torch.utils._pytree import tree_leaves, tree_map_only


def of_single_precision(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.dtype is torch.float64 else tensor


def make(info: Any, given: Any, is_training: bool, device: str) -> tuple[Any, Any, Any]:
    """Return a module on a device, and its arguments."""
    torch.manual_seed(0)
    made = given.constructor_input
    args, kwargs = moved((made.args, made.kwargs), "cpu")  # which some modules keep
    args, kwargs = tree_map_only(torch.Tensor, of_single_precision, (args, kwargs))
    module = info.module_cls(*args, **kwargs).train(is_training)
    args, kwargs = given.forward_input.args, given.forward_input.kwargs
    if info.is_lazy:  # which would draw parameters on the device
        module(*args, **kwargs)
    return module.to(device), *moved((args, kwargs), device)


def run(info: Any, given: Any, is_training: bool, device: str) -> list[Any]:
    """Return a module's results on a device, and the gradients of its parameters and inputs."""
    module, args, kwargs = make(info, given, is_training, device)
    found = tree_leaves(module(*args, **kwargs))
    outputs = [each for each in found if isinstance(each, torch.Tensor) and each.requires_grad]
    if outputs:
        sum((each.abs() ** 2).sum() for each in outputs).backward()
    inputs = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    return [*found, *(each.grad for each in (*module.parameters(), *inputs))]


def examine(environment: Any, info: Any, is_training: bool) -> list[Any]:
    """Return the outcomes of a module's inputs, and their reasons."""
    outcomes = []
    given = info.module_inputs_func(
        info, "cpu", torch.float32, requires_grad=True, training=is_training
    )
    for each in given:
        if each.forward_input is None:
            continue
        module, args, kwargs = make(info, each, is_training, "cpu")
        with Draws() as draws:
            module(*args, **kwargs)
        if not draws.found:
            compute = partial(run, info, each, is_training)
            wanted = to_cpu(compute("cpu"))
            outcomes.append(compare(environment, partial(compute, environment.name), wanted))
    return outcomes


def main() -> None:
    options = parser(__doc__).parse_args()
    environment = start(options)
    from torch.testing._internal.common_modules import module_db

    record = Record(options.record, options.device)
    for info in module_db:
        for is_training in (True, False) if info.train_and_eval_differ else (True,):
            name = info.name
            if info.train_and_eval_differ:
                name += ", training" if is_training else ", evaluation"
            if not is_wanted(name, options.only) or (name in record.cells and not options.only):
                continue
            record.add(name, examine(environment, info, is_training), is_shown=bool(options.only))
    print(record.summary())


if __name__ == "__main__":
    sys.exit(main())
