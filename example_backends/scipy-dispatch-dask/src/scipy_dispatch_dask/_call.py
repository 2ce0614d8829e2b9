"""A call of a function of `scipy_dispatch`, with its arguments bound to their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from ._dask import Array, da


@dataclass(frozen=True)
class Call:
    """A function and its arguments by name."""

    function: Callable[..., Any]
    # Those that the caller passed; defaults are absent.
    arguments: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        """Return the argument `name` or its default; None if the installed SciPy lacks it."""
        if name in self.arguments:
            return self.arguments[name]
        parameter = _signature(self.function).parameters.get(name)
        return None if parameter is None else parameter.default

    def replaced(self, **changes: Any) -> Call:
        """Return this call with some arguments replaced; those that SciPy lacks are dropped."""
        known = _signature(self.function).parameters
        kept = {name: value for name, value in changes.items() if name in known}
        return Call(self.function, {**self.arguments, **kept})

    def without(self, *names: str) -> Call:
        """Return this call without some of its arguments."""
        return Call(
            self.function,
            {name: value for name, value in self.arguments.items() if name not in names},
        )

    def kept(self) -> Call:
        """Return this call with copies of its arrays, which the caller cannot change."""
        try:
            kept = {name: _copied(value) for name, value in self.arguments.items()}
        except RecursionError:  # a list that contains itself
            return self
        return Call(self.function, kept)


def bind(identifier: str, args: Iterable[Any], kwargs: Mapping[str, Any]) -> Call:
    """Return the call of `identifier`, such as ``"scipy_dispatch.ndimage:sobel"``.

    Raises TypeError if the arguments do not fit the signature.
    """
    function = dispatchable(identifier)
    parameters = _signature(function)
    arguments: dict[str, Any] = {}
    for name, value in parameters.bind(*args, **kwargs).arguments.items():
        if parameters.parameters[name].kind is Parameter.VAR_KEYWORD:
            arguments.update(value)
        else:
            arguments[name] = value
    return Call(function, arguments)


def dispatchable(identifier: str) -> Callable[..., Any]:
    """Return the function of `scipy_dispatch` that `identifier` names."""
    module, _, name = identifier.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def is_dask_array(value: Any) -> bool:
    """Return whether `value` is a Dask array."""
    return isinstance(value, da.Array)


def is_lazy_number(value: Any) -> bool:
    """Return whether `value` is a number not yet computed: a Dask array without dimensions."""
    return is_dask_array(value) and value.ndim == 0


def holds_dask_array(value: Any) -> bool:
    """Return whether `value` is a Dask array, or a list or tuple that contains one."""
    if not isinstance(value, list | tuple):
        return is_dask_array(value)
    try:
        return any(holds_dask_array(each) for each in value)
    except RecursionError:  # a list that contains itself
        return False


def has_unknown_chunks(x: Array) -> bool:
    """Return whether some axis of `x` has a length that only computing it would show."""
    return any(math.isnan(length) for length in x.shape)


def _copied(value: Any) -> Any:
    """Return `value` with copies of all NumPy arrays in it, in C order.

    Dask names arrays by hashing their bytes in memory order, which are the same for an array and
    its transpose.
    """
    if isinstance(value, np.ma.MaskedArray):
        return value.copy(order="C")
    if isinstance(value, np.ndarray):
        return np.array(value, order="C", subok=not isinstance(value, np.memmap))
    if type(value) is dict:
        return {key: _copied(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return value


@lru_cache(maxsize=256)
def _signature(function: Callable[..., Any]) -> Signature:
    return signature(function)
