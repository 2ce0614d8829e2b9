"""Kinds of tensors that a device in Python does not have, and a compiler that does not know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from .environment import BackendEnvironment

_KEYS = {
    "SparsePrivateUse1": "sparse",
    "SparseCsrPrivateUse1": "sparse",
    "QuantizedPrivateUse1": "quantized",
    "NestedTensorPrivateUse1": "nested",
}


def register(environment: BackendEnvironment) -> None:
    """Let PyTorch refuse the operators that would make or take such tensors."""
    for key, kind in _KEYS.items():
        library = torch.library.Library("_", "IMPL")
        library.fallback(_refusing(environment.name, kind), key)
        environment.keep(library)


def _refusing(name: str, kind: str) -> Any:
    def refuse(operator: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"the device {name!r} has no {kind} tensors: {operator}")

    return refuse


def check(name: str, tensor: torch.Tensor) -> None:
    """Raise an error for a tensor of the CPU that the device cannot have."""
    kind = None
    if tensor.is_quantized:
        kind = "quantized"
    elif tensor.layout is not torch.strided:
        kind = str(tensor.layout).removeprefix("torch.").lstrip("_").replace("sparse_", "sparse ")
    elif tensor.is_nested:
        kind = "nested"
    elif tensor.dtype is torch.complex32:
        kind = "complex32"
    if kind is not None:
        raise NotImplementedError(f"the device {name!r} has no {kind} tensors")


class _Refusing(type):
    def __getattr__(cls, name: str) -> Any:
        name = torch._C._get_privateuse1_backend_name()
        raise NotImplementedError(
            f"Inductor generates no code for the device {name!r}: use torch.compile with "
            "backend='eager' or 'aot_eager', or torch_device_jit.jax_jit for a whole step"
        )


class NoInductor(metaclass=_Refusing):
    """What Inductor gets from the device: each attribute is the error."""


def for_inductor(name: str) -> type[NoInductor]:
    """Return that class, once Inductor knows the device, which it would miss before."""
    from torch._inductor.codegen import common  # Inductor is imported already: it asks

    common.register_device_op_overrides(name, common.DeviceOpOverrides())
    return NoInductor
