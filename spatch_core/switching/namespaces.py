"""Namespaces: a library's module with one backend, or one type, in force in its functions."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .._freezing import CoroutineFunctionWithState, FunctionWithState, nature_of_callable, stepwise
from .._wrapper import COROUTINE, PLAIN
from ..backend_system import BackendSystem, systems_of

if TYPE_CHECKING:
    from .._options import BackendOptions
    from .._state import Scope

    Class = type  # where a parameter is called `type`

__all__ = ["namespace"]

_PACKAGE = __name__.removesuffix("switching.namespaces")

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
        found = f"{module!r}"
        raise TypeError(f"namespace() takes a module of a library, not {found}")
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
    # A module of a library with options in force in its functions; see `namespace`. `given` are the
    # backend and the type of the options. A comment, because `__doc__` is the module's.

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        # Python never asks `__getattr__` for it: a class has a docstring, or None.
        return self._module.__doc__

    __slots__ = ("_given", "_known", "_module", "_options", "_system")

    _module: ModuleType
    _options: BackendOptions[Any]
    _system: BackendSystem
    _known: dict[str, tuple[object, object]]

    def __init__(
        self,
        module: ModuleType,
        system: BackendSystem,
        options: BackendOptions[Any],
        given: tuple[str | None, Class | str | None],
    ) -> None:
        values: tuple[object, ...] = module, system, options, given, {}
        names = ("_module", "_system", "_options", "_given", "_known")
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in Namespace.__slots__:  # a copy that is being made has none of them yet
            raise AttributeError(name)
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
            made = _bound_class(found)(self, name, found)
        self._known[name] = found, made
        return made

    def __dir__(self) -> list[str]:
        with self._options:
            return dir(self._module)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed; set {name!r} in the module")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed; delete {name!r} from the module")

    def __repr__(self) -> str:
        pairs = zip(("backend", "type"), self._given, strict=True)
        given = ", ".join(f"{key}={value!r}" for key, value in pairs if value is not None)
        return f"<namespace of {self._module.__name__} with {given}>"

    def __reduce__(self) -> Any:
        return _restore, (self._module.__name__, self._system, *self._given)


class BoundFunction(FunctionWithState):
    """A function of a namespace: it runs with the namespace's options added."""

    def __init__(self, namespace: Namespace, name: str, function: Any) -> None:
        self._namespace = namespace
        self._name = name
        owner: Any = namespace._system._dispatcher
        super().__init__(owner, None, function)  # type: ignore[arg-type]  # see `_scope`

    @property
    def _scope(self) -> Scope:  # not frozen
        """The scope of a call that begins here and now."""
        return self._namespace._options._scope()

    @_scope.setter
    def _scope(self, _: object) -> None:
        pass

    def explain(self, /, *args: Any, **kwargs: Any) -> Any:
        """See `Dispatchable.explain`."""
        with self._namespace._options:
            return self.__wrapped__.explain(*args, **kwargs)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("invoke", "backends"):  # these ignore the options
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return f"<{self._name} of {self._namespace!r}>"

    def __reduce__(self) -> Any:
        return getattr, (self._namespace, self._name)


class BoundCoroutineFunction(BoundFunction, CoroutineFunctionWithState):
    """A coroutine function of a namespace."""


class BoundGeneratorFunction(BoundFunction):
    """A generator function of a namespace, perhaps an asynchronous one."""

    def __init__(self, namespace: Namespace, name: str, function: Any) -> None:
        super().__init__(namespace, name, function)
        self.nature = nature_of_callable(function)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        start = partial(self.__wrapped__, *args, **kwargs)
        return stepwise(self.nature, self._keeper, self._scope, start)


def _bound_class(function: object) -> type[BoundFunction]:
    nature = nature_of_callable(function)
    if nature == PLAIN:
        return BoundFunction
    return BoundCoroutineFunction if nature & COROUTINE else BoundGeneratorFunction


def _restore(name: str, system: BackendSystem, backend: Any, assumed: Any) -> Any:
    """Make a namespace again from a pickle."""
    module: Any = import_module(name)
    return namespace(module, backend=backend, type=assumed, system=system)
