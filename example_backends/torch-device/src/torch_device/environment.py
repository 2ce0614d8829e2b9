"""The public class: what a backend tells PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from spatch_core import BackendSystem

from . import _device, _schema, storages
from ._basic import draw
from ._data import Data
from ._fallback import ConversionError, Fallback, Report
from ._kernels import Kernels

_system = BackendSystem("torch_device.backends", "TORCH_DEVICE")


class BackendEnvironment:
    """A PyTorch device in Python; a process has at most one.

    Parameters
    ----------
    name : str
        The name of the device.
    data_class : type
        The class of the data.
    torch_to_data : callable
        Takes a tensor of the CPU, and returns its data.
    data_to_torch : callable
        The opposite.
    settle : callable, optional
        Takes what an implementation returned that is not of the class, and returns data.
    shape_dtype : callable, optional
        Takes data, and returns their shape and their dtype of PyTorch. Without it, data are asked
        for ``.shape`` and ``.dtype``; if they have none, `data_to_torch` is called for each result
        of an implementation.
    patterns : list of str, optional
        Type patterns of the data, if they are of more classes than one.
    around : callable, optional
        Decorates each implementation, for example where an array library is not to warn.
    conversions : bool, default: True
        Whether operators without an implementation run on the CPU.
    backward_in_thread : bool, default: True
        Whether autograd may run the backward pass in a thread of its own. With False, it runs in
        the thread that calls it: for array libraries that prepare each thread, such as MLX.

    Raises
    ------
    RuntimeError
        If the process has a device of PyTorch's key PrivateUse1 already.
    """

    def __init__(
        self,
        name: str,
        data_class: type,
        torch_to_data: Callable[[torch.Tensor], Any],
        data_to_torch: Callable[[Any], torch.Tensor],
        *,
        settle: Callable[[Any], Any] | None = None,
        shape_dtype: Callable[[Any], tuple[Any, torch.dtype]] | None = None,
        patterns: list[str] | None = None,
        around: Callable[..., Any] | None = None,
        conversions: bool = True,
        backward_in_thread: bool = True,
    ) -> None:
        self.name = name
        self.data_class = data_class
        self.data_type: type = data_class
        self.torch_to_data = torch_to_data
        self.data_to_torch = data_to_torch
        self.settle = settle or self._settle_number
        self.shape_dtype = shape_dtype
        self.around = around
        self.conversions = conversions
        self.backward_in_thread = backward_in_thread
        self.counts = Report()
        self.system = _system
        self._patterns = patterns or [f"~{data_class.__module__}:{data_class.__qualname__}"]
        self._functions: dict[str, Any] = {}
        self.operators: dict[Any, Callable[..., Any]] = {}
        self.data = Data(self)
        self.fallback = Fallback(self)
        self.kernels = Kernels(self)
        self._libraries: dict[str, Any] = {}
        self.differentiated: dict[Any, Any] = {}
        self._registered: set[Any] = set()
        self.own: frozenset[Any] = frozenset()
        self._is_described = False
        self.draw: Callable[..., Any] = partial(draw, self)
        self.module = _device.register(self)

    def register_op(self, operator: Any, function: Callable[..., Any] | None = None) -> Any:
        """Register an implementation of an operator; without a function, a decorator.

        It gets the data of the tensors, all other arguments as they are, and returns data. It never
        changes the data that it gets. It may return ``NotImplemented`` for arguments that it does
        not support.

        Parameters
        ----------
        operator : torch._ops.OpOverload, or a list of them
            For example ``torch.ops.aten.add.Tensor``. An operator with one functional overload can
            be named by ``torch.ops.aten.tanh``, ``torch.tanh`` and ``"aten::tanh"`` as well.
        function : callable, optional
            The implementation.

        Returns
        -------
        callable
            The implementation, or a decorator of it.

        Raises
        ------
        TypeError
            If an argument names no operator, or the implementation is none.
        ValueError
            If the operator has several overloads, takes no tensors, writes into a tensor or returns
            a view; if it is one that the device itself implements; or if PyTorch writes it in terms
            of others, which autograd differentiates: an implementation would have no gradient.
        """
        names = operator if isinstance(operator, (list, tuple)) else [operator]
        operators = list(map(_schema.overload_of, names))
        for each in operators:
            _schema.check(each, self.own)

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            kinds = (torch._ops.OpOverload, torch._ops.OpOverloadPacket, str)
            if isinstance(function, kinds) or not callable(function):
                raise TypeError(
                    f"an implementation is a function of data, not {function!r}; several operators "
                    "come in a list"
                )
            for each in operators:
                self._register(each, function)
            return function

        return register if function is None else register(function)

    def _register(self, operator: Any, function: Callable[..., Any]) -> None:
        identity = _schema.identity(operator)
        if identity not in self._functions:
            self.system.adopt(operator, identity)
        self._functions[identity] = self.around(function) if self.around else function
        self.operators[operator] = function
        if operator in self.differentiated:  # with an implementation, PyTorch's gradient is back
            self.differentiated.pop(operator)._destroy()
        if self._is_described:  # an operator that is registered late
            self.system.unregister(self.name)
            self._is_described = False
            self.describe()
        if operator in _schema.USED:
            return  # kernels of the device call it
        self.register_kernel(operator, self.kernels.functional(operator))
        in_place = _schema.in_place_of(operator)
        if in_place is not None:
            self.register_kernel(in_place, self.kernels.in_place(in_place, operator))

    def register_kernel(self, operator: Any, kernel: Callable[..., Any]) -> None:
        """Give PyTorch the kernel of an operator; it gets and returns tensors."""
        namespace = operator.namespace
        library = self._libraries.get(namespace)
        if library is None:
            library = self._libraries[namespace] = torch.library.Library(namespace, "IMPL")
        key = "PrivateUse1"
        if operator not in self._registered:
            library.impl(operator, kernel, key, allow_override=False)
            self._registered.add(operator)
            return
        with warnings.catch_warnings():
            # A user may replace what this package has registered.
            warnings.filterwarnings("ignore", "Warning only once for all operators", UserWarning)
            library.impl(operator, kernel, key)

    def register_default_decompositions(self) -> None:
        """Let all other operators run in terms of the registered ones, as far as PyTorch can.

        Without it, some operators that PyTorch composes for devices raise, such as convolutions.
        """
        from ._decompositions import register  # imports much of PyTorch

        register(self)

    def is_registered(self, operator: Any) -> bool:
        """Return whether the device has a kernel of its own for an operator."""
        return operator in self._registered

    def find(self, identity: str, kind: type | None = None) -> Callable[..., Any] | None:
        """Return the implementation of an operator for a class, or for the backend's own."""
        if identity not in self._functions:
            return None
        self.describe()
        return self.system.lookup(identity, (kind or self.data_type,))

    def keep(self, library: Any) -> None:
        """Keep a library of kernels alive, without which PyTorch forgets them."""
        self._libraries[f"kept {len(self._libraries)}"] = library

    def read_by_host(self, identity: str) -> None:
        """Count that the host reads values of data."""
        _tell_watch(identity)
        self.counts.host_reads[identity] += 1

    def copy_to_cpu(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a copy that the program asks for, and count it."""
        _tell_watch("aten:_to_copy")
        self.counts.copies["to_cpu"] += 1
        return self.read_to_cpu(tensor)

    def report(self) -> Report:
        """Return what has left the device."""
        return self.counts

    def describe(self) -> None:
        """Tell the system what the backend implements, before the first look-up."""
        if not self._is_described:
            functions = {key: {"function": each} for key, each in self._functions.items()}
            self.system.register(
                {"name": self.name, "primary_types": self._patterns, "functions": functions}
            )
            self._is_described = True

    def count_conversion(self, identity: str, reasons: str) -> None:
        """Count a conversion to the CPU.

        Raises
        ------
        ConversionError
            If the policy forbids conversions.
        """
        if not self.conversions:
            raise ConversionError(
                f"{identity} does not run on the device {self.name!r}: {reasons}. Register an "
                "implementation with register_op, or allow conversions to the CPU: "
                "environment.conversions = True"
            )
        _tell_watch(identity)
        self.counts.conversions[identity] += 1

    def _settle_number(self, value: Any) -> Any:
        try:
            tensor = torch.as_tensor(value)
        except (RuntimeError, TypeError, ValueError) as error:
            raise TypeError(
                f"an implementation has returned {value!r}, which is neither of the class "
                f"{self.data_class.__name__} nor a number"
            ) from error
        return self.torch_to_data(tensor)

    def read_to_cpu(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a copy of a tensor on the CPU, without its history of gradients."""
        # A conversion may keep the order of transposed data, or memory that PyTorch cannot resize.
        found = self.data_to_torch(self.data.read(tensor))
        return found.clone(memory_format=torch.contiguous_format)

    def from_cpu(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor of the device with the values of one of the CPU."""
        _device.check_layout(self.name, tensor)
        if tensor._is_zerotensor():
            tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
        tensor = tensor.detach().resolve_conj().resolve_neg()
        # A conversion may share memory, and the program may write into its tensor.
        tensor = tensor.clone(memory_format=torch.contiguous_format)
        array = self.data.settle(self.torch_to_data(tensor))
        return storages.wrap(array, tensor.shape, tensor.dtype)


def _tell_watch(identity: str) -> None:
    if storages.watch is not None:
        storages.watch.read_by_host(identity)
