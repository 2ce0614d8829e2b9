"""Storages hold the data: whatever PyTorch does to tensors, their aliases share a storage.

PyTorch keeps the Python object of a storage as long as the storage. So data in it is never lost
when C++ makes a tensor of its own: for `detach`, for what autograd saves, for a view.

Data are values. No operator changes an array: it replaces the array of a storage.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

_create = torch._C._acc.create_empty_tensor

on_read: Callable[[Cell], None] | None = None
on_create: Callable[[Cell], None] | None = None
on_write: Callable[[Cell], None] | None = None
"""What `jax_jit` observes while it traces."""


class Cell:
    """The data of one storage, in the order of its elements.

    Attributes
    ----------
    array : data
        An object of the backend's class.
    shape : tuple of int
        Its shape.
    dtype : torch.dtype
        Its dtype.
    """

    __slots__ = ("__weakref__", "array", "dtype", "shape")

    def __init__(self, array: Any, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        self.array = array
        self.shape = shape
        self.dtype = dtype


class DeviceStorage(torch.UntypedStorage):
    """The storage of a device's tensors, which PyTorch believes to be empty."""

    cell: Cell
    environment: Any

    def _size(self) -> int:
        count = 1
        for each in self.cell.shape:
            count *= each
        return count * self.cell.dtype.itemsize

    def nbytes(self) -> int:
        return self._size()

    def size(self) -> int:
        return self._size()

    def __len__(self) -> int:
        return self._size()

    def cpu(self) -> torch.UntypedStorage:
        cell = self.cell
        return self.environment.to_torch(cell).untyped_storage()

    def tolist(self) -> list[int]:
        return self.cpu().tolist()  # type: ignore[no-any-return]

    def clone(self) -> torch.UntypedStorage:
        cell = self.cell
        return wrap(cell.array, cell.shape, cell.dtype, self.environment).untyped_storage()

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        memo = memo.setdefault("torch", {})
        if self._cdata not in memo:
            made: Any = self.clone()
            # PyTorch insists on its own class here; `set_` makes it a storage of this class again.
            made.__class__ = torch.UntypedStorage
            memo[self._cdata] = made
        return memo[self._cdata]

    def __getitem__(self, index: Any) -> Any:
        return self.cpu()[index]

    def data_ptr(self) -> int:
        # No address, but what tells storages with different data apart in files.
        return id(self.cell)

    # For pickles, in which a storage is a file of its own.
    def _write_file(self, *arguments: Any) -> None:
        self.cpu()._write_file(*arguments)

    def _set_from_file(self, *arguments: Any) -> Any:
        found = torch.UntypedStorage(self._size())
        found._set_from_file(*arguments)
        flat = torch.empty(0, dtype=torch.uint8).set_(found)
        self.cell.array = self.environment.torch_to_data(flat)
        return self

    def _refuse(self, *arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError(
            f"storages of the device {self.device.type!r} have no memory; copy the tensor"
        )

    __setitem__ = copy_ = resize_ = fill_ = byteswap = _refuse
    share_memory_ = _share_fd_cpu_ = _share_filename_cpu_ = pin_memory = _refuse


def guard(name: str) -> None:
    """Let PyTorch's own class neither make nor read the memory of a device: there is none.

    A device's storages are of that class where PyTorch makes them, and where it insists on it.
    """
    for each in _READING:
        setattr(torch.UntypedStorage, each, _guarded(each, name))

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == name:
            raise NotImplementedError(
                f"storages of the device {name!r} come from its tensors: it has no memory"
            )
        return torch._C.StorageBase.__new__(cls, *args, **kwargs)

    storage: Any = torch.UntypedStorage
    storage.__new__ = new


# Methods that read or write memory in C++.
_READING = ("__getitem__", "__setitem__", "fill_", "copy_", "resize_", "clone", "cpu", "tolist",
            "byteswap", "_write_file", "_set_from_file", "_share_fd_cpu_", "_share_filename_cpu_",
            "share_memory_", "pin_memory", "__deepcopy__")  # fmt: skip


def _guarded(method: str, name: str) -> Any:
    original: Any = getattr(torch.UntypedStorage, method)
    own: Any = DeviceStorage.__dict__.get(method, DeviceStorage._refuse)

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.device.type != name:
            return original(self, *args, **kwargs)
        if "cell" not in self.__dict__:
            return DeviceStorage._refuse(self)
        self.__class__ = DeviceStorage
        return own(self, *args, **kwargs)

    return call


def wrap(array: Any, shape: tuple[int, ...], dtype: torch.dtype, environment: Any) -> torch.Tensor:
    """Return a new tensor that holds data."""
    made: torch.Tensor = _create(shape, dtype)
    storage: Any = made.untyped_storage()
    storage.__class__ = DeviceStorage
    storage.environment = environment
    storage.cell = cell = Cell(array, shape, dtype)
    if on_create is not None:
        on_create(cell)
    return made


def cell_of(tensor: torch.Tensor) -> Cell:
    """Return the cell of a tensor's storage.

    Raises
    ------
    RuntimeError
        If the tensor is not of this device.
    """
    storage: Any = tensor.untyped_storage()
    try:
        return storage.cell  # type: ignore[no-any-return]
    except AttributeError:
        raise RuntimeError(
            f"a tensor of the device {tensor.device} has no data of this backend: "
            "an operator of PyTorch made it by itself"
        ) from None


def is_whole(tensor: torch.Tensor, cell: Cell) -> bool:
    """Return whether a tensor is all of its storage, in its order."""
    return (
        tensor.shape == cell.shape
        and tensor.is_contiguous()
        and tensor.dtype is cell.dtype
        and not tensor.storage_offset()
    )
