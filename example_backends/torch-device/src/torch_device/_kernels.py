"""Generates the kernels that PyTorch calls, one for each operator, when it is registered."""

from __future__ import annotations

import linecache
from contextlib import suppress
from functools import partial
from inspect import signature
from types import FunctionType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map_only

from spatch_core import NoImplementationError

from . import _schema, _source
from ._dtypes import DtypeFinder
from ._fallback import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .environment import BackendEnvironment

# Tensors that PyTorch has made of numbers come as numbers.
_NUMBERS = frozenset((bool, int, float, complex))


class Kernels:
    """Makes the kernels of a backend.

    Parameters
    ----------
    environment : BackendEnvironment
        The backend.
    """

    def __init__(self, environment: BackendEnvironment) -> None:
        self._environment = environment

    def functional(self, operator: Any) -> Callable[..., Any]:
        """Return the kernel of an operator with an implementation of its own."""
        returns = [str(each.type) for each in operator._schema.returns]
        if returns == ["Tensor"]:
            end = ["return wrap(found, expected)"]
        elif returns == ["List[Tensor]"]:
            end = ["return list(map(wrap, found, expected or [None] * len(found)))"]
        elif set(returns) == {"Tensor"}:
            end = ["if expected is None: return tuple(map(wrap_optional, found))"]
            end += ["return tuple(map(wrap_optional, found, expected))"]
        else:
            end = ["return found"]
        return self._later(operator, operator, end)

    def in_place(self, operator: Any, functional: Any) -> Callable[..., Any]:
        """Return the kernel of an in-place operator whose functional variant is implemented."""

        name = _source.safe(_schema.written(operator)[0])
        arguments = f"{name}, {name}_data, found, expected"
        if not _schema.is_kind(operator._schema.arguments[0], "List[Tensor]"):
            end = [f"return replace({arguments})"]
            return self._later(operator, functional, end)
        end = [f"for _ in map(replace, {arguments}): pass"]
        together = self._later(operator, functional, end)

        def in_turn(*args: Any, **kwargs: Any) -> None:
            """Change tensors that share a storage one after the other."""
            tensors = args[0]
            if len({id(each.untyped_storage()) for each in tensors}) == len(tensors):
                together(*args, **kwargs)
                return
            for place in range(len(tensors)):
                together(*([a[place]] if isinstance(a, list) else a for a in args), **kwargs)

        return in_turn

    def _later(self, operator: Any, functional: Any, end: list[str]) -> Callable[..., Any]:
        """Return a function whose code is generated when it is first called.

        A device has hundreds of kernels, of which a program calls some.
        """
        names: dict[str, Any] = {}

        def generate() -> Callable[..., Any]:
            made = self._make(operator, functional, end, names)
            stub.__defaults__, stub.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
            stub.__code__ = made.__code__  # last: other threads call it meanwhile
            return stub

        names["generate"] = generate
        stub = FunctionType(_STUB, names, "kernel")
        return stub

    def _make(self, operator: Any, functional: Any, end: list[str], names: dict[str, Any]) -> Any:
        environment = self._environment
        data = environment.data
        is_run_in_context = functional in environment.in_context
        source, defaults = _source.write(
            operator,
            functional,
            end,
            is_run_in_context=is_run_in_context,
            describe_themselves=data.describe_themselves,
        )
        find = DtypeFinder(environment, functional)
        environment.find(_schema.identity(functional))  # the first look-up is another method
        names |= {
            **defaults,
            "read": data.read if _sees_conjugates(operator) else data.read_plain,
            "wrap": data.wrap,
            "wrap_optional": data.wrap_optional,
            "replace": data.replace,
            "lookup": environment.system.lookup,
            "identity": _schema.identity(functional),
            "operator": operator,
            "general": self._general,
            "dtypes": find.known,
            "find_dtypes": find,
            "explain": find.explain,
            "refuse_type_error": partial(self._refuse_type_error, functional),
            "data_type": environment.data_type,
            "NoImplementationError": NoImplementationError,
            "refuse": self._refuse,
            "elsewhere": self._elsewhere,
            "name": environment.name,
            "strided": torch.strided,
            "numbers": _NUMBERS,
            "contexts": environment.contexts,
            "new_context": environment.new_context,
        }
        filename = f"<kernel of {_schema.identity(operator)}>"
        # A traceback shows the lines of a kernel.
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        # The source is made of the schema of an operator of PyTorch.
        exec(compile(source, filename, "exec"), names)  # noqa: S102
        return names["kernel"]

    def _refuse(self, what: Any) -> Any:
        name = self._environment.name
        raise NotImplementedError(f"the device {name!r} does not support {what}")

    def _refuse_type_error(self, operator: Any, error: TypeError) -> Any:
        """Raise an error that PyTorch does not take for NotImplemented, as it does this one."""
        function = self._environment.operators[operator]
        name = (
            f"{function.__module__}.{function.__qualname__}"
            if isinstance(function, FunctionType)
            else repr(function)
        )
        with suppress(TypeError, ValueError):  # some functions of C say no signature
            name += str(signature(function))
        raise KernelError(
            f"{_schema.identity(operator)} raised TypeError: {error}. "
            f"Its implementation is {name}; it is called with {_schema.passed(operator)}"
        ) from error

    def _elsewhere(self, operator: Any, device: torch.device, *values: Any) -> Any:
        """Make what is like a tensor of this device on another one."""
        name = self._environment.name
        if device.type == name:
            raise RuntimeError(f"the device {name!r} has the index 0 alone, not {device}")

        def example(tensor: torch.Tensor) -> torch.Tensor:
            size, stride = tensor.shape, tensor.stride()
            return torch.empty_strided(size, stride, dtype=tensor.dtype, device=device)

        values = tree_map_only(torch.Tensor, example, values)
        names = [each.name for each in operator._schema.arguments]
        return _schema.call(operator, dict(zip(names, values, strict=True)))

    def _general(self, operator: Any, *values: Any) -> Any:
        names = [each.name for each in operator._schema.arguments]
        return self._environment.fallback.call(operator, dict(zip(names, values, strict=True)))


def _stub(*args: Any, **kwargs: Any) -> Any:
    return generate()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


_STUB = _stub.__code__


def _sees_conjugates(operator: Any) -> bool:
    """Return whether a kernel gets views that only say that their values are conjugates.

    Of all others PyTorch resolves them before it calls a kernel.
    """
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has_kernel(operator.name(), key) for key in ("Conjugate", "Negative"))
