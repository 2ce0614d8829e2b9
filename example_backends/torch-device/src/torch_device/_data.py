"""Reads and writes the data of tensors, and of views of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from . import _storage
from ._storage import Cell, cell_of, is_whole

if TYPE_CHECKING:
    from .environment import BackendEnvironment


class Data:
    """The data of a backend's tensors.

    Parameters
    ----------
    environment : BackendEnvironment
        The backend.
    """

    def __init__(self, environment: BackendEnvironment) -> None:
        self.environment = environment
        self._classes: set[type] = set()
        self._dtypes: dict[Any, torch.dtype] = {}

    def read(self, tensor: torch.Tensor) -> Any:
        """Return the data of a tensor, also of a view, and of one that says to be a conjugate."""
        array = self.read_plain(tensor)
        if tensor.is_conj():
            array = self.settle(self.implementation("aten:_conj_physical", array)(array))
        if tensor.is_neg():
            array = self.settle(self.implementation("aten:neg", array)(array))
        return array

    def read_plain(self, tensor: torch.Tensor) -> Any:
        """Return the data of a tensor, also of a view, without its conjugation."""
        try:
            cell: Cell = tensor.untyped_storage().cell  # type: ignore[attr-defined]
        except (AttributeError, NotImplementedError):
            return self._foreign(tensor)
        if _storage.on_read is not None:
            _storage.on_read(cell)
        if not cell.has_views or is_whole(tensor, cell):
            return cell.array
        return self._strided(tensor, cell)

    def read_optional(self, tensor: torch.Tensor | None) -> Any:
        """Return the data of a tensor that may be absent."""
        return None if tensor is None else self.read(tensor)

    def write(self, tensor: torch.Tensor, array: Any) -> torch.Tensor:
        """Replace the data of a tensor; those of a view change in its storage."""
        cell = cell_of(tensor)
        array = self.cast(self.settle(array), tensor.dtype)
        if tuple(array.shape) != tuple(tensor.shape):
            array = self.implementation("aten:expand", array)(array, list(tensor.shape))
        if tensor.is_conj():
            array = self.implementation("aten:_conj_physical", array)(array)
        if tensor.is_neg():
            array = self.implementation("aten:neg", array)(array)
        if _storage.on_write is not None:
            _storage.on_write(cell)
        if not is_whole(tensor, cell):
            if _storage.on_read is not None:
                _storage.on_read(cell)
            size, stride, offset = _layout(tensor)
            base = self._as(cell.array, cell.dtype, tensor.dtype)
            scatter = self.implementation("aten:as_strided_scatter", array)
            array = self._as(scatter(base, array, size, stride, offset), tensor.dtype, cell.dtype)
            if tuple(array.shape) != cell.shape:
                array = self.implementation("aten:as_strided", array)(
                    array, cell.shape, _contiguous(cell.shape), 0
                )
        cell.array = array
        return tensor

    def assign(self, target: torch.Tensor, value: torch.Tensor, *, resizing: bool) -> None:
        """Write values into a tensor, whose shape changes if an operator has it as ``out=``."""
        if target is value:
            return
        check_cast(value.dtype, target.dtype)
        if target.device.type != self.environment.name:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{self.environment.name}:0 and {target.device}!"
            )
        if value.device.type == "cpu":
            value = self.environment.from_cpu(value)
        if resizing and target.shape != value.shape:
            target.data = self.wrap(self.read(value), target.dtype)
        else:
            self.write(target, self.read(value))

    def replace(
        self, tensor: torch.Tensor, before: Any, array: Any, dtype: torch.dtype | None
    ) -> torch.Tensor:
        """Write the result of an in-place operator, of which PyTorch says the dtype.

        Parameters
        ----------
        tensor : torch.Tensor
            The tensor.
        before : object
            The data that were read of it.
        array : object
            The result of the implementation.
        dtype : torch.dtype or None
            The dtype that the result has in PyTorch.
        """
        cell: Any = cell_of(tensor)
        own, kind = cell.dtype, type(array)
        # What is read of a whole tensor is the data of its storage.
        if (
            cell.array is before
            and dtype is own
            and kind in self._classes
            and array.shape == cell.shape
            and self._dtypes.get(array.dtype) is own
        ):
            if _storage.on_write is not None:
                _storage.on_write(cell)
            cell.array = array
            return tensor
        array = self.settle(array)
        if tuple(array.shape) != tensor.shape:
            raise RuntimeError(
                f"output with shape {list(tensor.shape)} doesn't match the broadcast shape "
                f"{list(array.shape)}"
            )
        check_cast(dtype, tensor.dtype)
        return self.write(tensor, array)

    def wrap(self, array: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Return a new tensor for the result of an implementation."""
        if array.__class__ not in self._classes:
            array = self.settle(array)
        if dtype is None:
            dtype = self.dtype(array)
        elif self._dtypes.get(array.dtype) is not dtype:
            array = self.cast(array, dtype)
        return _storage.wrap(array, array.shape, dtype)

    def wrap_optional(self, array: Any, dtype: torch.dtype | None = None) -> torch.Tensor | None:
        """Return a new tensor, or None for a result that the caller has masked."""
        return None if array is None else self.wrap(array, dtype)

    def settle(self, array: Any) -> Any:
        """Return an object of the backend's class: NumPy's operators give scalars too."""
        if array.__class__ not in self._classes:
            if not isinstance(array, self.environment.data_class):
                return self.environment.settle(array)
            self._classes.add(array.__class__)
        return array

    def dtype(self, array: Any) -> torch.dtype:
        """Return the dtype of data."""
        found = self._dtypes.get(array.dtype)
        if found is None:
            found = getattr(torch, str(array.dtype).rpartition(".")[2])
            self._dtypes[array.dtype] = found
        return found

    def cast(self, array: Any, dtype: torch.dtype) -> Any:
        """Return data of another dtype."""
        if self.dtype(array) is dtype:
            return array
        return self.implementation("aten:_to_copy", array)(array, dtype=dtype)

    def implementation(self, identity: str, array: Any) -> Any:
        """Return the implementation of an operator, or one by conversion to the CPU."""
        found = self.environment.find(identity, type(array))
        return self._by_conversion(identity) if found is None else found

    def _strided(self, tensor: torch.Tensor, cell: Cell) -> Any:
        array = self._as(cell.array, cell.dtype, tensor.dtype)
        return self.implementation("aten:as_strided", array)(array, *_layout(tensor))

    def _as(self, array: Any, old: torch.dtype, new: torch.dtype) -> Any:
        if old is new:
            return array
        return self.implementation("aten:view.dtype", array)(array, new)

    def _by_conversion(self, identity: str) -> Any:
        environment = self.environment
        overload = identity.partition(":")[2].split(".")
        operator = getattr(getattr(torch.ops.aten, overload[0]), (*overload, "default")[1])

        def convert(array: Any, *args: Any, **kwargs: Any) -> Any:
            environment.count_conversion(identity, "it has no implementation")
            first = environment.data_to_torch(array).contiguous()
            if identity.startswith("aten:as_strided"):
                first = first.view(-1)
            args = tuple(
                environment.data_to_torch(each)
                if isinstance(each, environment.data_class)
                else each
                for each in args
            )
            return environment.torch_to_data(operator(first, *args, **kwargs).contiguous())

        return convert

    def _foreign(self, tensor: torch.Tensor) -> Any:
        name = self.environment.name
        is_here = tensor.device.type == name
        if tensor._is_zerotensor() and (is_here or tensor.dim() == 0):
            # Forward-mode derivatives have tensors of zeros without memory.
            return self.environment.torch_to_data(torch.zeros(tensor.shape, dtype=tensor.dtype))
        if tensor.device.type == "cpu":
            if tensor.dim() == 0:
                return self.environment.torch_to_data(tensor.detach())
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{name}:0 and cpu!"
            )
        cell_of(tensor)  # raises
        raise AssertionError


def check_cast(found: torch.dtype | None, wanted: torch.dtype) -> None:
    """Raise PyTorch's error if results of one dtype cannot be written into a tensor of another."""
    if isinstance(found, torch.dtype) and not torch.can_cast(found, wanted):
        names = [str(each).partition(".")[2].capitalize() for each in (found, wanted)]
        raise RuntimeError(
            f"result type {names[0]} can't be cast to the desired output type {names[1]}"
        )


def _layout(tensor: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...], Any]:
    return tensor.shape, tensor.stride(), tensor.storage_offset()


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for each in reversed(shape):
        strides.append(step)
        step *= max(each, 1)
    return tuple(strides[::-1])
