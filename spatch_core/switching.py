"""Switch the current backend of a library, as users of TensorLy and Ivy know it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial, update_wrapper
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ._environment import BLOCK
from ._options import checked_backend
from ._patterns import (
    DEFAULT,
    defined,
    import_identifier,
    is_awaited,
    is_importable,
    shown,
    type_identifier,
)
from ._state import CURRENT, DispatchState, remembered
from ._wrapper import COROUTINE, function_of, nature_of
from .backend_system import BackendSystem, systems_of
from .exceptions import ImplementationImportError

if TYPE_CHECKING:
    from ._description import Description
    from ._options import BackendOptions

__all__ = ["Switch", "attributes", "describe_class", "namespace"]

Module = TypeVar("Module")


class Switch:
    """Sets the current backend of a library, here and now or for the whole process.

    It has no state of its own: it changes the dispatch state, as options do. A backend that is set
    in a block of options is set until the block ends; in a thread or an asyncio task, until the
    thread or the task ends. Other threads and tasks do not see it.

    Parameters
    ----------
    system : BackendSystem
        The library's system.

    Notes
    -----
    Iterating yields the backends that are set: the current one first, then those to which
    `previous_backend` goes back. The last 32 are remembered.

    Examples
    --------
    A library publishes the methods:

    >>> from spatch_core import BackendSystem
    >>> class Jax:
    ...     name = "jax"
    ...     primary_types = ["jax:Array"]
    >>> system = BackendSystem(None, "MYLIB", backends=[Jax], default_name="numpy")
    >>> switch = Switch(system)
    >>> set_backend, get_backend = switch.set_backend, switch.get_backend
    >>> set_backend("jax")
    >>> get_backend()
    'jax'
    >>> switch.previous_backend()
    'numpy'
    """

    __slots__ = ("_keeper", "_options", "_owner", "_system")

    def __init__(self, system: BackendSystem) -> None:
        self._system = system
        self._owner = system._dispatcher
        self._options = system.backend_opts
        self._keeper = self._owner.keeper

    def set_backend(self, name: str, *, globally: bool = False) -> None:
        """Make a backend the current one.

        Parameters
        ----------
        name : str
            Its name, or the library's own name for its own implementations.
        globally : bool, optional
            Whether it also becomes the current backend of the process-wide default, which threads
            follow that have set nothing themselves. ``unset_backend(globally=True)`` undoes both.

        Raises
        ------
        UnknownBackendError
            A `ValueError`: there is no such backend. Nothing has changed.
        TypeError
            If `name` is not one name.
        """
        backend = checked_backend(self._owner, name)
        state = self._keeper.current()
        # Never the scope of the default, which another thread may change.
        scope = self._keeper.scope(_switched(state, (backend, *_stack_of(state))))
        self._keeper.set(scope.tables)
        # Last: this thread keeps its backend, whatever others make of the default.
        if globally:
            self._keeper.change_default(lambda state: _switched(state, (backend,)))

    def get_backend(self) -> str:
        """Return the name of the current backend, or of the library if there is none."""
        return self._shown(self._state().backend)

    def backend_context(self, name: str) -> BackendOptions:
        """Return options that make a backend the current one: in a block, or for a function.

        Parameters
        ----------
        name : str
            As for `set_backend`.

        Returns
        -------
        BackendOptions
            The same as ``backend_opts(backend=name)``: they hold in their own thread or task.

        Raises
        ------
        UnknownBackendError
            A `ValueError`: there is no such backend.
        TypeError
            If `name` is not one name.
        """
        checked_backend(self._owner, name)  # options take None, too
        return self._options(backend=name)

    def previous_backend(self) -> str:
        """Go back to the backend that was current before.

        Returns
        -------
        str
            Its name, which `get_backend` gives now.

        Raises
        ------
        RuntimeError
            If no backend was set in this thread or task, or by an enclosing block.
        """
        state, default = self._state(), self._keeper.default.state
        if state.backend is None or not self._keeper.is_own():
            raise RuntimeError(
                "there is no backend to go back to: none was set in this thread or task, or by an "
                "enclosing block"
            )
        # The default may have been set to the same backend meanwhile.
        is_last = _stack_of(state) == _stack_of(default)
        self._return_to(_switched(state, _stack_of(default) if is_last else state.earlier, default))
        return self.get_backend()

    def unset_backend(self, *, globally: bool = False) -> None:
        """Go back to the backend of the environment, if one was set in this thread or task.

        Parameters
        ----------
        globally : bool, optional
            Whether the process-wide default goes back to it, too.
        """
        state, keeper = self._state(), self._keeper
        initial = self._owner.catalog().initial_state()
        if globally:
            keeper.change_default(lambda state: _switched(state, _stack_of(initial), initial))
        if keeper.is_own():
            self._return_to(_switched(state, _stack_of(initial), initial))

    def __iter__(self) -> Iterator[str]:
        return iter([self._shown(each) for each in _stack_of(self._state())])

    def __repr__(self) -> str:
        names = ", ".join(self) or "no backend is set"
        return f"<Switch of {self._system._module}: {names}>"

    def __reduce__(self) -> Any:
        return Switch, (self._system,)

    def _state(self) -> DispatchState:
        owner = self._owner
        if owner.loaded is None:
            owner.ensure_loaded()  # the environment may name the current backend
        return owner.keeper.current()

    def _return_to(self, state: DispatchState) -> None:
        keeper = self._keeper
        if state.key == keeper.default.state.key:
            keeper.follow_default()
        else:
            keeper.set(keeper.scope(state).tables)

    def _shown(self, name: str | None) -> str:
        return shown(name or DEFAULT, self._system.default_name)


def _stack_of(state: DispatchState) -> tuple[str, ...]:
    """Return the backends that are set, the current one first."""
    return remembered(state.backend, state.earlier)


def _switched(
    state: DispatchState, stack: tuple[str, ...], like: DispatchState | None = None
) -> DispatchState:
    """Return a state with another stack of backends.

    The current one goes before all prioritized backends, but keeps its place when a switch goes
    back, to a state such as `like` if the rest is the same.
    """
    others = _without_current(state)
    if not stack:
        return state.replace(prioritized=others, backend=None, earlier=())
    places = (CURRENT, *others)
    if like is not None:
        if stack == _stack_of(like) and others == _without_current(like):
            places = like.places
        elif CURRENT in state.places:
            places = state.places
    return state.replace(
        prioritized=places,
        disabled=state.disabled - {stack[0]},
        backend=stack[0],
        earlier=stack[1:],
    )


def _without_current(state: DispatchState) -> tuple[str, ...]:
    return tuple([each for each in state.places if each != CURRENT])


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

    Notes
    -----
    ``from lib import float64`` copies the current value; ``lib.float64`` follows the backend. No
    backend is discovered while the module is being imported.

    Examples
    --------
    In the module ``mylib``::

        __getattr__, __dir__ = switching.attributes(system, __name__, {"float64": numpy.float64})
    """
    found = _Attributes(system, module, {} if own is None else own)

    def __getattr__(name: str, /) -> Any:  # noqa: N807  # of a module
        return found.find(name)

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*found.globals(), *found.names()})

    for made in (__getattr__, __dir__):
        made.__module__, made.__qualname__ = module, made.__name__
    return __getattr__, __dir__


