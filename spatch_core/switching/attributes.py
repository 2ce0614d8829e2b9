"""Attributes of a library's modules that follow the current backend."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .._patterns import DEFAULT, import_identifier, is_awaited, shown
from ..backend_system import BackendSystem
from ..exceptions import ImplementationImportError

if TYPE_CHECKING:
    from .._discovery import Catalog

__all__ = ["attributes"]

_NOTHING = object()


def attributes(
    system: BackendSystem, module: str, own: Mapping[str, object] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a ``__getattr__`` and a ``__dir__`` for a module of a library.

    With these, the module's attributes follow the current backend. A backend gives a value in its
    description: ``attributes."lib:float64" = "torch:float64"``.

    Parameters
    ----------
    system : BackendSystem
        The library's system.
    module : str
        The module's ``__name__``.
    own : mapping of str to object, optional
        The library's own values, used if there is no current backend, or if it gives none. A name
        among the module's globals follows no backend.

    Returns
    -------
    getattr : callable
        The module's ``__getattr__``.
    dir : callable
        The module's ``__dir__``.

    Raises
    ------
    TypeError
        If `system`, `module` or `own` is of another type.

    Notes
    -----
    ``from lib import float64`` copies the current value; ``lib.float64`` follows the backend. No
    backend is discovered while the module is being imported.

    Examples
    --------
    In the module ``mylib``::

        __getattr__, __dir__ = switching.attributes(system, __name__, {"float64": numpy.float64})
    """
    if not isinstance(system, BackendSystem):
        raise TypeError(f"attributes() takes the BackendSystem of a library, not {system!r}")
    if not isinstance(module, str):
        raise TypeError(f"attributes() takes the name of a module, not {module!r}")
    if own is not None and not isinstance(own, Mapping):
        raise TypeError(f"own= takes a mapping of names to values, not {own!r}")
    found = _Attributes(system, module, {} if own is None else own)
    variable = system._dispatcher.keeper.variable

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*_globals_of(module), *found.names()})

    __dir__.__module__, __dir__.__qualname__ = module, __dir__.__name__
    return _getter(variable, found.values, found.find, module), __dir__


def _globals_of(module: str) -> dict[str, object]:
    # A module may be in use, and yet be missing in `sys.modules`.
    return getattr(sys.modules.get(module), "__dict__", {})


class _Attributes:
    """Finds the attributes of a module that are not cached yet.

    Attributes
    ----------
    values : dict
        The cache, by the current backend and the name. `BackendOptions._forget` empties it.
    """

    def __init__(self, system: BackendSystem, module: str, own: Mapping[str, object]) -> None:
        self._system = system
        self._module = module
        self._own = own
        self.values: dict[str | None, dict[str, Any]]
        self.values = system.backend_opts._values.setdefault(module, {})

    def find(self, name: str) -> Any:
        """Return the value of the current backend, or else of the library."""
        if name[:2] == "__" or self._is_submodule(name):
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
        if self._catalog() is None:  # being discovered, or the module is being imported
            if name in self._own:
                return self._own[name]
            raise self._error(name)
        backend = self._system._dispatcher.keeper.current().backend
        # First the table, then the backends: if these are exchanged in between, the value is
        # stored in a table that is no longer read.
        table = self.values.setdefault(backend, {})
        value = self._value(name, backend)
        if value is _NOTHING:
            raise self._error(name)
        table[name] = value
        return value

    def names(self) -> set[str]:
        """Return the names that have a value now."""
        found = {*self._own}
        catalog = self._catalog()
        backend = self._system._dispatcher.keeper.current().backend
        if catalog is not None and backend is not None:
            prefix = f"{self._module}:"
            description = catalog.descriptions.get(backend)
            given = () if description is None else description.attributes
            found.update(each[len(prefix) :] for each in given if each.startswith(prefix))
        return found

    def _value(self, name: str, backend: str | None) -> Any:
        attribute = f"{self._module}:{name}"
        catalog = self._catalog()
        identifier = None
        if catalog is not None and backend is not None and backend in catalog.descriptions:
            identifier = catalog.descriptions[backend].attributes.get(attribute)
        if catalog is None or backend is None or identifier is None:
            return self._own.get(name, _NOTHING)
        try:
            return import_identifier(identifier)
        except (KeyboardInterrupt, ImplementationImportError):
            raise  # importing the value has asked for another attribute, which the error names
        except BaseException as error:
            block = catalog.environment.variable("BLOCK")
            raise ImplementationImportError(backend, attribute, identifier, block) from error

    def _catalog(self) -> Catalog | None:
        if is_awaited(self._module):
            return None
        loader = self._system._loader
        caller = loader.settled or loader.load() or loader.loaded
        return None if caller is None else caller.catalog

    def _is_submodule(self, name: str) -> bool:
        """Whether a submodule has this name: Python imports it if there is no attribute."""
        path = getattr(sys.modules.get(self._module), "__path__", None)
        if path is None or name in self._own:
            return False
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(f"{self._module}.{name}", path) is not None

    def _error(self, name: str) -> AttributeError:
        text = f"module {self._module!r} has no attribute {name!r}"
        catalog = self._catalog()
        if catalog is not None:
            attribute = f"{self._module}:{name}"
            descriptions = catalog.descriptions.items()
            givers = [key for key, each in descriptions if attribute in each.attributes]
            current = self._system._dispatcher.keeper.current().backend or DEFAULT
            if givers:
                which = shown(current, self._system.default_name)
                return AttributeError(
                    f"{text} while the current backend is {which!r}; these have it: "
                    f"{', '.join(givers)}"
                )
        return AttributeError(text)


def _getter(
    variable: Any,
    values: dict[str | None, dict[str, Any]],
    find: Callable[[str], Any],
    module: str,
    /,
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module, which follows the current backend.

    Parameters
    ----------
    variable : contextvars.ContextVar
        Holds the tables in force.
    values : dict
        Cached values, by the name of the current backend or None, and that of the attribute.
    find : callable
        Returns the value of a name that is not cached, or raises.
    module : str
        The module's name.
    """
    tables = variable.get

    def __getattr__(name: str, /) -> Any:  # noqa: N807  # of a module
        try:
            return values[tables()[0].state.backend][name]
        except KeyError:
            pass
        return find(name)  # outside the handler, so that an error has no KeyError as its context

    __getattr__.__module__, __getattr__.__qualname__ = module, __getattr__.__name__
    return __getattr__
