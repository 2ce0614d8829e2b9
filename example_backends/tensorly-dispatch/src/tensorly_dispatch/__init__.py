"""TensorLy's backends, switched by spatch_core.

Importing this package is all. TensorLy has two managers of backends, one for tensors and one for
tensor algebra: classes, whose methods set a backend and whose functions dispatch. Each gets the
methods of a `Manager`, and functions that its `BackendSystem` dispatches; what is bound to one of
the former ones follows.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context
from functools import wraps
from operator import methodcaller
from threading import RLock
from types import FunctionType, MethodType, ModuleType
from typing import Any

from spatch_core import BackendSystem
from spatch_core.switching import Switch, attributes

with warnings.catch_warnings():
    # It may name a backend of another distribution; if there is none, spatch_core warns.
    warnings.filterwarnings("ignore", r"TENSORLY_\w+ should be one of", UserWarning)
    import tensorly
    from tensorly import tenalg
    from tensorly.backend import BackendManager, dynamically_dispatched_class_attribute

__all__ = ["algebra", "tensors"]

TYPES = {
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


class Instances:
    """A manager's backends by their names in its system; each is made when it is first read.

    So ``tensorly_dispatch:tensors.instances.jax.dot`` is the identifier of a method.
    """

    def __init__(self, make: Callable[[str], Any]) -> None:
        vars(self)[""] = make

    def __getattr__(self, name: str) -> Any:
        return vars(self).setdefault(name, vars(self)[""](name))


class Follower:
    """In the place of TensorLy's thread-local data, where former functions find the backend.

    A program may keep these anywhere, such as in a list.
    """

    def __init__(self, manager: Manager) -> None:
        vars(self).update(manager=manager, backend=self)

    def __getattr__(self, name: str) -> Any:
        return self.manager.functions.get(name) or self.manager.value(name)

    def __setattr__(self, name: str, backend: Any) -> None:
        self.manager.set_backend(backend, local_threadsafe=True)  # by a former `set_backend`


class Manager:
    """What is behind one of TensorLy's managers.

    TensorLy's first backend, such as NumPy's, is the default: it has all that others lack.

    Parameters
    ----------
    name : str
        Its name in this module.
    module : module
        The module whose class TensorLy's manager is.
    prefix : str
        The start of the names of its environment variables.
    """

    def __init__(self, name: str, module: Any, prefix: str) -> None:
        self.place = f"{__name__}:{name}.instances"
        self.home = module.__name__
        self.theirs: Any = type(module)
        self.load = self.theirs.load_backend
        first, *self.names = self.theirs.available_backend_names
        self.default = self.theirs._loaded_backends.get(first) or self.load(first)
        self.instances = Instances(self.make_instance)
        # The name of a backend in the system, by name or instance; and its `backend_name` by that.
        self.keys = Cache(self.key)
        self.shown = Cache(lambda key: getattr(self.instances, key).backend_name)
        setattr(self.instances, first, self.default)
        self.keys[self.default] = first
        self.functions: dict[str, Any] = {}
        self.system = BackendSystem(
            f"{prefix.lower()}.backends",
            prefix,
            backends=[self.describe(each) for each in self.names],
            default_name=first,
        )
        self.switch = Switch(self.system)
        self.own = {each: getattr(self.default, each) for each in self.theirs._attributes}
        self.attribute = attributes(self.system, self.home, self.own)[0]
        self.take_over()

    def describe(self, name: str) -> dict[str, Any]:
        """Describe an instance by its name; nothing is imported for it."""
        functions, values = self.theirs._functions, self.theirs._attributes
        place = f"{self.place}.{name}"
        return {
            "name": name,
            "primary_types": [TYPES.get(name, "tensorly.backend.core:Backend")],
            "functions": {
                f"{self.home}:{each}": {"function": f"{place}.{each}"} for each in functions
            },
            "attributes": {f"{self.home}:{each}": f"{place}.{each}" for each in values},
        }

    def make_instance(self, name: str) -> Any:
        """Load one of TensorLy's backends; or let an instance stand for another distribution's."""
        if name in self.names:
            return self.theirs._loaded_backends.get(name) or self.load(name)
        if name not in self.system.backends:
            raise AttributeError(f"TensorLy has no backend {name!r}")

        def refuse(*_: Any) -> None:
            raise TypeError(f"the functions of {name!r} are those of its description")

        here = self.switch.backend_context(name)
        members: dict[str, Any] = {
            "register_method": staticmethod(refuse),
            "value_of": staticmethod(here(self.value)),
        }
        for each in self.own:
            members[each] = property(methodcaller("value_of", each))
        for each, function in self.functions.items():
            members[each] = staticmethod(here(function))
        # TensorLy keeps the class by this name, which none of its own has.
        kind: Any = type(name, (type(self.default),), members, backend_name=f"{name} elsewhere")
        kind.backend_name = name
        instance = kind()
        self.keys[instance] = name
        return instance

    def key(self, backend: Any) -> str:
        """Find the name that a backend has in the system; it is given by name or instance."""
        with _lock:
            if isinstance(backend, self.theirs._backend_base_class):
                return self.name_of(backend)
            if backend in self.theirs._loaded_backends:
                return self.keys[self.theirs._loaded_backends[backend]]
            return self.keys[self.load_backend(backend)]

    def name_of(self, instance: Any) -> str:
        """Give an instance a name in the system; a framework's first one has the framework's."""
        name = re.sub(r"\W", "_", instance.backend_name)
        known = vars(self.instances)
        if name in known or (name in self.system.backends and name not in self.names):
            name = f"{name}_{len(known)}"
        known[name] = instance
        if name not in self.names:
            self.system.register(self.describe(name))
        return name

    def load_backend(self, backend_name: str) -> Any:
        """Make an instance of a backend, which has the name from now on."""
        is_theirs = backend_name in self.theirs.available_backend_names
        if not is_theirs and backend_name in self.system.backends:
            return getattr(self.instances, backend_name)  # of another distribution
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
            if before != key:
                default.run(self.switch.set_backend, key, globally=True)
            try:
                yield
            finally:
                if before != key:
                    default.run(self.switch.set_backend, before, globally=True)

    def current_backend(self) -> Any:
        """Return the instance that is the current backend."""
        return getattr(self.instances, self.switch.get_backend())

    def get_backend(self) -> str:
        """Return the name of the current backend."""
        return self.shown[self.switch.get_backend()]

    def value(self, name: str) -> Any:
        """Return the value of an attribute of the current backend."""
        return self.get_backend() if name == "backend_name" else self.attribute(name)

    def register_backend_method(self, name: str, fun_or_attr: Any) -> None:
        """Give the current backend another method."""
        self.current_backend().register_method(name, fun_or_attr)
        if name in self.own:
            self.own[name] = getattr(self.default, name)
        self.system.refresh()

    def dispatch_backend_method(self, name: str, method: Any) -> Any:
        """Return the function that dispatches; in the first call, `method` gives its signature."""
        if name not in self.functions:

            @wraps(method)
            def default(*args: Any, **kwargs: Any) -> Any:
                return getattr(self.default, name)(*args, **kwargs)

            decorate = self.system.dispatchable([], module=self.home, qualname=name)
            self.functions[name] = decorate(default)
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
        self.theirs._THREAD_LOCAL_DATA = Follower(self)
        self.set_backend(self.theirs._backend)
        if current is not self.current_backend():
            self.set_backend(current, local_threadsafe=True)
        # It may name a backend of another distribution, which TensorLy has ignored.
        known = self.theirs.available_backend_names
        named = os.environ.get(self.theirs._ENV_DEFAULT_VAR, known[0])
        if current is self.default and named not in known and named in self.system.backends:
            self.set_backend(named)


# In this order: TensorLy's manager for tensor algebra is a subclass of the other one.
algebra = Manager("algebra", tenalg, "TENSORLY_TENALG")
"""Behind ``tensorly.tenalg``."""
tensors = Manager("tensors", tensorly.backend, "TENSORLY")
"""Behind ``tensorly.backend``."""

dynamically_dispatched_class_attribute.__get__ = lambda self, *_: tensors.value(self.name)
for _name in BackendManager._attributes:
    vars(tensorly).pop(_name, None)  # copies, made when TensorLy was imported
