"""Compares a device with the CPU on PyTorch's own samples of its operators (OpInfo).

    python tools/opinfo.py npy                                  # float32, forward
    python tools/opinfo.py npy --backward --record results/opinfo.csv
    python tools/opinfo.py npy --only eigh svd                  # these, with the reasons

A sample is comparable if the CPU gives the same results twice, and draws no random numbers. The
outcomes are those of `record.py`.
"""

from __future__ import annotations

import itertools
import sys
import time
from functools import partial
from typing import Any

import torch
from record import Draws, Record, compare, is_wanted, moved, parser, start, to_cpu
from torch.utils._pytree import tree_leaves, tree_map_only

ON_CPU = {"tensor_split"}
"""Operators whose other arguments PyTorch takes on the CPU alone, of any device."""

UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty"}
UNDEFINED |= {"new_empty_strided"}
"""Operators whose results have any values."""


def run(info: Any, sample: Any, device: str, *, is_backward: bool) -> list[Any]:
    """Return an operator's results on a device, and the gradients of its inputs."""
    parts = moved((sample.input, sample.args, sample.kwargs), device)
    if info.name in ON_CPU:
        parts = parts[0], sample.args, sample.kwargs
    parts = tree_map_only(torch.device, lambda each: torch.device(device), parts)
    x, args, kwargs = tree_map_only(str, lambda each: device if each == "cpu" else each, parts)
    tensors = [each for each in tree_leaves(parts) if isinstance(each, torch.Tensor)]
    if "device" in kwargs or not tensors:
        kwargs["device"] = device
    torch.manual_seed(0)
    found = info(x, *args, **kwargs)
    if sample.output_process_fn_grad is not None:
        found = sample.output_process_fn_grad(found)
    flat: list[Any] = tree_leaves(found)
    if is_backward:
        outputs = [each for each in flat if isinstance(each, torch.Tensor) and each.requires_grad]
        inputs = [each for each in tensors if each.requires_grad]
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
    return first if any(isinstance(each, torch.Tensor) for each in first) else None


def examine(environment: Any, info: Any, dtype: torch.dtype, options: Any) -> list[Any]:
    """Return the outcomes of an operator's samples, and their reasons."""
    end = time.monotonic() + options.seconds
    torch.manual_seed(0)
    try:
        given = info.sample_inputs("cpu", dtype, requires_grad=options.backward)
        samples = list(itertools.islice(given, options.samples))
    except Exception:  # noqa: BLE001 -- there are no samples for the CPU
        return []
    outcomes: list[tuple[str, str]] = []
    for sample in samples:
        compute = partial(run, info, sample, is_backward=options.backward)
        wanted = on_cpu(compute)
        if wanted is None:
            continue
        outcomes.append(compare(environment, partial(compute, environment.name), wanted))
        if options.only and outcomes[-1][0] == "fails":
            print(f"  {sample.summary()[:300]}: {outcomes[-1][1]}", flush=True)
        if time.monotonic() > end:
            break
    return outcomes


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--dtype", default="float32")
    arguments.add_argument("--backward", action="store_true")
    arguments.add_argument("--samples", type=int, default=60, help="at most so many of an operator")
    arguments.add_argument(
        "--seconds", type=float, default=1e9, help="no further sample of an operator after these"
    )
    options = arguments.parse_args()
    environment = start(options)
    from torch.testing._internal.common_methods_invocations import op_db

    dtype = getattr(torch, options.dtype)
    way = "backward" if options.backward else "forward"
    record = Record(options.record, f"{options.device} {options.dtype} {way}")
    for info in op_db:
        name = info.full_name
        if dtype not in info.dtypes or (options.backward and not info.supports_autograd):
            continue
        if info.name in UNDEFINED or "sparse" in name or not is_wanted(name, options.only):
            continue
        if name in record.cells and not options.only:
            continue
        record.add(name, examine(environment, info, dtype, options), is_shown=bool(options.only))
    print(record.summary())


if __name__ == "__main__":
    sys.exit(main())
