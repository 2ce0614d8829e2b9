"""Registers the device with PyTorch: its name, module, storages, basic operators, refusals."""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.autograd.grad_mode import set_multithreading_enabled
from torch.utils import backend_registration

from ._basic import register_basic
from .storages import guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from .environment import BackendEnvironment


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


class DeviceModule:
    """What ``torch.NAME`` is: PyTorch asks it for devices and for the random numbers' state."""

    _initialized = True  # else checkpoints would not keep the state

    def __init__(self, environment: BackendEnvironment) -> None:
        self.environment = environment
        self.get_state: Any = None
        self.set_state: Any = None
        self.seed: Any = None

    # Inductor asks for these four.
    PythonWrapperCodegen = CppWrapperCodegen = WrapperFxCodegen = NoInductor

    @property
    def Scheduling(self) -> type[NoInductor]:  # noqa: N802 -- PyTorch's name
        return for_inductor(self.environment.name)

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def set_device(self, device: Any) -> None:
        _check_index(torch.device(device) if isinstance(device, str) else device)

    def device(self, device: Any) -> AbstractContextManager[None]:
        """Return the context in which a device is the current one, as it always is."""
        self.set_device(device)
        return nullcontext()

    def synchronize(self, device: Any = None) -> None:
        """Do nothing: the operators of this device have run when they return."""

    # Without a state of the backend's, the CPU draws all numbers.
    def manual_seed(self, seed: int) -> None:
        (self.seed or torch.default_generator.manual_seed)(seed)

    manual_seed_all = manual_seed

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        if self.get_state is not None:
            return self.get_state()  # type: ignore[no-any-return]
        tag = torch.Tag.nondeterministic_seeded
        drawn = [each for each in self.environment.operators if tag in each.tags]
        if drawn:
            raise NotImplementedError(
                f"the device {self.environment.name!r} draws random numbers ({drawn[0]}), but has "
                "no state of them: set get_state, set_state and seed of environment.module"
            )
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        (self.set_state or torch.set_rng_state)(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return []  # PyTorch then warns that it casts nothing


_KIND = torch._C._autograd.DeviceType.PrivateUse1
_fail_after_error = partial(bool)  # as each call from C does
_errors: deque[BaseException] = deque(maxlen=1)


class _Guard(torch._C._acc.DeviceGuard):
    """PyTorch asks it for the kind of the device, also after an error of a hook in autograd.

    To fail then would end the process. There is an error already, so an attribute of the instance
    would not be found.
    """

    def type_(self) -> Any:
        try:
            _fail_after_error()
        except BaseException as error:  # noqa: BLE001 -- for the caller of the backward pass
            _errors.append(error.__cause__ or error)
        return _KIND


def _backward(run_backward: Any, *, in_thread: bool) -> Any:
    """Return PyTorch's function that raises the errors of hooks, of which it has lost sight.

    Without threads, all of it runs in the thread of the caller.
    """

    @wraps(run_backward)
    def run(*args: Any, **kwargs: Any) -> Any:
        threads: Any = nullcontext() if in_thread else set_multithreading_enabled(False)
        try:
            with threads:
                return run_backward(*args, **kwargs)
        except SystemError:
            if _errors:
                raise _errors.pop() from None
            raise

    return run


def _check_index(device: Any) -> None:
    index = getattr(device, "index", device)
    if index:
        raise RuntimeError(f"this device has the index 0 alone, not {index}")


def register(environment: BackendEnvironment) -> DeviceModule:
    """Give PyTorch the device of a backend."""
    name = environment.name
    if torch._C._get_privateuse1_backend_name() != "privateuseone":
        raise RuntimeError(
            f"this process has the device {torch._C._get_privateuse1_backend_name()!r}; PyTorch "
            "allows one such device in a process"
        )
    if hasattr(torch.Tensor, name):
        raise ValueError(f"PyTorch's tensors have an attribute {name!r}; choose another name")
    module = DeviceModule(environment)
    backend_registration._setup_privateuseone_for_python_backend(
        name, module, device_guard=_Guard()
    )
    autograd: Any = torch.autograd
    _become_accelerator(module)
    for each in (autograd, autograd.graph):
        run = each._engine_run_backward
        each._engine_run_backward = _backward(run, in_thread=environment.backward_in_thread)

    def tag(storage: Any) -> str | None:
        return name if storage.device.type == name else None

    def restore(storage: Any, location: str) -> Any:
        if location.partition(":")[0] != name:
            return None
        made = environment.from_cpu(torch.empty(0, dtype=torch.uint8).set_(storage))
        return made.untyped_storage()

    guard(environment)
    keep_parameters(name)
    torch.serialization.register_package(5, tag, restore)
    register_basic(environment)
    _refuse_layouts(environment)
    return module


def _become_accelerator(module: DeviceModule) -> None:
    """Answer what `torch.accelerator` asks C++, which would look for an allocator."""

    def refuse(*_: Any) -> Any:
        raise NotImplementedError(
            f"the device {module.environment.name!r} has no memory of its own, and counts none: "
            "ask the library of its arrays"
        )

    answers: dict[str, Any] = {
        "synchronizeDevice": module.synchronize,
        "isAllocatorInitialized": lambda: True,
        **dict.fromkeys(("emptyCache", "emptyHostCache"), lambda: None),
        **dict.fromkeys(("getDeviceStats", "getMemoryInfo"), refuse),
        **dict.fromkeys(("resetAccumulatedStats", "resetPeakStats"), refuse),
    }
    for name, answer in answers.items():
        setattr(torch._C, f"_accelerator_{name}", answer)


_KINDS = {
    "SparsePrivateUse1": "sparse",
    "SparseCsrPrivateUse1": "sparse",
    "QuantizedPrivateUse1": "quantized",
    "NestedTensorPrivateUse1": "nested",
}
_MAKE_SUCH = {
    "_nested_tensor_from_tensor_list": ("PrivateUse1", "nested"),
    "sparse_compressed_tensor.comp_plain_value_size": ("SparseCsrPrivateUse1", "sparse"),
    "sparse_compressed_tensor.comp_plain_value": ("SparseCsrPrivateUse1", "sparse"),
    "_sparse_compressed_tensor_unsafe": ("SparseCsrPrivateUse1", "sparse"),
    "zeros": ("SparseCsrPrivateUse1", "sparse"),
}
"""Operators that would make such tensors of dense ones, without asking the device."""


def _refuse_layouts(environment: BackendEnvironment) -> None:
    """Let PyTorch refuse the operators that would make or take such tensors."""
    name = environment.name
    for key, kind in _KINDS.items():
        library = torch.library.Library("_", "IMPL")
        library.fallback(_refusing(name, kind), key)
        environment.keep(library)
    library = torch.library.Library("aten", "IMPL")
    for operator, (key, kind) in _MAKE_SUCH.items():
        library.impl(operator, partial(_refusing(name, kind), f"aten.{operator}"), key)
    # There is no memory to be copied to: all memory of the CPU is as good as pinned memory.
    library.impl("_pin_memory", lambda tensor, device=None: tensor, "CPU")
    environment.keep(library)


def _refusing(name: str, kind: str) -> Any:
    def refuse(operator: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"the device {name!r} has no {kind} tensors: {operator}")

    return refuse


def check_layout(name: str, tensor: torch.Tensor) -> None:
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


def keep_parameters(name: str) -> None:
    """Let modules keep their parameters when these move to a device, or away from it.

    Between the CPU and CUDA, PyTorch changes the parameters of a module themselves. Where either
    side is a device like this one, it makes new parameters: weights that modules share become
    several, and an optimizer keeps those that nothing uses any more. Its switch
    `torch.__future__.set_swap_module_params_on_conversion` is for all modules of the process, and
    for `load_state_dict` too; it refuses parameters that a graph holds, as those of `weight_norm`.
    """
    kind: Any = nn.Module
    original = kind._apply

    @wraps(original)
    def apply(module: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(module._parameters.items())
        try:
            return original(module, *args, **kwargs)
        finally:  # also of a module with a parameter that cannot move
            if not torch.__future__.get_overwrite_module_params_on_conversion():
                for key, old in before.items():
                    new = module._parameters[key]
                    if new is not old and name in (old.device.type, new.device.type):
                        _become(old, new)
                        module._parameters[key] = old

    kind._apply = apply


def _become(old: Any, new: Any) -> None:
    """Exchange what two parameters are, and keep what the program has put on the old one."""
    is_lazy = nn.parameter.is_lazy(old)
    if old.requires_grad and not (
        is_lazy or old.is_inference() or torch.is_inference_mode_enabled()
    ):  # else no graph holds it
        # A live graph refers to what the old parameter was: its gradient would be lost there.
        node: Any = torch.autograd.graph.get_gradient_edge(old).node
        node.register_prehook(_refusing_backward(str(old.device), str(new.device)))
    gradient, new_gradient = old.grad, new.grad
    torch._C._swap_tensor_impl(old, new)
    if gradient is not None and new_gradient is not None:
        torch._C._swap_tensor_impl(gradient, new_gradient)
    for hooks in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        if getattr(old, hooks) is not None:
            setattr(old, hooks, getattr(old, hooks))  # tells autograd, which has exchanged them


def _refusing_backward(old: str, new: str) -> Callable[..., Any]:
    def refuse(gradients: Any) -> Any:
        raise RuntimeError(
            f"a parameter has moved from {old!r} to {new!r} after the forward pass, and its "
            "gradient would be lost: move the module before the forward pass"
        )

    return refuse
