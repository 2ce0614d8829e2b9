"""`BackendSystem`: a library's dispatching, wired together.

Discovery happens when backends are first needed, never when the library is imported;
what only discovery needs is imported then.
"""

from __future__ import annotations

import sys
from _weakref import ref  # weakref itself imports much more
from types import MappingProxyType

from ._function.dispatchable import make_dispatchable
from ._function.dispatcher import Dispatcher
from ._identifiers import DEFAULT, import_in_turn, is_backend_name
from ._state.keeper import StateKeeper
from ._state.options import BackendOptions
from ._type_patterns import TypePattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, ParamSpec, TypeVar

    from ._call.caller import Caller
    from ._call.context import DispatchContext
    from ._description.description import Description
    from ._discovery.catalog import Catalog
    from ._discovery.loader import Loader
    from ._dispatch_arguments import DispatchArguments
    from ._function.protocol import DispatchableFunction
    from ._problems import Problem
    from ._resolution.explanation import Explanation
    from ._resolution.notices import Notices

    P = ParamSpec("P")
    R = TypeVar("R")

__all__ = ["BackendSystem", "DispatchContext", "find_system"]

# How another process finds a system again: by the module that made it, its prefix and its group.
_systems: dict[tuple[str, str, str | None], ref[BackendSystem]] = {}