class _Attributes:
    """Finds the attributes of a module."""

    def __init__(self, system: BackendSystem, module: str, own: Mapping[str, object]) -> None:
        self._system = system
        self._module = module
        self._own = own

    def find(self, name: str) -> Any:
        """Return the value of the current backend, or else of the library."""
        text = f"module {self._module!r} has no attribute {name!r}"
        # Python asks for these when it imports modules.
        if name[:2] == "__" or self._is_submodule(name):
            raise AttributeError(text)
        descriptions, backend = self._in_force()
        attribute = f"{self._module}:{name}"
        identifier = self._given(descriptions, backend).get(attribute)
        if identifier is not None:
            return self._imported(backend, attribute, identifier)
        if name in self._own:
            return self._own[name]
        givers = [key for key, each in descriptions.items() if attribute in each.attributes]
        if givers:
            current = shown(backend, self._system.default_name)
            text += f" while the current backend is {current!r}; these have it: "
            text += ", ".join(givers)
        raise AttributeError(text)

    def names(self) -> set[str]:
        """Return the names that have a value now."""
        prefix = f"{self._module}:"
        given = self._given(*self._in_force())
        return {*self._own, *[each[len(prefix) :] for each in given if each.startswith(prefix)]}

    def globals(self) -> dict[str, Any]:
        """Return the module's own names; it may be in use, and yet be missing in `sys.modules`."""
        return getattr(sys.modules.get(self._module), "__dict__", {})

    def _in_force(self) -> tuple[Mapping[str, Description], str]:
        """Return all backends and the current one; none while they are being discovered.

        Nor is there any while the module is being imported.
        """
        dispatcher = self._system._dispatcher
        # First the backends: the environment may name the current one.
        backends = None if is_awaited(self._module) else dispatcher.ready()
        backend: str = dispatcher.keeper.current().backend or DEFAULT
        return {} if backends is None else backends.catalog.descriptions, backend

    def _given(self, descriptions: Mapping[str, Description], backend: str) -> Mapping[str, str]:
        """Return the attributes of a backend's description."""
        return descriptions[backend].attributes if backend in descriptions else {}

    def _imported(self, backend: str, attribute: str, identifier: str) -> Any:
        try:
            return import_identifier(identifier)
        except (KeyboardInterrupt, ImplementationImportError):
            raise  # importing the value has asked for another attribute, which the error names
        except BaseException as error:
            block = f"{self._system.environ_prefix}_{BLOCK}"
            raise ImplementationImportError(backend, attribute, identifier, block) from error

    def _is_submodule(self, name: str) -> bool:
        """Whether a submodule has this name: Python imports it if there is no attribute."""
        path = self.globals().get("__path__")
        # Once the backends are loaded, there is nothing that an import could discover.
        if path is None or name in self._own or self._system._dispatcher.loaded is not None:
            return False
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(f"{self._module}.{name}", path) is not None


