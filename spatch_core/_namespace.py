"""Namespaces: a library's module with one backend, or one type, in force in its functions."""

from __future__ import annotations

import sys
from functools import partial, update_wrapper
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ._freezing import nature_of_callable, stepwise
from ._wrapper import COROUTINE, PLAIN
from .backend_system import BackendSystem, systems_of

if TYPE_CHECKING:
    from ._options import BackendOptions

    Class = type  # where a parameter is called `type`

__all__ = ["namespace"]

_PACKAGE = __name__.removesuffix("_namespace")

Module = TypeVar("Module")


def namespace(
    module: Module,
    *,
    backend: str | None = None,
    type: Class | str | None = None,
    system: BackendSystem | None = None,
) -> Module:
    """Return a library's module with a backend, or a type, in force in its functions.

    Parameters
    ----------
    module : module
        The library, or one of its modules.
    backend : str, optional
        The current backend in calls of the functions, as by ``backend_opts(backend=...)``.
    type : type or str, optional
        As in ``backend_opts(type=...)``.
    system : BackendSystem, optional
        The library's system, if it has several.

    Returns
    -------
    Namespace
        It has the names of the module. Functions of the library, also of its other modules that
        are reached through it, run with the options added to the state in force where they are
        called. Attributes that follow the current backend have its value. Everything else is as
        in the module. It is pickled by the name of the module, and its functions by their names.

    Raises
    ------
    UnknownBackendError, UnknownTypeError
        A `ValueError`: there is no such backend or type.
    TypeError
        If neither is given, `module` is no module, or its system is not known.
    """
    if not isinstance(module, ModuleType):
        given: object = module  # a type checker knows that it is a module
        raise TypeError(f"namespace() takes a module of a library, not {given!r}")
    if backend is None and type is None:
        raise TypeError("namespace() takes backend= or type=")
    if system is None:
        systems = systems_of(module.__name__)
        if len(systems) != 1:
            number = "no BackendSystem is" if not systems else "several systems are"
            raise TypeError(f"{number} known for module {module.__name__!r}; give system=")
        (system,) = systems
    if not isinstance(system, BackendSystem):
        raise TypeError(f"system= takes the BackendSystem of a library, not {system!r}")
    options = system.backend_opts(backend=backend, type=type)
    made: Any = Namespace(module, system, options, (backend, type))
    return made  # type: ignore[no-any-return]  # it stands for the module


class Namespace:
    # A module of a library with options in force in its functions; see `namespace`. A comment,
    # because `__doc__` is the module's.

    __slots__ = ("_given", "_known", "_module", "_options", "_system")

    def __init__(
        self,
        module: ModuleType,
        system: BackendSystem,
        options: BackendOptions[Any],
        given: tuple[str | None, Class | str | None],
    ) -> None:
        self._module = module
        self._system = system
        self._options = options
        self._given = given  # the backend and the type of the options
        self._known: dict[str, tuple[object, object]] = {}

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        # Python never asks `__getattr__` for it: a class has a docstring, or None.
        return self._module.__doc__

    def __getattr__(self, name: str) -> Any:
        with self._options:
            found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            is_bound = self._is_own(found.__name__)
        else:
            is_bound = self._is_function(found)
        return self._bound(name, found) if is_bound else found

    def _is_function(self, found: object) -> bool:
        record = getattr(getattr(found, "explain", None), "__self__", None)
        if getattr(record, "dispatcher", None) is self._system._dispatcher:
            return True
        if isinstance(found, partial):
            return self._is_function(found.func)
        # Methods and functions of compiled modules have many classes, but all have a name. Other
        # callable instances have none.
        is_function = callable(found) and not isinstance(found, type) and hasattr(found, "__name__")
        return is_function and self._is_own(getattr(found, "__module__", None))

    def _is_own(self, module: object) -> bool:
        """Whether a module is the library's, by its name, and no vendored copy of this package."""
        top, home = self._module.__name__.partition(".")[0], str(module)
        return f"{home}.".startswith(f"{top}.") and not f"{home}.".startswith(_PACKAGE)

    def _bound(self, name: str, found: Any) -> object:
        """Return the namespace of a submodule, or the bound function; cached by name."""
        # Cached by object, too: the module's attribute may change, or follow the backend.
        known = self._known.get(name)
        if known is not None and known[0] is found:
            return known[1]
        made: object
        if isinstance(found, ModuleType):
            made = Namespace(found, self._system, self._options, self._given)
        else:
            made = BoundFunction(self, name, found)
        self._known[name] = found, made
        return made

    def __dir__(self) -> list[str]:
        with self._options:
            return dir(self._module)

    def __repr__(self) -> str:
        pairs = zip(("backend", "type"), self._given, strict=True)
        given = ", ".join(f"{key}={value!r}" for key, value in pairs if value is not None)
        return f"<namespace of {self._module.__name__} with {given}>"

    def __reduce__(self) -> Any:
        return _restore, (self._module.__name__, self._system, *self._given)


class BoundFunction:
    """A function of a namespace: it runs with the namespace's options added."""

    def __init__(self, namespace: Namespace, name: str, function: Any) -> None:
        update_wrapper(self, function, updated=())
        self.__wrapped__ = function
        self._namespace = namespace
        self._name = name
        self.nature = nature_of_callable(function)
        if self.nature & COROUTINE and sys.version_info >= (3, 12):
            from inspect import markcoroutinefunction

            markcoroutinefunction(self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        options = self._namespace._options
        if self.nature == PLAIN:
            with options:
                return self.__wrapped__(*args, **kwargs)
        keeper = self._namespace._system._dispatcher.keeper
        start = partial(self.__wrapped__, *args, **kwargs)
        return stepwise(self.nature, keeper, options._scope(), start)

    def explain(self, /, *args: Any, **kwargs: Any) -> Any:
        """See `Dispatchable.explain`."""
        with self._namespace._options:
            return self.__wrapped__.explain(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("invoke", "backends"):  # these ignore the options
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return f"<{self._name} of {self._namespace!r}>"

    def __reduce__(self) -> Any:
        return getattr, (self._namespace, self._name)


def _restore(name: str, system: BackendSystem, backend: Any, assumed: Any) -> Any:
    """Make a namespace again from a pickle."""
    module: Any = import_module(name)
    return namespace(module, backend=backend, type=assumed, system=system)
