"""Devices whose operators a compiler of graphs runs: one node at a time, or whole graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .environment import BackendEnvironment


def register_compiler(
    environment: BackendEnvironment,
    compile: Callable[[fx.GraphModule, list[torch.Tensor]], Callable[..., Any]] | str,
    operators: Iterable[Any],
    *,
    of_tensors: bool = False,
) -> None:
    """Let a compiler run operators eagerly, and whole graphs in `torch.compile`.

    Each eager call is a graph of one node. A graph is compiled once for the shapes, the dtypes and
    the other arguments of its calls. ``torch.compile(backend=...)`` with the name of the device
    compiles whole graphs of functional operators: forward, and autograd's backward.

    Parameters
    ----------
    environment : BackendEnvironment
        The device.
    compile : callable or str
        Takes a graph and examples of its inputs, tensors without data, as a backend of
        `torch.compile` does. Returns a callable that takes data and returns data: those of the
        node, or for a whole graph a tuple. It may raise ``NotImplementedError``: then an operator
        runs as one without an implementation, and a whole graph operator by operator. A text is
        the name of one of `torch.compile`'s own backends, such as ``"inductor"``.
    operators : iterable of torch._ops.OpOverload
        The functional operators that the compiler may know.
    of_tensors : bool, default: False
        Whether what `compile` returns takes and returns tensors of the CPU, as for a backend of
        `torch.compile`; so do those that are named.
    """
    # It imports much of PyTorch.
    from torch._dynamo.backends.registry import lookup_backend, register_backend

    if isinstance(compile, str):
        compile, of_tensors = lookup_backend(compile), True
    if of_tensors:
        compile = _of_data(environment, compile)
    for each in operators:
        environment.register_op(each, _OneNode(environment, each, compile))
    register_backend(_whole_graphs(environment, compile), name=environment.name)


def _of_data(environment: BackendEnvironment, compile: Any) -> Callable[..., Any]:
    """Return a compiler whose functions take data, of one whose functions take tensors."""

    def of_data(graph: fx.GraphModule, examples: list[torch.Tensor]) -> Callable[..., Any]:
        for node in graph.graph.nodes:  # constructors
            if node.kwargs.get("device") is not None:
                node.kwargs = {**node.kwargs, "device": torch.device("cpu")}
        (output,) = graph.graph.find_nodes(op="output")
        of_one_node = not isinstance(output.args[0], (tuple, list))
        if of_one_node:
            if [str(each.type) for each in output.args[0].target._schema.returns] != ["Tensor"]:
                raise NotImplementedError
            output.args = (output.args,)  # as in whole graphs
        graph.recompile()
        # An outer compilation knows the same graph for tensors of the device.
        with torch._guards.tracing(None):
            run = compile(graph, [torch.zeros(x.shape, dtype=x.dtype) for x in examples])

        def call(*data: Any) -> Any:
            found = run(*map(environment.data_to_torch, data))
            found = tree_map_only(torch.Tensor, environment.torch_to_data, found)
            return found[0] if of_one_node else found

        return call

    return of_data


def _whole_graphs(environment: BackendEnvironment, compile: Any) -> Callable[..., Any]:
    """Return a backend of `torch.compile` of a compiler of graphs."""
    from torch._dynamo.backends.common import aot_autograd

    def of_tensors(graph: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        if not all(isinstance(each, torch.Tensor) for each in inputs):  # some sizes are open
            return graph
        try:
            run = compile(
                graph, [torch.empty(x.shape, dtype=x.dtype, device="meta") for x in inputs]
            )
        except NotImplementedError:
            return graph
        (output,) = graph.graph.find_nodes(op="output")
        dtypes = [
            each.meta["val"].dtype if isinstance(each, fx.Node) else None for each in output.args[0]
        ]

        def call(*tensors: torch.Tensor) -> Any:
            found = run(*map(environment.data.read, tensors))
            return tuple(map(environment.data.wrap_optional, found, dtypes))

        return call

    return aot_autograd(fw_compiler=of_tensors)  # type: ignore[no-any-return]


class _OneNode:
    """The implementation of an operator by a compiler."""

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