def namespace(module: Module, *, backend: str, system: BackendSystem | None = None) -> Module:
    """Return a library's module with a backend in force in its functions.

    Parameters
    ----------
    module : module
        The library, or one of its modules.
    backend : str
        The current backend in calls of the functions, as by ``backend_opts(backend=...)``.
    system : BackendSystem, optional
        The library's system, if it has several.

    Returns
    -------
    Namespace
        It has the names of the module. Functions of the library, also of its other modules that
        are reached through it, run with the backend added to the options in force where they are
        called. Attributes that follow the current backend have its value. Everything else is as
        in the module. It is pickled by the name of the module, and its functions by their names.

    Raises
    ------
    UnknownBackendError
        A `ValueError`: there is no such backend.
    TypeError
        If `module` is no module, or its system is not known.
    """
    if not isinstance(module, ModuleType):
        given: object = module  # a type checker knows that it is a module
        raise TypeError(f"namespace() takes a module of a library, not {given!r}")
    if system is None:
        systems = systems_of(module.__name__)
        if len(systems) != 1:
            number = "no BackendSystem is" if not systems else "several systems are"
            raise TypeError(f"{number} known for module {module.__name__!r}; give system=")
        (system,) = systems
    made: Any = _Namespace(module, system, Switch(system).backend_context(backend))
    return made  # type: ignore[no-any-return]  # it stands for the module


class _Namespace:
    # A module of a library with options in force in its functions; see `namespace`. A comment,
    # because `__doc__` is the module's.

    __slots__ = ("_known", "_module", "_options", "_system")

    def __init__(self, module: ModuleType, system: BackendSystem, options: BackendOptions) -> None:
        self._module = module
        self._system = system
        self._options = options
        self._known: dict[str, tuple[object, object]] = {}

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        # Python never asks `__getattr__` for it: a class has a docstring, or None.
        return self._module.__doc__

    def __getattr__(self, name: str) -> Any:
        with self._options:
            found = getattr(self._module, name)
        is_module = isinstance(found, ModuleType)
        if not (self._is_own(found.__name__) if is_module else self._is_function(found)):
            return found
        # Cached by object, too: the module's attribute may change, or follow the backend.
        known = self._known.get(name)
        if known is None or known[0] is not found:
            made: object = _BoundFunction(self, name, found)
            if is_module:
                made = _Namespace(found, self._system, self._options)
            known = self._known[name] = found, made
        return known[1]

    def _is_function(self, found: object) -> bool:
        function = function_of(found)
        if function is not None and function.dispatcher is self._system._dispatcher:
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
        return f"{home}.".startswith(f"{top}.") and not f"{home}.".startswith(f"{__package__}.")

    def __dir__(self) -> list[str]:
        with self._options:
            return dir(self._module)

    def __repr__(self) -> str:
        return f"<namespace of {self._module.__name__} with backend={self._options._own.backend!r}>"

    def __reduce__(self) -> Any:
        return _restored, (self._module.__name__, self._options._own.backend, self._system)