class BackendSystem:
    """A library's dispatching: its functions, its backends and the options in force.

    Parameters
    ----------
    group : str or None
        Entry point group in which backends advertise themselves; None for none.
    environ_prefix : str
        The environment variables are ``<prefix>_PRIORITIZE``, ``<prefix>_BLOCK``,
        ``<prefix>_SET_ORDER`` and ``<prefix>_BACKEND``.
    default_primary_types : iterable of str, optional
        Type patterns of the types that the library's own implementations work with.
    backends : iterable of mapping or object, optional
        Descriptions of backends that the library brings itself.
    default_secondary_types : iterable of str, optional
        Type patterns of further types that the library's own implementations accept or return,
        such as ``"~numpy:generic"``. They are not foreign to the library.
    fallback : str, optional
        What becomes of calls that no backend takes and that have foreign types, unless the
        function or a block of options says something else: ``"default"`` runs the library's own
        implementation, ``"warn"`` does so with a warning, ``"raise"`` raises
        `NoImplementationError`, ``"convert"`` lets a backend convert the arguments and the result.
    defer_on : iterable of type, optional
        Classes of exceptions by which an implementation of a backend defers, as it does by
        returning ``NotImplemented``.
    notify : callable or type, optional
        How to tell that a backend runs a function, the first time that it does: a callable, which
        gets the function's identifier and the backend's name, or a category of warnings.
    default_name : str, optional
        The name of the library's own implementations in what people see and write in options.
        Descriptions and data name them ``"default"`` all the same.

    protocol : str, optional
        The name of a class method, such as ``"__mylib_function__"``, by which classes override the
        library's functions without a description, as ``__array_function__`` does in NumPy.

    Attributes
    ----------
    backend_opts : type
        The library's `BackendOptions`; publish it.
    group, environ_prefix, default_name, protocol
        As given.

    Raises
    ------
    IdentifierError
        If a type pattern is malformed.
    ValueError
        If `environ_prefix` cannot start the name of an environment variable, `fallback` is none
        of the four, `default_name` cannot name a backend, or `protocol` cannot name a method.
    TypeError
        If `defer_on` has anything but classes of exceptions, or `notify` cannot tell anything.

    Examples
    --------
    >>> system = BackendSystem(None, "MYLIB", default_primary_types=["builtins:float"])
    >>> @system.dispatchable("x", module="mylib")
    ... def double(x):
    ...     return 2 * x
    >>> double(2.0)
    4.0
    >>> print(double.explain(2.0))
    mylib:double(builtins:float)
    > default  runs
    """

    def __init__(
        self,
        group: str | None,
        environ_prefix: str,
        default_primary_types: Iterable[str] | None = (),
        backends: Iterable[Any] | None = (),
        *,
        default_secondary_types: Iterable[str] = (),
        fallback: str = "default",
        defer_on: Iterable[type[Exception]] = (),
        notify: Callable[[str, str], object] | type[Warning] | None = None,
        default_name: str = DEFAULT,
        protocol: str | None = None,
    ) -> None:
        if not (
            (group is None or type(group) is str)
            and type(environ_prefix) is str
            and environ_prefix.isidentifier()
            and {type(default_primary_types), type(backends)} <= {list, tuple}
            and type(default_secondary_types) in (list, tuple)
        ):
            from ._function.mistakes import check_system  # most libraries need it never

            # None means none, as in the public package `spatch`.
            default_primary_types = () if default_primary_types is None else default_primary_types
            backends = () if backends is None else backends
            given = default_primary_types, backends, default_secondary_types
            check_system(group, environ_prefix, *given)
        assert default_primary_types is not None
        assert backends is not None
        self.group = group
        self.environ_prefix = environ_prefix
        self._default_types = tuple(TypePattern(text) for text in default_primary_types)
        self._secondary_types = tuple(TypePattern(text) for text in default_secondary_types)
        self._in_code = tuple(backends)
        self._registered: tuple[Description, ...] = ()
        self._fallback = fallback
        self._defer_on: tuple[type[Exception], ...] = ()
        if fallback != "default" or defer_on:
            from ._manner import checked_exceptions, checked_policy  # few libraries need them

            checked_policy(fallback)
            self._defer_on = checked_exceptions(defer_on)
        self._notices: Notices | None = None
        if notify is not None:
            from ._resolution.notices import Notices, checked  # few libraries need it

            checked(notify)
            self._notices = Notices(notify)
        if not is_backend_name(default_name):
            raise ValueError(f"default_name takes a name such as 'mylib', not {default_name!r}")
        self.default_name = default_name
        if protocol is not None:
            from ._function.mistakes import check_protocol  # few libraries have one

            check_protocol(protocol)
        self.protocol = protocol
        self._module = str(sys._getframe(1).f_globals.get("__name__", "__main__"))
        dispatcher = Dispatcher(
            *(StateKeeper(environ_prefix), self._make_loader, self.restore, self.reload),
            self._defer_on,
            self._read_again if self._in_code else None,
            default_name,
        )
        self.backend_opts = BackendOptions._bind(dispatcher, self._module)
        dispatcher.backend_opts = self.backend_opts
        self._dispatcher = dispatcher
        _systems[self._module, environ_prefix, group] = ref(self)

    def dispatchable(
        self,
        dispatch_args: DispatchArguments = None,
        *,
        module: str | None = None,
        qualname: str | None = None,
        identifier: str | None = None,
        fallback: str | None = None,
        compositional: bool = False,
        mutates: str | Iterable[str] | Mapping[str, int | None] = (),
        like: str | None = None,
        inside: str | Iterable[str] = (),
    ) -> Callable[[Callable[P, R]], DispatchableFunction[P, R]]:
        """Make the decorated function dispatchable.

        Parameters
        ----------
        dispatch_args : None, str, iterable of str, mapping of str to int, or callable
            The arguments whose types decide: the name of one, or the names of several; a
            mapping of names to positions where no signature tells them; a callable that is
            called like the function and returns them, or `ReplacedArguments`; None for all
            arguments. An empty list makes a function that only `type=` decides about.
        module, qualname : str, optional
            The public identity, where it is not where the function is defined. They become the
            ``__module__`` and ``__qualname__`` of the function.
        identifier : str, optional
            The public identity, ``"module:qualname"``, alone: the function keeps its
            ``__module__`` and ``__qualname__``.
        fallback : str, optional
            What becomes of calls that no backend takes and that have foreign types, instead of
            what the library says.
        compositional : bool, optional
            Whether the function is written in terms of other dispatchable functions, and so takes
            whatever these take. Then it has no fallback policy.
        mutates : str, iterable of str, or mapping of str to int, optional
            The arguments into which the function writes, such as ``"out"``, named like the dispatch
            arguments. A backend that converts such an argument must say how to copy it back.
        like : str, optional
            A keyword-only argument that is there for its type alone, as that of `numpy.zeros`: a
            dispatch argument that neither the default implementation nor a backend gets. Without
            `dispatch_args` it is the only one.
        inside : str or iterable of str, optional
            The dispatch arguments whose elements decide, those of nested lists and tuples, as for
            `numpy.concatenate`. A generator is handed on as a list. Without `dispatch_args` they
            are the only ones.

        Returns
        -------
        callable
            A decorator. What it returns is a plain function with the name, the docstring
            and the signature of the original, which is its default implementation.

        Raises
        ------
        TypeError
            If the function has no such parameter, if it is a class, or if ``@dispatchable`` was
            written without parentheses.
        IdentifierError
            If `identifier` is none, or none can be made of `module` and `qualname`.
        ValueError
            If there is no such fallback policy.
        """
        if dispatch_args is not None and not isinstance(dispatch_args, (str, list, tuple, dict)):
            frame, name = sys._getframe(1), getattr(dispatch_args, "__name__", "")
            # Neither a lambda nor what has its name already is a function to decorate.
            if name != "<lambda>" and frame.f_locals.get(name) is not dispatch_args:
                from ._function.mistakes import check_parentheses  # most libraries need it never

                check_parentheses(dispatch_args, frame)
        manner = None
        if fallback is not None or compositional or mutates or like is not None or inside:
            from ._manner import Manner  # few functions need one

            manner = Manner(fallback, compositional, mutates, like, inside)

        def decorate(function: Callable[P, R]) -> DispatchableFunction[P, R]:
            wrapper: DispatchableFunction[P, R] = make_dispatchable(
                *(self._dispatcher, function, dispatch_args, module, qualname, identifier),
                None if manner is None else manner.copy(),
            )
            return wrapper

        return decorate

    @property
    def backends(self) -> Mapping[str, Description]:
        """Descriptions of all usable backends by priority; ``"default"`` is the library."""
        return MappingProxyType(dict(self._catalog().descriptions))

    @property
    def functions(self) -> Mapping[str, DispatchableFunction[..., Any]]:
        """All dispatchable functions by identifier."""
        records: Any = self._dispatcher.by_identifier
        return MappingProxyType({name: each.wrapper for name, each in records.items()})

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that was skipped or ignored, and why."""
        return self._catalog().problems

    def reload(self) -> None:
        """Discover the backends again, e.g. after one was installed in a running session.

        The environment variables are read again too. Blocks of options that are in force
        stay in force. Modules that were imported are not imported again. A backend that was
        installed in editable mode meanwhile is found: its ``.pth`` file is read as it is when
        Python starts. Users call ``backend_opts.reload()``, which does the same.
        """
        self._loading.reload(self, self._dispatcher)

    def refresh(self) -> None:
        """Look up all implementations in their modules again when they are next called.

        They are looked up once. This notices, for example, that a test has replaced one in its
        module. Nothing is discovered or imported again.
        """
        from ._function.loading import refresh  # few programs need it

        refresh(self._dispatcher)

    def register(self, description: Any) -> None:
        """Add a backend at run time.

        It counts as installed: it takes no call that the library or another backend of the library
        answers. It goes before installed backends of the same name.

        Parameters
        ----------
        description : mapping or object
            As an entry point has it; identifiers may be callables.

        Raises
        ------
        DescriptionError
            If it has faults; nothing has changed.
        ValueError
            If a backend of this name was registered before, or is the library's own.
        """
        from ._function.registering import register  # few libraries need it

        register(self, description)

    def unregister(self, name: str) -> None:
        """Take a backend away that was registered at run time.

        Parameters
        ----------
        name : str
            Its name.

        Raises
        ------
        UnknownBackendError
            A `ValueError`: no backend of this name was registered.
        """
        from ._function.registering import unregister

        unregister(self, name)

    def explain_types(self, identifier: str, types: Iterable[type]) -> Explanation:
        """Say what would run for dispatch arguments of these types.

        Parameters
        ----------
        identifier : str
            A function of the library, ``"module:qualname"``.
        types : iterable of type
            Types of the dispatch arguments.

        Returns
        -------
        Explanation
            Without the answers of any ``should_run``, which needs the arguments.

        Raises
        ------
        UnknownFunctionError
            A `KeyError`: the library has no such function.
        TypeError
            If `types` are not classes.
        """
        from ._function.introspection import explain_types  # a library needs it later

        return explain_types(self._dispatcher, identifier, types)

    @property
    def _loader(self) -> Loader[Caller]:
        return self._dispatcher.ensure_loader()

    def _make_loader(self) -> Loader[Caller]:
        made: Loader[Caller] = self._loading.make_loader(
            self, self._dispatcher, self._in_code, self._default_types, self._secondary_types
        )
        return made

    @property
    def _loading(self) -> Any:
        # Two threads may need it at once, and one of them be interrupted.
        return import_in_turn(f"{__name__.rpartition('.')[0]}._function.loading")

    def _read_again(self) -> None:
        from ._function.loading import read_again  # few libraries need it

        read_again(self, self._dispatcher, self._in_code)

    def _catalog(self) -> Catalog:
        """Return what was discovered, for tools; discovers if that has not happened yet."""
        return self._dispatcher.catalog()

    def restore(self, kind: str, content: dict[str, Any]) -> Any:
        """Make an object of this library again from the content of a pickle; pickles name it.

        Parameters
        ----------
        kind : str
            ``"options"``, ``"function"``, ``"invocation"`` or ``"dispatchable"``.
        content : dict
            Its content, whose format stays the same in later versions.

        Returns
        -------
        object
            Options, a function with frozen options, what a function's ``invoke`` returns, or a
            dispatchable function of a script.

        Raises
        ------
        ValueError
            If a later version made the pickle, with what this version does not know.
        """
        from ._function.restoring import restore  # few programs need it

        return restore(self._dispatcher, kind, content)

    def __repr__(self) -> str:
        return f"<BackendSystem of {self._module}, group {self.group!r}>"

    def __reduce__(self) -> Any:
        found = self._module, self.environ_prefix, self.group
        if self._module == "__main__" and all(type(each) is dict for each in self._in_code):
            # A process that does not run this script makes the library again.
            types = tuple(map(str, self._default_types))
            others = tuple(map(str, self._secondary_types)), self._fallback, self._defer_on
            last = () if self.protocol is None else (self.protocol,)
            return find_system, (*found, types, self._in_code, *others, *last)
        return find_system, found


def _make_again(module: str, system: BackendSystem) -> BackendSystem:
    """Give a copy of a script's system the module of the script."""
    system._module = module
    return system


