"""TensorLy's backends, switched by spatch_core.

Importing this package is all. TensorLy has two managers of backends, one for tensors and one for
tensor algebra: classes, whose methods set a backend and whose functions dispatch. Each gets the
methods of a `Manager`, and functions that its `BackendSystem` dispatches; every name that is bound
to one of the former ones follows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context
from threading import RLock
from types import FunctionType, MethodType, ModuleType
from typing import Any

import tensorly
from tensorly import tenalg
from tensorly.backend import BackendManager, dynamically_dispatched_class_attribute

from spatch_core import BackendSystem
from spatch_core.switching import Switch, attributes

from . import instances

__all__ = ["algebra", "tensors"]

TYPES = {
    "numpy": "numpy:ndarray",
    "pytorch": "torch:Tensor",
    "tensorflow": "tensorflow:Tensor",
    "cupy": "cupy:ndarray",
    "jax": "jax:Array",
    "paddle": "paddle:Tensor",
}
"""The types of the frameworks. None decides: TensorLy takes the arrays of other frameworks, too."""

METHODS = [
    *("load_backend", "set_backend", "backend_context", "current_backend", "get_backend"),
    *("register_backend_method", "dispatch_backend_method"),
]
"""What a manager of TensorLy gets from a `Manager`."""

_lock = RLock()


class Cache(dict[Any, str]):
    """Finds the value of a key when it is first looked up."""

    def __init__(self, find: Callable[[Any], str]) -> None:
        self.find = find

    def __missing__(self, key: Any) -> str:
        found = self[key] = self.find(key)
        return found


class Manager:
    """What is behind one of TensorLy's managers.

    Parameters
    ----------
    module : module
        The module whose class TensorLy's manager is.
    prefix : str
        The start of the names of its environment variables.
    """

    def __init__(self, module: Any, prefix: str) -> None:
        self.home = module.__name__
        self.theirs: Any = type(module)
        self.load = self.theirs.load_backend
        self.names = self.theirs.available_backend_names
        # The name of a backend in the system, by name or instance; and its `backend_name` by that.
        self.keys = Cache(self.key)
        self.shown = Cache(lambda key: getattr(instances, key).backend_name)
        self.functions: dict[str, Any] = {}
        self.system = BackendSystem(
            f"{prefix.lower()}.backends",
            prefix,
            backends=[self.describe(each) for each in self.names],
        )
        self.switch = Switch(self.system)
        instances.loaders.append((self.names, self.load))
        self.take_over()

    def describe(self, name: str) -> dict[str, Any]:
        """Describe what `instances` has by a name; nothing is imported for it."""
        functions, values = self.theirs._functions, self.theirs._attributes
        place = f"tensorly_dispatch.instances:{name}"
        return {
            "name": name,
            "primary_types": [TYPES.get(name, "tensorly.backend.core:Backend")],
            "functions": {
                f"{self.home}:{each}": {"function": f"{place}.{each}"} for each in functions
            },
            "attributes": {f"{self.home}:{each}": f"{place}.{each}" for each in values},
        }

    def key(self, backend: Any) -> str:
        """Find the name that a backend has in the system; it is given by name or instance."""
        with _lock:
            if isinstance(backend, self.theirs._backend_base_class):
                key = instances.name_of(backend)
                if key not in self.system.backends:
                    self.system.register(self.describe(key))
                return key
            if backend in self.theirs._loaded_backends:
                return self.keys[self.theirs._loaded_backends[backend]]
            if backend in self.names or backend not in self.system.backends:
                return self.keys[self.load_backend(backend)]
            return str(backend)  # of another distribution

    def load_backend(self, backend_name: str) -> Any:
        """Make an instance of a backend, which has the name from now on."""
        instance = self.load(backend_name)
        self.keys[backend_name] = self.keys[instance]
        return instance

    def set_backend(self, backend: Any, local_threadsafe: bool = False) -> None:
        """Set the backend here; also for threads that have set none, unless `local_threadsafe`."""
        self.switch.set_backend(self.keys[backend], globally=not local_threadsafe)

    def backend_context(self, backend: Any, local_threadsafe: bool = False) -> Any:
        """Set the backend in a block; for the same threads as `set_backend` does."""
        key = self.keys[backend]
        here = self.switch.backend_context(key)
        return here if local_threadsafe else self.context_of_all(key, here)

    @contextmanager
    def context_of_all(self, key: str, here: AbstractContextManager[Any]) -> Iterator[None]:
        """Enter `here`, and set the backend of threads that have set none for as long."""
        default = Context()  # nothing is set in it, so it changes the process-wide default alone
        before = default.run(self.switch.get_backend)
        with here:
            default.run(self.switch.set_backend, key, globally=True)
            try:
                yield
            finally:
                default.run(self.switch.set_backend, before, globally=True)

    def current_backend(self) -> Any:
        """Return the instance that is the current backend."""
        return getattr(instances, self.switch.get_backend())

    def get_backend(self) -> str:
        """Return the name of the current backend."""
        return self.shown[self.switch.get_backend()]

    def register_backend_method(self, name: str, fun_or_attr: Any) -> None:
        """Give the current backend another method."""
        self.current_backend().register_method(name, fun_or_attr)
        self.system.refresh()

    def dispatch_backend_method(self, name: str, method: Any) -> Any:
        """Return the function that dispatches; in the first call, `method` gives its signature."""
        if name not in self.functions:
            decorate = self.system.dispatchable([], module=self.home, qualname=name)
            self.functions[name] = decorate(method)
        return self.functions[name]

    def take_over(self) -> None:
        """Give TensorLy's manager these methods and functions, and go on with its backend."""
        current = self.theirs.current_backend()
        ours = {}
        for name in dict.fromkeys([*METHODS, *self.theirs._functions]):
            former = getattr(self.theirs, name)
            is_method = name in METHODS
            new = getattr(self, name) if is_method else self.dispatch_backend_method(name, former)
            ours[former] = new
            setattr(self.theirs, name, staticmethod(new))
        for module in list(sys.modules.values()):
            if issubclass(type(module), ModuleType):
                for name, value in list(vars(module).items()):
                    if type(value) in (FunctionType, MethodType) and value in ours:
                        vars(module)[name] = ours[value]
        self.set_backend(self.theirs._backend)
        if current is not self.current_backend():
            self.set_backend(current, local_threadsafe=True)


# In this order: TensorLy's manager for tensor algebra is a subclass of the other one.
algebra = Manager(tenalg, "TENSORLY_TENALG")
"""Behind ``tensorly.tenalg``."""
tensors = Manager(tensorly.backend, "TENSORLY")
"""Behind ``tensorly.backend``."""

_attribute = attributes(tensors.system, "tensorly.backend")[0]
dynamically_dispatched_class_attribute.__get__ = lambda self, *_: _attribute(self.name)
for _name in BackendManager._attributes:
    vars(tensorly).pop(_name, None)  # copies, made when TensorLy was imported