def _restored(name: str, backend: str, system: BackendSystem) -> ModuleType:
    return namespace(import_module(name), backend=backend, system=system)


class _BoundFunction:
    """A function of a namespace: it runs with the namespace's options added."""

    def __init__(self, namespace: _Namespace, name: str, function: Any) -> None:
        from ._freezing import show_nature  # only namespaces need it

        update_wrapper(self, function, updated=())
        self.__wrapped__ = function
        self._namespace = namespace
        self._name = name
        self._nature = nature_of(function)
        if self._nature & COROUTINE:
            show_nature(self, function)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        options = self._namespace._options
        if self._nature:
            # Its body runs after the call, so the options in force now are frozen with it.
            return options(self.__wrapped__)(*args, **kwargs)
        with options:
            return self.__wrapped__(*args, **kwargs)

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


def describe_class(cls: type, prefix: str, *, shared: type | None = None) -> dict[str, Any]:
    """Return the functions and the attributes of a description, made of a class.

    For libraries whose backends are classes, as TensorLy's are. The public methods of the class,
    inherited ones too, are implementations; its other public attributes, including classes, are
    values of attributes of the library's module. Properties and other descriptors, which have a
    value only for an instance, are left out.

    Parameters
    ----------
    cls : type
        The class. Methods that take an instance are bound to one, which is made now by calling the
        class.
    prefix : str
        The library's module: the method ``dot`` implements ``<prefix>:dot``.
    shared : type, optional
        The base class of all backends. Attributes that `cls` inherits from it or its bases are left
        out: for these, the library's own function runs, which is best ``compositional``.

    Returns
    -------
    dict
        With the keys ``functions`` and ``attributes``, for a description in code.

    Raises
    ------
    TypeError
        If `cls` is no subclass of `shared`, or cannot be imported by its name although it has
        values of attributes.

    Examples
    --------
    >>> from fractions import Fraction
    >>> found = describe_class(Fraction, "mylib", shared=object)
    >>> found["functions"]["mylib:limit_denominator"]["function"](max_denominator=1)
    Fraction(0, 1)
    """
    if shared is not None and not issubclass(cls, shared):
        raise TypeError(f"{cls.__qualname__} is no subclass of {shared.__qualname__}")
    functions, attributes = {}, {}
    instance: Any = None
    for name in dir(cls):
        if name.startswith("_") or (shared is not None and _is_inherited(cls, name, shared)):
            continue
        found = getattr(cls, name)
        if not callable(found) and hasattr(found, "__get__"):
            continue
        if isinstance(found, type) or not callable(found):
            if not is_importable(cls):
                raise TypeError(
                    f"{cls!r} has values of attributes, and cannot be imported as "
                    f"{type_identifier(cls)}"
                )
            attributes[f"{prefix}:{name}"] = f"{type_identifier(cls)}.{name}"
            continue
        if _takes_instance(cls, name):
            if instance is None:
                instance = cls()
            found = getattr(instance, name)
        functions[f"{prefix}:{name}"] = {"function": found}
    return {"functions": functions, "attributes": attributes}


def _is_inherited(cls: type, name: str, shared: type) -> bool:
    """Whether a class inherits an attribute from the shared base class."""
    found = [base for base in cls.__mro__ if name in vars(base)]
    return not found or issubclass(shared, found[0])


def _takes_instance(cls: type, name: str) -> bool:
    found = defined(cls, name)
    return hasattr(found, "__get__") and not isinstance(found, (staticmethod, classmethod))
