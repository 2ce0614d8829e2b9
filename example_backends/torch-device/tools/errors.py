"""Compares the errors of a device with the CPU's, for PyTorch's own wrong arguments (OpInfo).

    python tools/errors.py npy --record results/errors.csv

A row of the record is an operator of which some error inputs do not raise what the CPU raises, with
their number: `silent` ones raise no error, the others one that is no instance of the CPU's class.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import torch
from record import Record, is_wanted, parser, start
from torch.utils._pytree import tree_map_only


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


def main() -> None:
    options = parser(__doc__).parse_args()
    environment = start(options)
    from torch.testing._internal.common_methods_invocations import op_db

    record = Record(options.record, options.device)
    total: Counter[str] = Counter()
    for info in op_db:
        name = info.full_name
        if info.error_inputs_func is None or "sparse" in name or not is_wanted(name, options.only):
            continue
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
                print(f"{name}: {outcome}\n    CPU: {wanted!r:.150}\n    here: {found!r:.150}")
        total += counts
        del counts["same"]
        if counts or name in record.cells:
            record.set(name, ", ".join(f"{each} {n}" for each, n in sorted(counts.items())))
    print(f"{options.device}: {total.total()} error inputs: {dict(total)}")


if __name__ == "__main__":
    sys.exit(main())
