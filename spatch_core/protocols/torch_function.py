"""PyTorch's protocol, ``__torch_function__``, served by backends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._function import Parameter
from .._patterns import is_derived
from ..adopt import (
    AdoptedFunction,
    Adoption,
    FlaggedParameter,
    ForeignProtocol,
    adoption_of,
    check_bases,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..backend_system import BackendSystem


def torch_functions(system: BackendSystem) -> type[Any]:
    """Return a class by which instances take part in PyTorch's functions.

    It has ``__torch_function__``, and nothing else. Backends implement a function by the module
    and the name that it has in PyTorch, such as ``"torch:mean"`` or ``"torch.nn.functional:relu"``,
    a method of a tensor by ``"torch:Tensor.add"``, and a property by
    ``"torch:Tensor.shape.__get__"``.

    Parameters
    ----------
    system : BackendSystem
        The system whose backends answer.

    Returns
    -------
    type
        The same class for each call with this system. It goes before `torch.Tensor` among bases.
    """
    return adoption_of(system).protocol_class("torch", _make_class, TorchNamespace)


def _make_class(lookup: Callable[..., Any], go_on: Callable[..., Any]) -> type[Any]:
    class TorchFunctions:
        """Takes part in PyTorch's functions: the backends of a library answer."""

        __slots__ = ()

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            check_bases(cls, TorchFunctions, "torch", "__torch_function__")

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if kwargs is None:
                kwargs = {}
            called = lookup(func, types)
            if called is not None:
                result = called(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            result = go_on(func, types, called, args, kwargs)
            # Where no backend answers, a subclass of `torch.Tensor` behaves as without backends.
            if result is NotImplemented:
                tensor = _tensor()
                if is_derived(cls, tensor):
                    own = vars(tensor)["__torch_function__"].__func__
                    return own(cls, func, types, args, kwargs)
            return result

    return TorchFunctions


class TorchNamespace:
    """PyTorch's functions, methods and properties, each adopted when it is first looked up."""

    def __init__(self, served: type) -> None:
        self._protocol = TorchFunctionProtocol("__torch_function__", served, _tensor)

    def find(self, key: Any, adoption: Adoption) -> tuple[Any, AdoptedFunction] | None:
        """Return the object that PyTorch passes, and the function; None if there is none."""
        if isinstance(key, str) and key.startswith(("torch:", "torch.")):
            _import()
        # Before it is imported, PyTorch passes nothing.
        overrides: Any = sys.modules.get("torch.overrides")
        if overrides is None:
            return None
        if isinstance(key, str):
            identity = key
            key = _functions(overrides).get(identity, adoption.functions.get(identity))
            if key is None:
                return None
        named = adoption.names.get(key)
        if named is None:
            name = overrides.resolve_name(key)
            named = None if name is None else _identity(name)
        if named is None:
            return None
        return key, AdoptedFunction(named, key, self._protocol, _mutated_by(named))

    def others_may_answer(self, key: Any, types: tuple[type, ...]) -> bool:
        """Whether a type that is not served may answer a call of a function without an identity."""
        return self._protocol.others_may_answer(types)


class TorchFunctionProtocol(ForeignProtocol):
    """PyTorch's protocol."""

    __slots__ = ()

    def is_served(self, cls: type) -> bool:
        """Whether a class has the protocol from the system, and is no `torch.Tensor`."""
        return super().is_served(cls) and not is_derived(cls, _tensor())


def _tensor() -> Any:
    return getattr(sys.modules.get("torch"), "Tensor", None)


def _import() -> None:
    from importlib import import_module

    try:
        import_module("torch.overrides")
    except ImportError:
        return  # it is not installed, so it has no functions


def _identity(name: str) -> str | None:
    """Return the identity for a name such as ``"torch.nn.functional.relu"``."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:count])
        if module in sys.modules:
            return f"{module}:{'.'.join(parts[count:])}"
    return None


def _mutated_by(identity: str) -> list[Parameter]:
    """Return the parameters whose arguments a function writes into."""
    out = Parameter("out", None)
    if identity.endswith("_") and not identity.endswith("__"):
        return [out, Parameter("input", 0), Parameter("tensor", None)]  # of `torch.nn.init`
    # As in `torch.nn.functional.relu(x, inplace=True)`: PyTorch passes this flag by name.
    return [out, FlaggedParameter("input", 0, Parameter("inplace", None), counts_if=True)]


_known: dict[str, Any] = {}
"""PyTorch's functions by identity; filled when an identity is first looked up."""


def _functions(overrides: Any) -> dict[str, Any]:
    if not _known:
        found = {}
        for functions in overrides.get_overridable_functions().values():
            for function in functions:
                identity = _identity(overrides.resolve_name(function) or "")
                if identity is not None:
                    found[identity] = function
        _known.update(found)  # in one step: no other thread sees it half filled
    return _known
