"""The operators that every device has: views, constructors, copies, and reads by the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from . import _schema
from ._data import refuse_repeated
from .storages import cell_of, note_view, wrap

if TYPE_CHECKING:
    from .environment import BackendEnvironment

aten = torch.ops.aten
_META = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
VIEWS = (
    aten.view.default,
    aten._reshape_alias.default,
    aten._unsafe_view.default,
    aten.unfold.default,
    aten.view.dtype,
    aten.view_as_real.default,
    aten.view_as_complex.default,
)
DRAWING = (
    *(aten.uniform_.default, aten.normal_.default, aten.log_normal_.default),
    *(aten.exponential_.default, aten.geometric_.default, aten.cauchy_.default),
    *(aten.bernoulli_.float, aten.random_.default, aten.random_.to, getattr(aten.random_, "from")),
)
"""Operators that fill a tensor with random numbers: from them PyTorch makes all others."""


def register_basic(environment: BackendEnvironment) -> None:
    """Register them."""
    data, counts, name = environment.data, environment.counts, environment.name
    operators: dict[Any, Any] = {}

    def kernel(*names: Any) -> Any:
        def register(function: Any) -> Any:
            operators.update(dict.fromkeys(names, function))
            return function

        return register

    def view(operator: Any) -> Any:
        # Of a view, only the layout is new, which C++ computes as for tensors without data.
        redispatch = operator.redispatch

        def call(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            note_view(tensor)
            return redispatch(_META, tensor, *args, **kwargs)

        return call

    for each in VIEWS:
        operators[each] = view(each)

    redispatch = aten.as_strided.default.redispatch

    @kernel(aten.as_strided.default)
    def as_strided(tensor: torch.Tensor, size: Any, stride: Any, offset: Any = None) -> Any:
        start: Any = tensor.storage_offset() if offset is None else offset
        cell = cell_of(tensor)
        # To PyTorch the storage has no bytes, and any view is beyond it.
        if _end(size, stride, start) * tensor.dtype.itemsize > cell.nbytes:
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)} and the offset {offset} "
                "are out of bounds of the storage"
            )
        cell.has_views = True
        return redispatch(_META, tensor, size, stride, offset)

    @kernel(aten.empty.memory_format, aten._efficientzerotensor.default)
    def empty(size: Any, dtype: Any = None, device: Any = None, **options: Any) -> torch.Tensor:
        _check(name, device, options)
        dtype = dtype or torch.get_default_dtype()
        _check_dtype(name, dtype)
        full = environment.find("aten:full")
        found = NotImplemented if full is None else full(list(size), 0, dtype=dtype)
        if found is not NotImplemented:
            return data.wrap(found, dtype)
        return environment.from_cpu(torch.zeros(tuple(size), dtype=dtype))

    @kernel(aten.empty_strided.default)
    def empty_strided(size: Any, stride: Any, dtype: Any = None, **options: Any) -> torch.Tensor:
        found = empty(size, dtype, **options)
        if tuple(found.stride()) == tuple(stride) or not found.numel():
            return found
        count = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        flat = empty((count,), dtype, **options)
        return flat.as_strided(size, stride)  # type: ignore[no-any-return]

    @kernel(aten._new_zeros_with_same_feature_meta.default)
    def tangent(tensor: torch.Tensor, other: torch.Tensor, *, self_num_batch_dims: int = 0) -> Any:
        # PyTorch would compute the size from the bytes of the storage, of which there are none.
        if self_num_batch_dims:
            return empty((*tensor.shape[:self_num_batch_dims], *other.shape), tensor.dtype)
        return empty_strided(other.shape, other.stride(), tensor.dtype)

    @kernel(aten.copy_.default)
    def copy(target: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> Any:
        if target.device.type == name:
            refuse_repeated(target)
            if source.device.type != name:
                counts.copies["from_cpu"] += 1
                source = environment.from_cpu(source)
            return data.write(target, data.read(source), source)
        target.copy_(environment.copy_to_cpu(source))
        return target

    @kernel(aten._to_copy.default)
    def to_copy(
        tensor: torch.Tensor,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        **options: Any,
    ) -> torch.Tensor:
        # Within the device, a copy is the same data; otherwise `empty` and `copy_` as in PyTorch.
        own, here = tensor.dtype, tensor.device
        dtype, device = dtype or own, here if device is None else device
        if here.type != name or device.type != name:
            target = torch.empty(
                tensor.size(), dtype=dtype, device=device, pin_memory=bool(pin_memory)
            )
            return target.copy_(tensor)
        if layout is not None:
            _check(name, None, {"layout": layout})
        _check_dtype(name, dtype)
        return wrap(data.cast(data.read(tensor), own, dtype), tensor.shape, dtype)

    @kernel(aten._copy_from.default)
    def copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> Any:
        return copy(target, source)

    @kernel(aten._copy_from_and_resize.default)
    def copy_from_and_resize(source: torch.Tensor, target: torch.Tensor) -> Any:
        return copy(target.resize_(source.shape), source)

    @kernel(aten._local_scalar_dense.default)
    def item(tensor: torch.Tensor) -> Any:
        array = data.read(tensor)
        environment.read_by_host("aten:item")
        own = environment.find("aten:_local_scalar_dense")
        found = NotImplemented if own is None else own(array)
        return environment.data_to_torch(array).item() if found is NotImplemented else found

    @kernel(aten.equal.default)
    def equal(a: torch.Tensor, b: torch.Tensor) -> Any:
        arrays = data.read(a), data.read(b)
        environment.read_by_host("aten:equal")
        own = environment.find("aten:equal")
        found = NotImplemented if own is None else own(*arrays)
        if found is NotImplemented:
            found = torch.equal(*map(environment.data_to_torch, arrays))
        return found

    @kernel(aten.is_pinned.default)
    def is_pinned(tensor: torch.Tensor, device: Any = None) -> bool:
        return False

    @kernel(aten._pin_memory.default)
    def pin_memory(tensor: torch.Tensor, device: Any = None) -> Any:
        raise NotImplementedError(f"the device {name!r} has no pinned memory")

    @kernel(aten.as_strided_.default)
    def change_view(
        tensor: torch.Tensor, size: Any, stride: Any, offset: int | None = None
    ) -> torch.Tensor:
        tensor.data = tensor.as_strided(size, stride, offset)
        return tensor

    @kernel(aten.resize_.default)
    def resize(tensor: torch.Tensor, size: Any, memory_format: Any = None) -> torch.Tensor:
        if any(each < 0 for each in size):
            raise RuntimeError(f"resize_ takes no negative sizes: {list(size)}")
        if tuple(tensor.shape) != tuple(size):
            count = torch.Size(size).numel()
            cell = cell_of(tensor)
            old = environment.data_to_torch(cell.array).contiguous()
            old = environment.from_cpu(old.view(tensor.dtype).view(-1))
            if count > old.numel():
                flat = empty((count,), tensor.dtype)
                flat[: old.numel()].copy_(old)
                old = flat
            tensor.data = old[:count].view(tuple(size))
        return tensor

    @kernel(aten.set_.source_Tensor)
    def set_tensor(tensor: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        tensor.data = source
        return tensor

    @kernel(aten.set_.default)
    def set_nothing(tensor: torch.Tensor) -> torch.Tensor:
        tensor.data = empty((0,), tensor.dtype)
        return tensor

    @kernel(aten.set_.source_Storage)
    def set_all(tensor: torch.Tensor, source: Any) -> torch.Tensor:
        return set_storage(tensor, source, 0, None)

    @kernel(aten.set_.source_Storage_storage_offset)
    def set_storage(
        tensor: torch.Tensor, source: Any, offset: int, size: Any, stride: Any = ()
    ) -> torch.Tensor:
        if not hasattr(source, "cell"):
            raise RuntimeError(f"set_ takes a storage of the device {name!r}")
        count = source.cell.nbytes
        if size is None:
            size, stride = (count // tensor.dtype.itemsize,), (1,)
        if _end(size, stride, offset) * tensor.dtype.itemsize > count:
            raise RuntimeError("setStorage: the sizes and strides are out of bounds of the storage")
        # All tensors that get this storage share another one, and both have the same cell.
        whole = source.__dict__.get("whole")
        if whole is None:
            cell = source.cell
            source.whole = whole = wrap(cell.array, cell.shape, cell.dtype)
            shared: Any = whole.untyped_storage()
            shared.cell = cell
        if whole.dtype is not tensor.dtype:
            whole = whole.view(-1).view(tensor.dtype)
        tensor.data = whole.as_strided(tuple(size), tuple(stride), offset)
        return tensor

    environment.own = frozenset(operators)
    for operator, function in operators.items():
        environment.register_kernel(operator, function)
    _register_drawing(environment)
    # What has no kernel at all, also none that PyTorch composes, comes here.
    library = torch.library.Library("_", "IMPL")
    library.fallback(environment.fallback.run, "PrivateUse1")
    environment.keep(library)


def draw(
    environment: BackendEnvironment,
    name: str,
    shape: Any,
    dtype: torch.dtype,
    *args: Any,
    **kw: Any,
) -> Any:
    """Return random numbers of the CPU's generator as data, for an operator in `DRAWING`."""
    made = torch.empty(shape, dtype=dtype)
    if name == "randperm":
        torch.randperm(len(made), out=made, **kw)
    else:
        getattr(made, name)(*args, **kw)
    return environment.data.settle(environment.torch_to_data(made))


