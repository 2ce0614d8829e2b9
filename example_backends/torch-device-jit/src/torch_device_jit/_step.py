"""Compiles whole steps of PyTorch with JAX: the data of tensors are what JAX traces."""

from __future__ import annotations

import dis
import functools
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import TYPE_CHECKING, Any

import jax
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils._pytree import tree_flatten

from torch_device import KernelError

from ._tracing import NO_KEY, Trace, explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NEED_VALUES = (jax.errors.JAXTypeError, jax.errors.JAXIndexError)
_NUMBERS = (bool, int, float, complex, str, type(None))
_SEEN = (torch.Tensor, nn.Module, torch.optim.Optimizer, *_NUMBERS)
_FIXED = (ModuleType, type, BuiltinFunctionType)


class _Guards:
    """What a program has of Python, beside the arguments of the step, and must be the same later.

    These are the flags of modules (``training``), the numbers in an optimizer's ``param_groups``,
    and the numbers that the code of the step names: variables of a closure, and global ones.
    """

    def __init__(self, step: Callable[..., Any]) -> None:
        step = getattr(step, "__func__", step)
        code = getattr(step, "__code__", None)
        cells = getattr(step, "__closure__", None) or ()
        self._cells = dict(zip(code.co_freevars, cells, strict=True)) if code else {}
        self._names = sorted(_names(code)) if code else []
        self._globals = getattr(step, "__globals__", {})
        self._modules: dict[int, nn.Module] = {}
        self._optimizers: dict[int, torch.optim.Optimizer] = {}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note each module that is called and each optimizer that takes a step."""
        handles = [
            register_module_forward_pre_hook(
                lambda module, _: self._modules.__setitem__(id(module), module)
            ),
            register_optimizer_step_pre_hook(
                lambda each, *_: self._optimizers.__setitem__(id(each), each)
            ),
        ]
        try:
            yield
        finally:
            for each in handles:
                each.remove()

    def key(self) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
        """Return the present numbers and flags."""
        numbers = [(name, each) for name, each in self._variables() if type(each) in _NUMBERS]
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                values = ((name, _number(each)) for name, each in group.items() if name != "params")
                numbers += values
        # With classes, because True equals 1.
        of_numbers = tuple((name, value, value.__class__) for name, value in numbers)
        return of_numbers, tuple(each.training for each in self._modules.values())

    def key_after(self, before: Any) -> Any:
        """Return the present key, of which a trace may know more; what was known is the same."""
        key = self.key()
        for old, new in zip(before, key, strict=True):
            for one, other in zip(old, new, strict=False):
                if one != other:
                    raise RuntimeError(
                        f"the step changes {one[0] if isinstance(one, tuple) else 'training'!r}, "
                        "which a compiled step would not do again: change it outside of the step"
                    )
        return key

    def unseen(self) -> list[str]:
        """Return the names of objects of the program that may change unnoticed."""
        return [
            f"{name} ({type(each).__name__})"
            for name, each in self._variables()
            if not isinstance(each, (*_SEEN, *_FIXED))
        ]

    def _variables(self) -> Iterator[tuple[str, Any]]:
        for name, cell in self._cells.items():
            try:
                yield name, cell.cell_contents
            except ValueError:  # not set yet
                continue
        for name in self._names:
            if name in self._globals:
                yield name, self._globals[name]


def _names(code: CodeType) -> set[str]:
    """Return the names that a function reads of its module, and those of what it contains."""
    inner = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return own.union(*inner)


def _number(value: Any) -> Any:
    if isinstance(value, torch.Tensor):  # one of the device is an input of the program
        return value.item() if value.device.type == "cpu" and value.numel() == 1 else None
    return value if isinstance(value, (*_NUMBERS, tuple)) else None


class CompiledStep:
    """A step that JAX has compiled; see `jax_jit`."""

    def __init__(self, step: Callable[..., Any]) -> None:
        functools.update_wrapper(self, step)
        self._step = step
        self._guards = _Guards(step)
        self._compiled: dict[Any, Callable[..., Any]] = {}
        self._has_run = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._has_run:
            # The first run makes what is made once: the state of optimizers.
            with self._guards.noting():
                found = self._step(*args, **kwargs)
            self._has_run = True
            return found
        tensors, rest = args, None
        if kwargs or not all(isinstance(each, torch.Tensor) for each in args):
            flat, tree = tree_flatten((args, kwargs))
            tensors = tuple(each for each in flat if isinstance(each, torch.Tensor))
            constants = [None if isinstance(each, torch.Tensor) else each for each in flat]
            rest = repr((tree, constants))
        described = [(each.shape, each.dtype, each.requires_grad) for each in tensors]
        own = (rest, torch.is_grad_enabled(), *described)
        guarded = self._guards.key()
        run = self._compiled.get((own, guarded))
        if run is None:
            with self._guards.noting():
                run = self._compile(args, kwargs, tensors)
            self._compiled[own, self._guards.key_after(guarded)] = run
        return run(tensors)

    def _compile(self, args: Any, kwargs: Any, tensors: Any) -> Callable[..., Any]:
        module = getattr(torch, tensors[0].device.type, None) if tensors else None
        environment = getattr(module, "environment", None)
        if environment is None:
            raise TypeError("a compiled step takes at least one tensor of the device, as the first")
        trace = Trace(self._step, environment, *tree_flatten((args, kwargs)))
        inputs = [environment.data.read(each) for each in tensors]
        try:
            # Once for the storages that the step uses, and again with these as inputs.
            jax.eval_shape(lambda key, arrays: trace(key, arrays, [], []), NO_KEY, inputs)
            cells = trace.used
            program = jax.jit(lambda key, arrays, states: trace(key, arrays, states, cells))
            compiled = program.lower(NO_KEY, inputs, [each.array for each in cells]).compile()
            is_same = list(map(id, trace.used)) == list(map(id, cells))
        except jax.errors.UnexpectedTracerError:
            is_same = False
        except (*_NEED_VALUES, KernelError) as error:
            if isinstance(error, KernelError) and not isinstance(error.__cause__, _NEED_VALUES):
                raise
            raise explained(error) from error
        if not is_same:
            raise RuntimeError(
                "the step uses what it has left behind when it ran before, such as gradients: call "
                "optimizer.zero_grad() in the step"
            )
        name = getattr(self._step, "__qualname__", repr(self._step))
        constants = environment.report().constants
        constants.update({f"{name}: {each}" for each in self._guards.unseen()})
        return trace.runner(compiled, cells)


def jax_jit(step: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a step of PyTorch through JAX: forward, backward and the optimizer's update.

    The step may read and change tensors of the device that are not its arguments, such as
    parameters: the compiled step changes them too. Everything else it does happens when it is
    compiled, and not again. The first call runs the step as it is; the next one compiles it.

    A step is compiled anew for other shapes and dtypes of its tensors, other values of its other
    arguments, and where one of these has changed: ``training`` of a module that it calls, a number
    in ``param_groups`` of an optimizer, a number in a variable that its code names. What else its
    code names, such as a dictionary, is constant, and listed by ``environment.report()``.

    Parameters
    ----------
    step : callable
        Takes tensors of the device, and returns tensors, without their history.

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
