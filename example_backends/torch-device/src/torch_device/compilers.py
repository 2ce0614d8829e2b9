"""Devices whose operators a compiler of graphs runs, one node at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.utils._pytree import tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .environment import BackendEnvironment


def register_compiler(
    environment: BackendEnvironment,
    compile: Callable[[fx.GraphModule, list[torch.Tensor]], Callable[..., Any]],
    operators: Iterable[Any],
) -> None:
    """Let a compiler run operators eagerly: each call is a graph of one node.

    A graph is compiled once for the shapes, the dtypes and the other arguments of its calls.

    Parameters
    ----------
    environment : BackendEnvironment
        The device.
    compile : callable
        Takes a graph and examples of its inputs, tensors without data, as a backend of
        `torch.compile` does. Returns a callable that takes data and returns data. It may raise
        ``NotImplementedError``: then the operator runs as one without an implementation.
    operators : iterable of torch._ops.OpOverload
        The functional operators that the compiler may know.
    """
    for each in operators:
        environment.register_op(each, _OneNode(environment, each, compile))


class _OneNode:
    """The implementation of an operator by a compiler.

    Parameters
    ----------
    environment, operator, compile
        As above.
    """

    def __init__(self, environment: BackendEnvironment, operator: Any, compile: Any) -> None:
        self._environment = environment
        self._operator = operator
        self._compile = compile
        self._compiled: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        flat, tree = tree_flatten((args, kwargs))
        described = [self._describe(each) for each in flat]
        key = (tree, *((type(each), each) for each in described))
        found = self._compiled.get(key)
        if found is None:
            try:
                found = self._compile(*self._graph(described, tree))
            except NotImplementedError:
                found = _unknown
            self._compiled[key] = found
        return found(*(a for a, b in zip(flat, described, strict=True) if isinstance(b, _Input)))

    def _describe(self, value: Any) -> Any:
        if isinstance(value, self._environment.data_class):
            return _Input(self._environment.data.shape_dtype(value))
        return value

    def _graph(self, described: list[Any], tree: Any) -> tuple[fx.GraphModule, list[torch.Tensor]]:
        graph = fx.Graph()
        examples: list[torch.Tensor] = []
        values = []
        for each in described:
            if isinstance(each, _Input):
                shape, dtype = each
                each = graph.placeholder(f"x{len(examples)}")
                examples.append(torch.empty(shape, dtype=dtype, device="meta"))
            values.append(each)
        args, kwargs = tree_unflatten(values, tree)
        graph.output(graph.call_function(self._operator, args, kwargs))
        return fx.GraphModule(torch.nn.Module(), graph), examples


class _Input(tuple[tuple[int, ...], torch.dtype]):
    """The shape and the dtype of an input."""

    __slots__ = ()


def _unknown(*data: Any) -> Any:
    return NotImplemented
