"""What a step of PyTorch reads, changes, makes and returns while JAX traces it."""

from __future__ import annotations

import gc
import os
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import random
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

import spatch_core
import torch_device
from torch_device import storages
from torch_device.storages import Cell, cell_of, wrap

if TYPE_CHECKING:
    from typing_extensions import Self


class HostReadError(RuntimeError):
    """A step that is compiled reads values, which only its later runs have."""


_LIBRARIES = tuple(
    os.path.dirname(os.path.abspath(str(each))) + os.sep
    for each in (*(m.__file__ for m in (torch, jax, spatch_core, torch_device)), __file__)
)


def line_of(stack: list[traceback.FrameSummary] | None = None) -> str:
    """Return the innermost line that is not of PyTorch, of JAX or of this package."""
    own = [
        each
        for each in stack or traceback.extract_stack()
        if not each.filename.startswith((*_LIBRARIES, "<kernel of"))
    ]
    if not own:
        return "in a thread"
    text = f": {own[-1].line}" if own[-1].line else ""
    return f"line {own[-1].lineno} of {own[-1].filename}{text}"


def explained(error: Exception) -> HostReadError:
    """Return the error for an implementation that needs values of what JAX traces."""
    # Below the caller's lines, for a step that has no line of its own, such as `torch.nonzero`.
    stack = [*traceback.extract_stack(), *traceback.extract_tb(error.__traceback__)]
    kernels = [each.filename for each in stack if each.filename.startswith("<kernel of ")]
    identity = kernels[-1][11:-1] if kernels else "the step"
    return HostReadError(
        f"{identity} needs values, {line_of(stack)}\n"
        "A step that is compiled has none: neither shapes nor branches can depend on them"
    )


class _Watch:
    """Notes which storages a step uses and makes, in its own thread."""

    def __init__(self) -> None:
        self.used: dict[int, Cell] = {}
        self.before: dict[int, Any] = {}
        self._made: dict[int, weakref.ref[Cell]] = {}
        self._thread = threading.get_ident()

    def create(self, cell: Cell) -> None:
        if threading.get_ident() == self._thread:
            self._made[id(cell)] = weakref.ref(cell)

    def use(self, cell: Cell) -> None:
        if threading.get_ident() != self._thread:
            return
        made = self._made.get(id(cell))
        if made is None or made() is not cell:
            self.used.setdefault(id(cell), cell)
            self.before.setdefault(id(cell), cell.array)

    def read_by_host(self, identity: str) -> None:
        raise HostReadError(
            f"{identity} reads values, {line_of()}\nA step that is compiled has none. Leave the "
            "value on the device, or read it after the step"
        )

    def left(self) -> list[Cell]:
        """Return the storages that the step has made and that are still in use."""
        gc.collect()
        return [cell for each in self._made.values() if (cell := each()) is not None]

    def __enter__(self) -> Self:
        if storages.watch is not None:
            raise RuntimeError("a step is being compiled already")
        storages.watch = self
        return self

    def __exit__(self, *_: object) -> None:
        storages.watch = None
        for key, cell in self.used.items():
            cell.array = self.before[key]


