"""What happens to operators without an implementation, in order.

1. An in-place or ``out=`` operator runs its functional variant, and writes the result.
2. A decomposition runs the operator in terms of others.
3. The operator runs on the CPU, if the policy allows conversions; each is counted.
4. Otherwise an error says why none of these was possible.
"""

from __future__ import annotations

import inspect
import threading
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from . import _schema
from ._data import refuse_overlap, refuse_repeated

if TYPE_CHECKING:
    from .environment import BackendEnvironment


@dataclass
class Report:
    """What has left the device since the counts were last reset.

    Attributes
    ----------
    conversions : Counter of str
        Calls of operators that ran on the CPU, by operator.
    host_reads : Counter of str
        Calls of operators that give the host values of a tensor, such as ``item``.
    copies : Counter of str
        Copies that the program asked for: ``to_cpu`` and ``from_cpu``.
    decompositions : Counter of str
        Calls of operators that ran in terms of other operators.
    constants : Counter of str
        Objects of the program that a compiled step took for constants.
    """

    conversions: Counter[str] = field(default_factory=Counter)
    host_reads: Counter[str] = field(default_factory=Counter)
    copies: Counter[str] = field(default_factory=Counter)
    decompositions: Counter[str] = field(default_factory=Counter)
    constants: Counter[str] = field(default_factory=Counter)

    def reset(self) -> None:
        """Set all counts to zero."""
        for each in vars(self).values():
            each.clear()

    def __str__(self) -> str:
        lines = []
        for name, counts in vars(self).items():
            if name == "constants" and not counts:  # of `torch_device_jit` alone
                continue
            lines.append(f"{name.replace('_', ' ')}: {counts.total()}")
            lines += [f"  {count:6} {operator}" for operator, count in counts.most_common()]
        return "\n".join(lines)


class ConversionError(NotImplementedError):
    """An operator has no implementation, and the policy forbids converting to the CPU."""


class KernelError(RuntimeError):
    """A kernel has raised a TypeError, which PyTorch's operators take for NotImplemented."""


# What PyTorch's own kernels of these refuse as `out=`.
PICKING = {"gather", "index_select", "kthvalue", "linalg_cross", "masked_select", "mode"}
PICKING |= {"take", "topk"}
APART = PICKING | {"cat"}
"""Operators whose ``out=`` shares no memory with an argument."""
EXACT = PICKING | {"aminmax", "complex", "multinomial", "polar", "sort"}
"""Operators whose ``out=`` has the dtype of the result: nothing is cast."""


