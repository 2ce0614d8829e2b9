"""Compiles whole steps of PyTorch with JAX: the data of tensors are what JAX traces."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import jax
import torch
from torch.utils._pytree import tree_flatten

from ._fallback import KernelError
from ._host_reads import HostReadError, explained
from ._tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CompiledStep", "HostReadError", "jax_jit"]


_NEED_VALUES = (jax.errors.JAXTypeError, jax.errors.JAXIndexError)


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
        key = (rest, torch.is_grad_enabled(), *described)
        run = self._compiled.get(key)
        if run is None:
            run = self._compiled[key] = self._compile(args, kwargs, tensors)
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
            jax.eval_shape(lambda arrays: trace(arrays, [], []), inputs)
            cells = trace.used
            program = jax.jit(lambda arrays, states: trace(arrays, states, cells))
            compiled = program.lower(inputs, [each.array for each in cells]).compile()
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
        return trace.runner(compiled, cells)


def jax_jit(step: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a step of PyTorch through JAX: forward, backward and the optimizer's update.

    The step may read and change tensors of the device that are not its arguments, such as
    parameters: the compiled step changes them too. Everything else it does happens when it is
    compiled, and not again: numbers of the program, such as a learning rate, are constants, unless
    they are arguments. The first call runs the step as it is; the next one compiles it, for the
    shapes and dtypes of its tensors and for the values of its other arguments.

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