def _register_drawing(environment: BackendEnvironment) -> None:
    """Register what draws random numbers, unless a backend implements the functional operator."""
    data = environment.data

    def filling(operator: Any) -> Any:
        name, functional = _schema.packet(operator), _schema.functional_of(operator)

        def fill(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
            if functional in environment.operators:
                return environment.fallback.run(operator, tensor, *args, **kwargs)  # type: ignore[no-any-return]
            refuse_repeated(tensor)
            found = environment.draw(name, tensor.shape, tensor.dtype, *args, **kwargs)
            return data.write(tensor, found, tensor)

        return fill

    def permutation(n: int, *, generator: Any = None, out: torch.Tensor) -> torch.Tensor:
        found = environment.draw("randperm", (n,), out.dtype, generator=generator)
        return data.write(out.resize_((n,)), found, out)

    def bernoulli(p: torch.Tensor, *, generator: Any = None) -> torch.Tensor:
        return (torch.rand(p.shape, device=p.device, generator=generator) < p).to(p.dtype)

    for each in DRAWING:
        environment.register_kernel(each, filling(each))
    environment.register_kernel(aten.randperm.generator_out, permutation)
    environment.register_kernel(aten.randperm.out, permutation)
    environment.register_kernel(aten.bernoulli.default, bernoulli)


def _end(size: Any, stride: Any, offset: int) -> int:
    """Return how many elements a storage needs for a view."""
    if 0 in size:
        return 0
    last = offset
    for n, step in zip(size, stride, strict=False):
        last += (n - 1) * step
    return last + 1


def _check_dtype(name: str, dtype: torch.dtype) -> None:
    if dtype is torch.complex32:
        raise NotImplementedError(f"complex32 is not supported by the device {name!r}")


def _check(name: str, device: Any, options: dict[str, Any]) -> None:
    if options.get("layout") not in (None, torch.strided):
        raise NotImplementedError(f"the device {name!r} has dense tensors alone")
    if options.get("pin_memory"):
        raise NotImplementedError(f"the device {name!r} has no pinned memory")
    if device is not None and torch.device(device).index:
        raise RuntimeError(f"the device {name!r} has the index 0 alone, not {device}")
