"""Registers the device with PyTorch: its name, module, storages and basic operators."""

from __future__ import annotations

import functools
from collections import deque
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import backend_registration

from . import _refusals
from ._basic import register_basic
from ._modules import keep_parameters
from .storages import guard

if TYPE_CHECKING:
    from .environment import BackendEnvironment


class DeviceModule:
    """What ``torch.NAME`` is: PyTorch asks it for devices and for the random numbers' state."""

    _initialized = True  # else checkpoints would not keep the state

    def __init__(self, environment: BackendEnvironment) -> None:
        self.environment = environment
        self.get_state: Any = None
        self.set_state: Any = None
        self.seed: Any = None

    # Inductor asks for these four.
    PythonWrapperCodegen = CppWrapperCodegen = WrapperFxCodegen = _refusals.NoInductor

    @property
    def Scheduling(self) -> type[_refusals.NoInductor]:  # noqa: N802 -- PyTorch's name
        return _refusals.for_inductor(self.environment.name)

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

    def manual_seed(self, seed: int) -> None:
        if self.seed is not None:
            self.seed(seed)

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
        return torch.empty(0, dtype=torch.uint8)  # the CPU draws all numbers

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        if self.set_state is not None:
            self.set_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return []  # PyTorch then warns that it casts nothing


_KIND = torch._C._autograd.DeviceType.PrivateUse1
_fail_after_error = functools.partial(bool)  # as each call from C does
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


def _raising_errors(run_backward: Any) -> Any:
    """Return PyTorch's function that raises the errors of hooks, of which it has lost sight."""

    @functools.wraps(run_backward)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
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
    for each in (autograd, autograd.graph):
        each._engine_run_backward = _raising_errors(each._engine_run_backward)

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
    _refusals.register(environment)
    return module
