"""Reads and writes the data of tensors, and of views of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from . import storages
from .storages import Cell, cell_of, is_whole

if TYPE_CHECKING:
    from .environment import BackendEnvironment


class Data:
    """The data of a backend's tensors."""

    def __init__(self, environment: BackendEnvironment) -> None:
        self.environment = environment
        self._classes: set[Any] = set()
        self._dtypes: dict[Any, torch.dtype] = {}

    def read(self, tensor: torch.Tensor) -> Any:
        """Return the data of a tensor, also of a view, and of one that says to be a conjugate."""
        array = self.read_plain(tensor)
        if tensor.is_conj():
            array = self.run("aten:_conj_physical", array)
        if tensor.is_neg():
            array = self.run("aten:neg", array)
        return array

    def read_plain(self, tensor: torch.Tensor) -> Any:
        """Return the data of a tensor, also of a view, without its conjugation."""
        try:
            cell: Cell = tensor.untyped_storage().cell  # type: ignore[attr-defined]
        except (AttributeError, NotImplementedError):
            return self._foreign(tensor)
        if storages.watch is not None:
            storages.watch.use(cell)
        if not cell.has_views or is_whole(tensor, cell):
            return cell.array
        return self._strided(tensor, cell)

    def read_index(self, tensor: torch.Tensor | None) -> Any:
        """Return the data of an index or a mask, which may be absent, or a tensor of the CPU."""
        if tensor is None or tensor.device.type != "cpu":
            return None if tensor is None else self.read(tensor)
        self.environment.counts.copies["from_cpu"] += 1
        return self.settle(self.environment.torch_to_data(tensor.contiguous()))

    def write(
        self, tensor: torch.Tensor, array: Any, like: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Replace the data of a tensor; those of a view change in its storage.

        If their shape and dtype are known, a tensor `like` them says so.
        """
        cell = cell_of(tensor)
        array = self.settle(array)
        shape, dtype = self.shape_dtype(array) if like is None else (like.shape, like.dtype)
        array = self.cast(array, dtype, tensor.dtype)
        if tuple(shape) != tensor.shape:
            array = self.run("aten:expand", array, list(tensor.shape))
        if tensor.is_conj():
            array = self.run("aten:_conj_physical", array)
        if tensor.is_neg():
            array = self.run("aten:neg", array)
        if storages.watch is not None:
            storages.watch.use(cell)
        if not is_whole(tensor, cell):
            base = self._as(cell.array, cell.dtype, tensor.dtype)
            array = self.run("aten:as_strided_scatter", base, array, *_layout(tensor))
            array = self._as(array, tensor.dtype, cell.dtype)
            if cell.dtype is not tensor.dtype:  # which has made it flat
                strides = torch.empty(cell.shape, device="meta").stride()
                array = self.run("aten:as_strided", array, cell.shape, strides, 0)
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
            self.write(target, self.read(value), value)

    def replace(
        self, tensor: torch.Tensor, before: Any, array: Any, dtype: torch.dtype | None
    ) -> torch.Tensor:
        """Write the result of an in-place operator, to which PyTorch gives a dtype.

        `before` are the data that were read of the tensor.
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
            if storages.watch is not None:
                storages.watch.use(cell)
            cell.array = array
            return tensor
        refuse_repeated(tensor)
        return self.fill(tensor, before, array, dtype)

    def fill(
        self, tensor: torch.Tensor, before: Any, array: Any, dtype: torch.dtype | None
    ) -> torch.Tensor:
        """Write a result as `replace` does, also into elements that share their memory."""
        array = self.settle(array)
        shape, _ = self.shape_dtype(array)
        if shape != tensor.shape:
            raise RuntimeError(
                f"output with shape {list(tensor.shape)} doesn't match the broadcast shape "
                f"{list(shape)}"
            )
        check_cast(dtype, tensor.dtype)
        return self.write(tensor, array)

    def wrap(self, array: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Return a new tensor for the result of an implementation."""
        if array.__class__ not in self._classes:
            array = self.settle(array)
            if array.__class__ not in self._classes:
                shape, own = self.shape_dtype(array)
                wanted = dtype or own
                return storages.wrap(self.cast(array, own, wanted), shape, wanted)
        if dtype is None:
            dtype = self.dtype(array)
        elif self._dtypes.get(array.dtype) is not dtype:
            array = self.cast(array, self.dtype(array), dtype)
        return storages.wrap(array, array.shape, dtype)

    def wrap_optional(self, array: Any, dtype: torch.dtype | None = None) -> torch.Tensor | None:
        """Return a new tensor, or None for a result that the caller has masked."""
        return None if array is None else self.wrap(array, dtype)

    def settle(self, array: Any) -> Any:
        """Return an object of the backend's class: NumPy's operators give scalars too."""
        if array.__class__ not in self._classes:
            if not isinstance(array, self.environment.data_class):
                return self.environment.settle(array)
            if self.describe_themselves:
                self._classes.add(array.__class__)
        return array

    @cached_property
    def describe_themselves(self) -> bool:
        """Whether data have a shape and a dtype, as arrays do."""
        if self.environment.shape_dtype is not None:
            return False
        array = self.environment.torch_to_data(torch.zeros(3))
        try:
            return tuple(array.shape) == (3,) and self.dtype(array) is torch.float32
        except (AttributeError, TypeError):
            return False

    def shape_dtype(self, array: Any) -> tuple[tuple[int, ...], torch.dtype]:
        """Return the shape and the dtype of data."""
        if array.__class__ in self._classes:
            return tuple(array.shape), self.dtype(array)
        if self.environment.shape_dtype is not None:
            shape, dtype = self.environment.shape_dtype(array)
            return tuple(shape), dtype
        found = self.environment.data_to_torch(array)
        return tuple(found.shape), found.dtype

    def dtype(self, array: Any) -> torch.dtype:
        """Return the dtype of data that have one."""
        found = self._dtypes.get(array.dtype)
        if found is None:
            found = getattr(torch, str(array.dtype).rpartition(".")[2])
            self._dtypes[array.dtype] = found
        return found

    def cast(self, array: Any, old: torch.dtype, new: torch.dtype) -> Any:
        """Return data of another dtype."""
        return array if old is new else self.run("aten:_to_copy", array, dtype=new)

    def run(self, identity: str, array: Any, *args: Any, **options: Any) -> Any:
        """Return the result of an operator for data: of its implementation, or of the CPU."""
        own = self.environment.find(identity, type(array))
        found = NotImplemented if own is None else own(array, *args, **options)
        if found is NotImplemented:
            found = self._convert(identity, array, *args, **options)
        return found if found.__class__ in self._classes else self.settle(found)

    def _strided(self, tensor: torch.Tensor, cell: Cell) -> Any:
        array = self._as(cell.array, cell.dtype, tensor.dtype)
        layout = _layout(tensor)
        # As `run`, but each read of a view comes here: unpacking its arguments takes longer.
        own = self.environment.find("aten:as_strided", array.__class__)
        if own is not None:
            found = own(array, *layout)
            if found.__class__ in self._classes:
                return found
            if found is not NotImplemented:
                return self.settle(found)
        return self._convert("aten:as_strided", array, *layout)

    def _as(self, array: Any, old: torch.dtype, new: torch.dtype) -> Any:
        """Return data in the order of their elements, of another dtype of the same bytes."""
        return array if old is new else self.run("aten:view.dtype", array, new)

    def _convert(self, identity: str, array: Any, *args: Any, **options: Any) -> Any:
        environment = self.environment
        environment.count_conversion(identity, "it has no implementation")
        packet, _, overload = identity.partition(":")[2].partition(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        first = environment.data_to_torch(array).contiguous()
        if identity == "aten:as_strided_scatter":
            args = environment.data_to_torch(args[0]), *args[1:]
            found = operator(first.view(-1), *args, **options).view(first.shape)
        elif identity in ("aten:as_strided", "aten:view.dtype"):
            # What counts is the order of the elements, not their shape.
            found = operator(first.view(-1), *args, **options)
        else:
            found = operator(first, *args, **options)
        return environment.torch_to_data(found.clone(memory_format=torch.contiguous_format))

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


def refuse_repeated(tensor: torch.Tensor) -> None:
    """Raise PyTorch's error for a write into an expanded tensor, of which elements are the same."""
    layout = zip(tensor.shape, tensor.stride(), strict=True)
    if 0 in tensor.stride() and tensor.numel() and any(n > 1 and not step for n, step in layout):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def refuse_overlap(tensor: torch.Tensor, others: list[Any], size: int | None = None) -> None:
    """Raise PyTorch's error for a write into the memory of other arguments.

    With a `size`, the write makes the tensor one of so many elements.
    """

    def memory(tensor: torch.Tensor) -> range:
        first = tensor.storage_offset()
        last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
        return range(first, first + last + 1 if tensor.numel() else first)

    own, storage = memory(tensor), tensor.untyped_storage()._cdata
    if size is not None:
        own = range(own.start, own.start + size)
    for each in others:
        if isinstance(each, torch.Tensor) and each.untyped_storage()._cdata == storage:
            other = memory(each)
            if max(own.start, other.start) < min(own.stop, other.stop):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to "
                    "tensor refer to a single memory location. Please clone() the tensor before "
                    "performing the operation."
                )


def check_cast(found: torch.dtype | None, wanted: torch.dtype) -> None:
    """Raise PyTorch's error if results of one dtype cannot be written into a tensor of another."""
    if isinstance(found, torch.dtype) and not torch.can_cast(found, wanted):
        names = [str(each).partition(".")[2].capitalize() for each in (found, wanted)]
        raise RuntimeError(
            f"result type {names[0]} can't be cast to the desired output type {names[1]}"
        )


def _layout(tensor: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...], Any]:
    return tensor.shape, tensor.stride(), tensor.storage_offset()
