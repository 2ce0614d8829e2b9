"""Compiles whole steps of PyTorch with JAX: the data of tensors are what JAX traces."""

from __future__ import annotations

import functools
import gc
import traceback
import weakref
from typing import TYPE_CHECKING, Any

import jax
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import _schema, _storage
from ._storage import Cell, cell_of, wrap

if TYPE_CHECKING:
    from collections.abc import Callable


class HostReadError(RuntimeError):
    """A step that is compiled reads values, which only its later runs have."""


class _Watch:
    """Notes which storages a step reads, writes and makes."""

    def __init__(self) -> None:
        self.used: dict[int, Cell] = {}
        self.before: dict[int, tuple[Any, tuple[int, ...]]] = {}
        self.made: dict[int, weakref.ref[Cell]] = {}

    def on_create(self, cell: Cell) -> None:
        self.made[id(cell)] = weakref.ref(cell)

    def on_use(self, cell: Cell) -> None:
        made = self.made.get(id(cell))
        if made is None or made() is not cell:
            self.used.setdefault(id(cell), cell)
            self.before.setdefault(id(cell), cell.array)

    def alive(self) -> list[Cell]:
        """Return the storages that the step has made and that are still in use."""
        gc.collect()
        return [cell for each in self.made.values() if (cell := each()) is not None]

    def __enter__(self) -> _Watch:
        if _storage.on_read is not None:
            raise RuntimeError("a step is being compiled already")
        _storage.on_create = self.on_create
        _storage.on_read = _storage.on_write = self.on_use
        return self

    def __exit__(self, *_: object) -> None:
        _storage.on_create = _storage.on_read = _storage.on_write = None
        for key, cell in self.used.items():
            cell.array = self.before[key]


class _NoHostChanges(TorchDispatchMode):
    """Refuses operators that change tensors of the CPU: the compiled step would not do it again."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        values = _schema.bind(function, args, kwargs or {})
        for name in _schema.written(function):
            flat = tree_flatten(values.get(name))[0]
            if any(isinstance(each, torch.Tensor) and each.device.type == "cpu" for each in flat):
                raise HostReadError(
                    f"{_schema.identity(function)} changes a tensor of the CPU, {_line()}: a "
                    "compiled step would not do it again. Put the tensor on the device"
                )
        return function(*args, **(kwargs or {}))


def _line() -> str:
    stack = [
        each
        for each in traceback.extract_stack()
        if "/torch/" not in each.filename
        and "/torch_device/" not in each.filename
        and not each.filename.startswith("<")
    ]
    return f"line {stack[-1].lineno} of {stack[-1].filename}" if stack else "in a thread"


def refuse_host_read(identity: str, array: Any) -> None:
    """Raise the error of a read by the host while a step is compiled."""
    raise HostReadError(
        f"{identity} reads values, {_line()}: a step that is compiled has none. Leave the value on "
        "the device, or read it after the step"
    )


class CompiledStep:
    """A step that JAX has compiled; see `jax_jit`."""

    def __init__(self, step: Callable[..., Any]) -> None:
        functools.update_wrapper(self, step)
        self._step = step
        self._compiled: dict[Any, Callable[..., Any]] = {}
        self._has_run = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._has_run:
            # The first run makes what is made once: the state of optimizers.
            self._has_run = True
            return self._step(*args, **kwargs)
        flat, tree = tree_flatten((args, kwargs))
        tensors = [each for each in flat if isinstance(each, torch.Tensor)]
        rest = tuple(None if isinstance(each, torch.Tensor) else each for each in flat)
        key = (
            tree,
            rest,
            tuple((each.shape, each.dtype) for each in tensors),
            torch.is_grad_enabled(),
        )
        found = self._compiled.get(repr(key))
        if found is None:
            found = self._compiled[repr(key)] = self._compile(flat, tree)
        return found(tensors)

    def _compile(self, flat: list[Any], tree: Any) -> Callable[..., Any]:
        given = [each for each in flat if isinstance(each, torch.Tensor)]
        environment = given[0].untyped_storage().environment if given else None
        if environment is None:
            raise TypeError("a compiled step takes at least one tensor of the device")
        read = environment.data.read
        inputs = [read(each) for each in given]
        layout: dict[str, Any] = {}

        def trace(arrays: list[Any], states: list[Any], cells: list[Cell]) -> Any:
            with (
                _Watch() as watch,
                _NoHostChanges(),
                torch.autograd.set_multithreading_enabled(False),
            ):
                for cell, state in zip(cells, states, strict=True):
                    watch.on_use(cell)
                    cell.array = state
                made = iter(
                    wrap(array, tuple(array.shape), each.dtype, environment).requires_grad_(
                        each.requires_grad
                    )
                    for array, each in zip(arrays, given, strict=True)
                )
                values = [next(made) if isinstance(each, torch.Tensor) else each for each in flat]
                args, kwargs = tree_unflatten(values, tree)
                results, layout["tree"] = tree_flatten(self._step(*args, **kwargs))
                del values, args, kwargs
                outputs, layout["results"] = [], []
                for each in results:
                    is_tensor = isinstance(each, torch.Tensor)
                    layout["results"].append(each.dtype if is_tensor else _Constant(each))
                    if is_tensor:
                        outputs.append(read(each.detach()))
                del results, each
                layout["used"] = list(watch.used.values())
                layout["made"] = watch.alive()
                return (
                    outputs,
                    [each.array for each in layout["used"]],
                    [each.array for each in layout["made"]],
                )

        # Once for the storages that the step uses, and again with these as inputs.
        jax.eval_shape(lambda arrays: trace(arrays, [], []), inputs)
        cells: list[Cell] = layout["used"]
        compiled = jax.jit(lambda arrays, states: trace(arrays, states, cells))
        compiled = compiled.lower(inputs, [each.array for each in cells]).compile()
        made: list[Cell] = layout["made"]
        results, result_tree = layout["results"], layout["tree"]
        if len(layout["used"]) != len(cells):
            raise RuntimeError("the step uses other tensors each time it runs")

        def run(tensors: list[torch.Tensor]) -> Any:
            found, states, fresh = compiled(
                [read(each) for each in tensors], [each.array for each in cells]
            )
            for cell, array in zip(cells, states, strict=True):
                cell.array = array
            for cell, array in zip(made, fresh, strict=True):
                cell.array = array
            arrays = iter(found)
            values = []
            for each in results:
                if isinstance(each, _Constant):
                    values.append(each.value)
                else:
                    array = next(arrays)
                    values.append(wrap(array, tuple(array.shape), each, environment))
            return tree_unflatten(values, result_tree)

        return run


class _Constant:
    def __init__(self, value: Any) -> None:
        self.value = value


def jax_jit(step: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a step of PyTorch through JAX: forward, backward and the optimizer's update.

    The step may read and change tensors of the device that are not its arguments, such as
    parameters: the compiled step changes them too. Everything else it does happens when it is
    compiled, and not again. The first call runs the step as it is; the next one compiles it, for
    the shapes and dtypes of its arguments.

    Parameters
    ----------
    step : callable
        Takes tensors of the device, and returns tensors without history.

    Returns
    -------
    callable
        The compiled step.

    Raises
    ------
    HostReadError
        When it is compiled, if it reads values (``item``, ``if tensor:``) or changes tensors of
        the CPU.
    """
    return CompiledStep(step)