def find_system(
    module: str,
    prefix: str,
    group: str | None = None,
    default_primary_types: Iterable[str] | None = None,
    backends: Iterable[Any] = (),
    default_secondary_types: Iterable[str] = (),
    fallback: str = "default",
    defer_on: Iterable[type[Exception]] = (),
    protocol: str | None = None,
) -> BackendSystem:
    """Find the system of a library again, in this process or in another one.

    Pickles name this function, so its name and its parameters stay.

    Parameters
    ----------
    module : str
        The module that made the system; imported if need be.
    prefix : str
        The `environ_prefix` of the system.
    group : str or None
        Its entry point group.
    default_primary_types, backends, default_secondary_types, fallback : optional
    defer_on, protocol : optional
        The other arguments of a system that a script has made; it is made again where the
        script does not run.

    Raises
    ------
    LookupError
        If the module makes no such system.
    """
    from importlib import import_module

    # A script is `__main__` here, and may be `__mp_main__` in a process that it started.
    found = import_module(module)
    for name in (module, found.__name__):
        reference = _systems.get((name, prefix, group))
        system = None if reference is None else reference()
        if system is not None:
            return system
    if default_primary_types is not None:
        system = BackendSystem(
            *(group, prefix, default_primary_types, backends),
            default_secondary_types=default_secondary_types,
            fallback=fallback,
            defer_on=defer_on,
            protocol=protocol,
        )
        return _make_again(module, system)
    raise LookupError(
        f"module {module!r} makes no BackendSystem with the prefix {prefix!r} and the group "
        f"{group!r}"
    )


def systems_of(module: str) -> list[BackendSystem]:
    """Return the systems of the library that a module belongs to, by its top-level package."""
    top = module.partition(".")[0]
    found = [
        reference() for key, reference in _systems.copy().items() if key[0].partition(".")[0] == top
    ]
    return [system for system in found if system is not None]


def __getattr__(name: str) -> object:
    # Imported on first use: a library that only decorates functions needs no context.
    if name == "DispatchContext":
        from ._call.context import DispatchContext

        return DispatchContext
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