class Fallback:
    """Runs operators without an implementation."""

    def __init__(self, environment: BackendEnvironment) -> None:
        self._environment = environment
        self._running = threading.local()
        self.decompositions: dict[Any, Any] = {}

    def run(self, operator: Any, *args: Any, **kwargs: Any) -> Any:
        """Run an operator, as a kernel of PyTorch."""
        return self.call(operator, _schema.bind(operator, args, kwargs))

    def call(self, operator: Any, values: dict[str, Any]) -> Any:
        """Run an operator with arguments by name."""
        try:
            return self._call(operator, values)
        except TypeError as error:
            raise KernelError(f"{_schema.identity(operator)} raised TypeError: {error}") from error

    def _call(self, operator: Any, values: dict[str, Any]) -> Any:
        reasons = ["it has no implementation"]
        running: list[Any] = self._running.__dict__.setdefault("operators", [])
        written = _schema.written(operator)
        if written:
            functional = _schema.functional_of(operator)
            if functional is None:
                reasons.append("no functional variant")
            elif functional in running or (functional, "write") in running:
                reasons.append("its functional variant is written in terms of it")
            else:
                return self._write(operator, functional, written, values)
        decomposition = self.decompositions.get(operator)
        if decomposition is None:
            reasons.append("no decomposition")
        elif operator in running:
            reasons.append("its decomposition leads back to it")
        else:
            self._environment.counts.decompositions[_schema.identity(operator)] += 1
            found = self._decompose(operator, decomposition, values, running)
            if found is not NotImplemented:
                return found
            reasons.append("its decomposition has no answer for these arguments")
        return self._convert(operator, values, reasons)

    def _decompose(
        self, operator: Any, decomposition: Any, values: dict[str, Any], running: list[Any]
    ) -> Any:
        running.append(operator)
        try:
            args, keywords = [], {}
            by_name = _keyword_only(decomposition)
            for each in operator._schema.arguments:
                if each.name not in values:
                    continue
                value = values[each.name]
                if not each.kwarg_only and each.name not in by_name:
                    args.append(value)
                elif value is not None or each.name not in _schema.OMITTED:
                    keywords[each.name] = value
            return decomposition(*args, **keywords)
        except NotImplementedError as error:
            if isinstance(error, ConversionError):
                raise
            return NotImplemented
        finally:
            running.remove(operator)

    def _write(
        self, operator: Any, functional: Any, written: list[str], values: dict[str, Any]
    ) -> Any:
        inputs = dict(values)
        is_out = any(each.is_out for each in operator._schema.arguments)
        targets = [values[name] for name in written]
        if is_out:
            for name in written:
                del inputs[name]
            if any(each.name == "dtype" for each in functional._schema.arguments):
                inputs.setdefault("dtype", targets[0].dtype)
        # C++ may have written the functional variant in terms of this operator.
        running = [] if self._environment.is_registered(functional) else self._running.operators
        name = _schema.packet(operator)
        for each in filter(torch.is_tensor, tree_leaves(targets)):
            if functional not in _schema.FILLS:
                refuse_repeated(each)
            if is_out and name in APART:
                refuse_overlap(each, tree_leaves(inputs))
        running.append((functional, "write"))
        try:
            found = _schema.call(functional, inputs)
        finally:
            running.remove((functional, "write"))
        is_one = len(targets) == 1 and type(targets[0]) is list
        results = [found] if is_one or isinstance(found, torch.Tensor) else list(found)
        for target, result in zip(targets, results, strict=False):
            pairs = zip(target, result, strict=True) if type(target) is list else [(target, result)]
            for each, value in pairs:
                if is_out and name in EXACT and value.dtype is not each.dtype:
                    raise RuntimeError(
                        f"Expected out tensor to have dtype {value.dtype}, but got {each.dtype} "
                        "instead"
                    )
                if is_out and name in APART and value.shape != each.shape:
                    refuse_overlap(each, tree_leaves(inputs), value.numel())
                self._environment.data.assign(each, value, resizing=is_out)
        if not operator._schema.returns:
            return None
        return targets[0] if len(operator._schema.returns) == 1 else tuple(targets)

    def _convert(self, operator: Any, values: dict[str, Any], reasons: list[str]) -> Any:
        environment = self._environment
        environment.count_conversion(_schema.identity(operator), "; ".join(reasons))
        originals: dict[int, torch.Tensor] = {}

        def to_cpu(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.device.type != environment.name:
                return tensor
            copy = environment.read_to_cpu(tensor)
            originals[id(copy)] = tensor
            return copy

        values = tree_map_only(torch.Tensor, to_cpu, values)
        if values.get("device") is not None:
            values["device"] = torch.device("cpu")
        found = _schema.call(operator, values)
        for name in _schema.written(operator):
            each = values[name]
            for copy in each if isinstance(each, (list, tuple)) else [each]:
                if id(copy) in originals:
                    environment.data.assign(originals[id(copy)], copy, resizing=True)

        def to_device(tensor: torch.Tensor) -> torch.Tensor:
            known = originals.get(id(tensor))
            return environment.from_cpu(tensor) if known is None else known

        return tree_map_only(torch.Tensor, to_device, found)


@cache
def _keyword_only(function: Any) -> frozenset[str]:
    """Return what a decomposition takes by keyword alone; some operators take it by position."""
    parameters = inspect.signature(function).parameters.values()
    return frozenset(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)
