"""Finds the dtypes that results have in PyTorch, and PyTorch's own errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map_only

from . import _schema

if TYPE_CHECKING:
    from .environment import BackendEnvironment


class DtypeFinder:
    """The dtypes of an operator's results, by those of the arguments.

    PyTorch's promotion is its own: the operator runs on tensors without data to find them.

    Parameters
    ----------
    environment : BackendEnvironment
        The backend.
    operator : torch._ops.OpOverload
        The operator.

    Attributes
    ----------
    known : dict
        What has been found.
    """

    def __init__(self, environment: BackendEnvironment, operator: Any) -> None:
        self._environment = environment
        self._operator = operator
        self.known: dict[Any, Any] = {}

    def __call__(self, key: Any, values: tuple[Any, ...]) -> Any:
        self._environment.describe()
        try:
            found = self._on_meta(values)
        except (NotImplementedError, RuntimeError, TypeError, AttributeError) as error:
            # An AttributeError is a fault of PyTorch's function for tensors without data.
            is_fault = isinstance(error, (NotImplementedError, AttributeError))
            if not is_fault and not _is_missing(error):
                raise
            self.known[key] = None
            return None
        if isinstance(found, torch.Tensor):
            dtypes: Any = found.dtype
        elif isinstance(found, list):
            dtypes = [each.dtype for each in found]
        else:
            dtypes = tuple(None if each is None else each.dtype for each in found)
        self.known[key] = dtypes
        return dtypes

    def explain(self, error: Exception, values: tuple[Any, ...]) -> None:
        """Raise PyTorch's own error, if the operator does not allow the arguments."""
        if isinstance(error, (RuntimeError, NotImplementedError)):
            return
        try:
            self._on_meta(values)
        except (RuntimeError, IndexError, ValueError) as own:
            if not _is_missing(own):
                raise own from error

    def _on_meta(self, values: tuple[Any, ...]) -> Any:
        arguments = self._operator._schema.arguments
        if not any("Tensor" in str(each.type) for each in arguments):
            raise NotImplementedError

        def to_meta(tensor: torch.Tensor) -> torch.Tensor:
            return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")

        values = tree_map_only(torch.Tensor, to_meta, values)
        named = {
            each.name: value
            for each, value in zip(arguments, values, strict=False)
            if each.name != "generator"
        }
        if "device" in named and named["device"] is not None:
            named["device"] = torch.device("meta")
        return _schema.call(self._operator, named)


def _is_missing(error: Exception) -> bool:
    text = str(error)
    return "meta" in text.lower() or "data-dependent" in text or "fake" in text.lower()
