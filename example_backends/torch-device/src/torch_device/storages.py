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

    from .environment import BackendEnvironment

_create = torch._C._acc.create_empty_tensor


watch: Any = None
"""What is told of each storage that is made or used, and of reads by the host, while a step is
traced: `create(cell)`, `use(cell)`, `read_by_host(identity)`. It may raise."""


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
    has_views : bool
        Whether tensors may have another layout: the operators that make views say so. Without
        views, each tensor of the storage is all of it.
    """

    __slots__ = ("__weakref__", "array", "dtype", "has_views", "shape")

    def __init__(self, array: Any, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        self.array = array
        self.shape = shape
        self.dtype = dtype
        self.has_views = False

    @property
    def nbytes(self) -> int:
        """How many bytes its elements have."""
        return torch.Size(self.shape).numel() * self.dtype.itemsize


class _Methods:
    """What methods of `torch.UntypedStorage`, which would read memory, do for a device's storage.

    Parameters
    ----------
    environment : BackendEnvironment
        The device.
    """

    def __init__(self, environment: BackendEnvironment) -> None:
        self._environment = environment

    def nbytes(self, storage: Any) -> int:
        return storage.cell.nbytes  # type: ignore[no-any-return]

    size = length = nbytes

    def cpu(self, storage: Any) -> torch.UntypedStorage:
        return self._environment.data_to_torch(storage.cell.array).contiguous().untyped_storage()

    def tolist(self, storage: Any) -> list[int]:
        return self.cpu(storage).tolist()  # type: ignore[no-any-return]

    def item(self, storage: Any, index: Any) -> Any:
        return self.cpu(storage)[index]

    def clone(self, storage: Any) -> torch.UntypedStorage:
        cell = storage.cell
        return wrap(cell.array, cell.shape, cell.dtype).untyped_storage()

    def deepcopy(self, storage: Any, memo: dict[Any, Any]) -> Any:
        memo = memo.setdefault("torch", {})
        if storage._cdata not in memo:
            memo[storage._cdata] = self.clone(storage)
        return memo[storage._cdata]

    def data_ptr(self, storage: Any) -> int:
        # No address, but what tells storages with different data apart in files.
        return id(storage.cell)

    # For pickles, in which a storage is a file of its own.
    def _write_file(self, storage: Any, *arguments: Any) -> None:
        self.cpu(storage)._write_file(*arguments)

    def _set_from_file(self, storage: Any, *arguments: Any) -> Any:
        found = torch.UntypedStorage(storage.cell.nbytes)
        found._set_from_file(*arguments)
        flat = torch.empty(0, dtype=torch.uint8).set_(found)
        storage.cell.array = self._environment.torch_to_data(flat)
        return storage

    def refuse(self, storage: Any, *arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError(
            f"storages of the device {self._environment.name!r} have no memory; copy the tensor"
        )

    copy_ = resize_ = fill_ = byteswap = share_memory_ = pin_memory = refuse
    _share_fd_cpu_ = _share_filename_cpu_ = refuse


_SPECIAL = {
    "length": "__len__",
    "item": "__getitem__",
    "refuse": "__setitem__",
    "deepcopy": "__deepcopy__",
}


def guard(environment: BackendEnvironment) -> None:
    """Let PyTorch's class neither make nor read the memory of a device: there is none."""
    storage: Any = torch.UntypedStorage
    methods, name = _Methods(environment), environment.name
    for each in dir(_Methods):
        method = _SPECIAL.get(each, each)
        if hasattr(storage, method) and not each.startswith("__"):
            setattr(storage, method, _guarded(method, getattr(methods, each), name))

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == name:
            raise NotImplementedError(
                f"storages of the device {name!r} come from its tensors: it has no memory"
            )
        return torch._C.StorageBase.__new__(cls, *args, **kwargs)

    storage.__new__ = new


def _guarded(method: str, own: Callable[..., Any], name: str) -> Callable[..., Any]:
    original: Any = getattr(torch.UntypedStorage, method)

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "cell" in self.__dict__:
            return own(self, *args, **kwargs)
        if self.device.type == name:
            raise NotImplementedError(
                f"a storage of the device {name!r} has no data of this backend: an operator of "
                "PyTorch made it by itself"
            )
        return original(self, *args, **kwargs)

    return call


def wrap(array: Any, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Return a new tensor that holds data."""
    made: torch.Tensor = _create(shape, dtype)
    made.untyped_storage().cell = cell = Cell(array, shape, dtype)  # type: ignore[attr-defined]
    if watch is not None:
        watch.create(cell)
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


def note_view(tensor: torch.Tensor) -> None:
    """Note that a storage has tensors of another layout, or will have."""
    cell: Cell | None = getattr(tensor.untyped_storage(), "cell", None)
    if cell is not None:
        cell.has_views = True


def is_whole(tensor: torch.Tensor, cell: Cell) -> bool:
    """Return whether a tensor is all of its storage, in its order."""
    # A contiguous view of as many elements, within the bounds, begins at the first one.
    return not cell.has_views or (
        tensor.shape == cell.shape and tensor.is_contiguous() and tensor.dtype is cell.dtype
    )