class _NoHostChanges(TorchDispatchMode):
    """Refuses operators that change tensors of the CPU: the compiled step would not do it again."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        for number, each in enumerate(function._schema.arguments):
            if each.alias_info is None or not each.alias_info.is_write:
                continue
            flat = tree_flatten(args[number] if number < len(args) else kwargs.get(each.name))[0]
            if any(isinstance(each, torch.Tensor) and each.device.type == "cpu" for each in flat):
                raise HostReadError(
                    f"{function} changes a tensor of the CPU, {line_of()}\n"
                    "A compiled step would not do it again. Put the tensor on the device; of an "
                    "optimizer that counts its steps, with capturable=True"
                )
        return function(*args, **kwargs)


def _integers(key: Any, shape: Any, *limits: Any) -> Any:
    low, high = {0: (0, 128), 1: (0, *limits)}.get(len(limits), limits)
    return random.randint(key, shape, low, 2**24 if high is None else high, jnp.int64)


_F64 = jnp.float64
_DRAWING: dict[str, Callable[..., Any]] = {
    "uniform_": lambda key, shape, low=0.0, high=1.0: random.uniform(key, shape, _F64, low, high),
    "normal_": lambda key, shape, mean=0.0, std=1.0: random.normal(key, shape, _F64) * std + mean,
    "log_normal_": lambda key, shape, mean=1.0, std=2.0: jnp.exp(
        random.normal(key, shape, _F64) * std + mean
    ),
    "exponential_": lambda key, shape, rate=1.0: random.exponential(key, shape, _F64) / rate,
    "geometric_": lambda key, shape, p: random.geometric(key, p, shape),
    "cauchy_": lambda key, shape, median=0.0, scale=1.0: (
        random.cauchy(key, shape, _F64) * scale + median
    ),
    "bernoulli_": lambda key, shape, p=0.5: random.bernoulli(key, p, shape),
    "random_": _integers,
    "randperm": lambda key, shape: random.permutation(key, shape[0]),
}


class _Generator:
    """Draws random numbers from a key of JAX that each run of a step has anew.

    Parameters
    ----------
    environment : BackendEnvironment
        The device, whose random numbers come from here in the context.
    key : array
        The key, which JAX traces.
    """

    def __init__(self, environment: Any, key: Any) -> None:
        self._environment = environment
        self._state = key
        self.is_used = False

    def __enter__(self) -> Self:
        environment, module = self._environment, self._environment.module
        self._before = environment.draw, module.seed, module.get_state, module.set_state
        environment.draw = self.draw
        module.seed, module.get_state, module.set_state = self.seed, self.get_state, self.set_state
        return self

    def __exit__(self, *_: object) -> None:
        environment, module = self._environment, self._environment.module
        environment.draw, module.seed, module.get_state, module.set_state = self._before

    def seed(self, seed: int) -> None:
        self._state = random.key_data(random.key(seed % 2**63))

    def get_state(self) -> torch.Tensor:
        return self._environment.data.wrap(self._state)  # type: ignore[no-any-return]

    def set_state(self, state: torch.Tensor) -> None:
        self._state = self._environment.data.read(state)

    def draw(self, name: str, shape: Any, dtype: Any, *args: Any, generator: Any = None) -> Any:
        if generator is not None:
            raise HostReadError(f"{name} draws from a generator of the CPU, {line_of()}")
        self.is_used = True
        keys = random.split(random.wrap_key_data(self._state))
        self._state = random.key_data(keys[0])
        return _DRAWING[name](keys[1], tuple(shape), *args).astype(str(dtype)[6:])


class Trace:
    """A step with arguments, of which the tensors are replaced by what JAX traces.

    Parameters
    ----------
    step : callable
        The step.
    environment : BackendEnvironment
        The device.
    flat, tree
        The arguments, flattened.

    Attributes
    ----------
    used : list of Cell
        The storages that the step uses and has not made.
    """

    def __init__(self, step: Any, environment: Any, flat: Any, tree: Any) -> None:
        self._step = step
        self._environment = environment
        self._flat = flat
        self._tree = tree
        self.used: list[Cell] = []

    def __call__(self, key: Any, arrays: list[Any], states: list[Any], cells: list[Cell]) -> Any:
        read = self._environment.data.read
        with (
            _Watch() as watch,
            _Generator(self._environment, key) as generator,
            _NoHostChanges(),
            torch.autograd.set_multithreading_enabled(False),
        ):
            for cell, state in zip(cells, states, strict=True):
                watch.use(cell)
                cell.array = state
            arguments = self._arguments(arrays)
            args, kwargs = tree_unflatten(arguments, self._tree)
            results, self._result_tree = tree_flatten(self._step(*args, **kwargs))
            outputs = [read(each.detach()) for each in results if isinstance(each, torch.Tensor)]
            # The dtype of a tensor, which is made of an output of the program, or a constant.
            self._results = [
                (each.dtype, None) if isinstance(each, torch.Tensor) else (None, each)
                for each in results
            ]
            changed = self._check(arguments, arrays)
            # The watch then finds what the step itself leaves behind.
            del arguments, args, kwargs, results
            self.used = list(watch.used.values())
            before = [*states, *(watch.before[id(each)] for each in self.used[len(states) :])]
            self._written = [
                cell
                for cell, array in zip(self.used, before, strict=True)
                if cell.array is not array
            ]
            self._left = watch.left()
            self._changed = list(changed)
            self._is_random = generator.is_used
            written = [each.array for each in self._written]
            return outputs, written, [each.array for each in self._left], list(changed.values())

    def _arguments(self, arrays: list[Any]) -> list[Any]:
        rest = iter(arrays)
        found = []
        for each in self._flat:
            if isinstance(each, torch.Tensor):
                array = next(rest)
                made = wrap(array, tuple(array.shape), each.dtype)
                each = made.requires_grad_(each.requires_grad)
            found.append(each)
        return found

    def _check(self, arguments: list[Any], arrays: list[Any]) -> dict[int, Any]:
        """Return the arguments that the step has changed: their numbers and data."""
        tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
        if any(each.is_leaf and each.grad is not None for each in tensors):
            raise RuntimeError(
                "the step leaves a gradient in an argument, where it would be lost: return it, or "
                "take it with torch.autograd.grad"
            )
        found = enumerate(cell_of(each).array for each in tensors)
        return {number: array for number, array in found if array is not arrays[number]}

    def runner(self, compiled: Callable[..., Any], cells: list[Cell]) -> Callable[..., Any]:
        """Return what runs the compiled step for tensors."""
        environment, read = self._environment, self._environment.data.read
        written, left, changed = self._written, self._left, self._changed
        results, tree, is_random = self._results, self._result_tree, self._is_random
        gradients = _gradients(left)
        alone = set(map(id, cells if changed else written))

        def run(tensors: tuple[torch.Tensor, ...]) -> Any:
            for leaf, _, cell in gradients:
                if getattr(leaf.untyped_storage(), "cell", None) is not cell:
                    raise RuntimeError(
                        "a parameter has moved since the step was compiled, which would change it "
                        "where it was: move the module first, then make the step with jax_jit"
                    )
            own = {id(cell_of(each)) for each in tensors if each.dim()}
            if not alone.isdisjoint(own):
                raise RuntimeError("an argument shares its storage with what the step changes")
            key = new_key() if is_random else NO_KEY
            found, states, fresh, values = compiled(
                key, [read(each) for each in tensors], [each.array for each in cells]
            )
            for cell, array in zip(written, states, strict=True):
                cell.array = array
            for cell, array in zip(left, fresh, strict=True):
                cell.array = array
            for number, array in zip(changed, values, strict=True):
                environment.data.write(tensors[number], array)
            for leaf, gradient, _ in gradients:
                if leaf.grad is not gradient:
                    leaf.grad = gradient
            outputs = iter(found)
            made = [
                constant if dtype is None else environment.data.wrap(next(outputs), dtype)
                for dtype, constant in results
            ]
            return tree_unflatten(made, tree)

        return run


NO_KEY = np.zeros(2, np.uint32)


def new_key() -> Any:
    """Return a key for one run, drawn by the CPU's generator, which ``manual_seed`` seeds."""
    return torch.randint(2**32, (2,), device="cpu").numpy().astype(np.uint32)


def _gradients(left: list[Cell]) -> list[tuple[torch.Tensor, torch.Tensor, Cell]]:
    """Return leaves with the gradients that a step has left in them, and with their own data.

    Another step, or the program, may replace these gradients: so each run puts them back.
    """
    made = set(map(id, left))
    found = []
    for each in gc.get_objects():
        if issubclass(type(each), torch.Tensor) and each.is_leaf and each.requires_grad:
            gradient = each.grad
            if gradient is not None:
                cell = getattr(gradient.untyped_storage(), "cell", None)
                if id(cell) in made:
                    found.append((each, gradient, cell_of(each)))
    return found
