"""What a step of PyTorch reads, changes, makes and returns while JAX traces it."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from torch_device import storages
from torch_device.storages import Cell, cell_of, wrap

from ._errors import HostReadError, line_of, refuse_host_read

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self


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
        refuse_host_read(identity)

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


class _Generator:
    """Draws as NumPy's generators do, from a key of JAX that each run of a step has anew.

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
        random, module = self._environment.random, self._environment.module
        self._before = random.generator, module.seed, module.get_state, module.set_state
        random.generator = self
        module.seed, module.get_state, module.set_state = self.seed, self.get_state, self.set_state
        return self

    def __exit__(self, *_: object) -> None:
        random, module = self._environment.random, self._environment.module
        random.generator, module.seed, module.get_state, module.set_state = self._before

    def seed(self, seed: int) -> None:
        self._state = jax.random.key_data(jax.random.key(seed % 2**63))

    def get_state(self) -> torch.Tensor:
        return self._environment.data.wrap(self._state)  # type: ignore[no-any-return]

    def set_state(self, state: torch.Tensor) -> None:
        self._state = self._environment.data.read(state)

    def _key(self) -> Any:
        self.is_used = True
        keys = jax.random.split(jax.random.wrap_key_data(self._state))
        self._state = jax.random.key_data(keys[0])
        return keys[1]

    def random(self, shape: Any) -> Any:
        return jax.random.uniform(self._key(), shape, jnp.float32)

    def uniform(self, low: float, high: float, shape: Any) -> Any:
        return jax.random.uniform(self._key(), shape, jnp.float64, low, high)

    def normal(self, mean: float, scale: float, shape: Any) -> Any:
        return jax.random.normal(self._key(), shape, jnp.float64) * scale + mean

    def exponential(self, scale: float, shape: Any) -> Any:
        return jax.random.exponential(self._key(), shape, jnp.float64) * scale

    def lognormal(self, mean: float, scale: float, shape: Any) -> Any:
        return jnp.exp(self.normal(mean, scale, shape))

    def geometric(self, p: float, shape: Any) -> Any:
        return jax.random.geometric(self._key(), p, shape)

    def standard_cauchy(self, shape: Any) -> Any:
        return jax.random.cauchy(self._key(), shape, jnp.float64)

    def integers(self, low: int, high: int, shape: Any) -> Any:
        return jax.random.randint(self._key(), shape, low, high, jnp.int64)

    def permutation(self, count: int) -> Any:
        return jax.random.permutation(self._key(), count)


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
            self._results = [_Result(each) for each in results]
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
            key = new_key(environment) if is_random else NO_KEY
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
            return tree_unflatten([each.make(outputs) for each in results], tree)

        return run


class _Result:
    """One result of a step: a tensor of a dtype, or a constant."""

    def __init__(self, value: Any) -> None:
        self._dtype = value.dtype if isinstance(value, torch.Tensor) else None
        self._constant = None if isinstance(value, torch.Tensor) else value

    def make(self, arrays: Any) -> Any:
        if self._dtype is None:
            return self._constant
        array = next(arrays)
        return wrap(array, tuple(array.shape), self._dtype)


NO_KEY = np.zeros(2, np.uint32)


def new_key(environment: Any) -> Any:
    """Return a key for one run, drawn by the device's generator, which ``manual_seed`` seeds."""
    return environment.random.generator.integers(0, 2**32, 2).astype(np.uint32)


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
