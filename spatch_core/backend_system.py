"""`BackendSystem`: a library's dispatching, wired together.

Discovery happens when backends are first needed, never when the library is imported. Modules
that only discovery needs are imported then, too.
"""

from __future__ import annotations

import sys
from _weakref import ref  # weakref itself imports much more
from types import MappingProxyType

from ._function import Dispatchable, Dispatcher
from ._options import BackendOptions, checked_policy
from ._patterns import (
    DEFAULT,
    TypePattern,
    is_backend_name,
    is_class,
    is_type_pattern,
    type_identifier,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, ParamSpec, TypeVar

    from ._call import DispatchContext
    from ._description import Description, Finding
    from ._discovery import Catalog
    from ._explain import Explanation
    from ._function import DispatchArguments
    from .types import DispatchableFunction

    P = ParamSpec("P")
    R = TypeVar("R")

__all__ = ["BackendSystem", "DispatchContext", "find_system"]

# The keys (module, prefix and group) are in pickles: another process finds a system by them.
_systems: dict[tuple[str, str, str | None], ref[BackendSystem]] = {}


class BackendSystem:
    """A library's dispatching: its functions, its backends and the options in force.

    Parameters
    ----------
    group : str or None
        Entry point group in which backends advertise themselves; None for none.
    environ_prefix : str
        The environment variables are ``<prefix>_PRIORITIZE``, ``<prefix>_BLOCK``,
        ``<prefix>_SET_ORDER``, ``<prefix>_BACKEND`` and ``<prefix>_TRACE``.
    default_primary_types : iterable of str, optional
        Type patterns of the types that the library's own implementations work with.
    backends : iterable of mapping or object, optional
        Descriptions of backends that the library brings itself.
    default_secondary_types : iterable of str, optional
        Type patterns of further types that the library's own implementations accept or return,
        such as ``"~numpy:generic"``; these types are not foreign.
    fallback : str, optional
        The fallback policy for calls with foreign types that no backend takes: ``"default"``,
        ``"warn"``, ``"raise"`` or ``"convert"``; see `BackendOptions`. A function or a block of
        options may choose another one.
    defer_on : iterable of type, optional
        Exception classes that a backend's implementation may raise to defer, instead of returning
        ``NotImplemented``.
    notify : callable or type, optional
        Called when a backend first runs a function, with the function's identifier and the
        backend's name; or a category of warnings.
    default_name : str, optional
        The name of the library's own implementations in messages and options. Descriptions and
        recorded data always use ``"default"``.
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
    IdentifierError, ValueError, TypeError
        If an argument is malformed; the message says which one.

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
        _check_names(group, environ_prefix, default_name, protocol)
        self.group = group
        self.environ_prefix = environ_prefix
        self.default_name = default_name
        self.protocol = protocol
        # None means empty, as in the public package `spatch`.
        types = _several("default_primary_types", default_primary_types)
        self._default_types = tuple(map(_type_pattern, types))
        types = _several("default_secondary_types", default_secondary_types)
        self._secondary_types = tuple(map(_type_pattern, types))
        if hasattr(backends, "keys"):
            raise TypeError("backends takes several descriptions, in a list")
        self._in_code = _several("backends", backends, "descriptions")
        self._registered: tuple[Description, ...] = ()
        self._fallback = fallback
        checked_policy(fallback)
        self._defer_on = _exceptions(defer_on)
        is_kind = isinstance(notify, type) and issubclass(notify, Warning)
        if not is_kind and (isinstance(notify, type) or not (notify is None or callable(notify))):
            raise TypeError(
                "notify= takes a callable or a category of warnings, such as UserWarning, "
                f"not {notify!r}"
            )
        self._notify = notify
        # The caller's module makes the system, so another process finds it by importing that.
        self._module = str(sys._getframe(1).f_globals.get("__name__", "__main__"))
        dispatcher = Dispatcher(self)
        self.backend_opts = dispatcher.backend_opts = BackendOptions._bind(dispatcher, self._module)
        self._dispatcher = dispatcher
        _systems[self._module, environ_prefix, group] = ref(self)

    def __repr__(self) -> str:
        return f"<BackendSystem of {self._module}, group {self.group!r}>"

    # --- functions ------------------------------------------------------------------------------

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
        decides: bool | str = False,
        follows: str | None = None,
    ) -> Callable[[Callable[P, R]], DispatchableFunction[P, R]]:
        """Make the decorated function dispatchable.

        Parameters
        ----------
        dispatch_args : None, str, iterable of str, mapping of str to int, or callable
            The arguments whose types decide: the name of one, or the names of several; a
            mapping of names to positions if there is no signature; a callable that is called
            like the function and returns them; None for all arguments.
            With an empty list, only ``type=`` decides.
        module, qualname : str, optional
            The public identity, if it is not the place of definition. They become the
            ``__module__`` and ``__qualname__`` of the function.
        identifier : str, optional
            The public identity, ``"module:qualname"``, for a function that keeps its
            ``__module__`` and ``__qualname__``.
        fallback : str, optional
            The policy for calls with foreign types that no backend takes, instead of the
            library's.
        compositional : bool, optional
            Whether the function is written in terms of other dispatchable functions, and so takes
            the types that these take. Then it has no fallback policy.
        mutates : str, iterable of str, or mapping of str to int, optional
            The arguments that the function writes into, such as ``"out"``, named like the dispatch
            arguments. To convert one of them, a backend needs ``copy_into``.
        like : str, optional
            A keyword-only argument that is passed for its type alone, as in `numpy.zeros`. It is a
            dispatch argument that neither the default implementation nor a backend gets. Without
            `dispatch_args` it is the only one.
        inside : str or iterable of str, optional
            Dispatch arguments that are lists or tuples, nested or not, whose elements decide, as
            in `numpy.concatenate`; dicts, sets and generators are not looked into. Without
            `dispatch_args` they are the only ones.
        decides : bool or str, optional
            Whether the instance of this method, such as ``fit``, remembers the backend that has run
            it, for the methods that follow. A name, such as ``"fit"`` for ``fit_transform``, if
            they follow a method of that name.
        follows : str, optional
            The method, such as ``"fit"``, whose backend also runs this one.

        Returns
        -------
        callable
            A decorator. It returns a plain function with the name, the docstring and the
            signature of the decorated one, which becomes the default implementation.

        Raises
        ------
        TypeError
            If the function has no such parameter, if it is a class, or if it decides or follows and
            is no method.
        IdentifierError
            If `identifier`, or that of `module` and `qualname`, is malformed.
        ValueError
            If `fallback` is not a fallback policy.
        """
        options = {
            "fallback": fallback,
            "compositional": compositional,
            "mutates": mutates,
            "like": like,
            "inside": inside,
            "decides": decides,
            "follows": follows,
        }
        traits = {name: given for name, given in options.items() if given not in (None, False, ())}

        # Of a function decorated without parentheses, the calls come here.
        def decorate(*args: Any, **kwargs: Any) -> Any:
            function = args[0] if len(args) == 1 and not kwargs else (args, kwargs)
            names = module, qualname, identifier
            return Dispatchable(self._dispatcher, function, dispatch_args, names, traits).wrapper

        return decorate

    @property
    def functions(self) -> Mapping[str, DispatchableFunction[..., Any]]:
        """All dispatchable functions by identifier."""
        functions = self._dispatcher.by_identifier
        return MappingProxyType({name: each.wrapper for name, each in functions.items()})

    def adopt(self, function: Callable[..., Any], identity: str) -> None:
        """Put a function that the library does not own into its tables, without a wrapper.

        The function itself stays as it is. Backends implement it by its identity; `lookup` finds
        an implementation for given types.

        Parameters
        ----------
        function : callable
            The function. It is only called with arguments that a backend has converted.
        identity : str
            ``"module:qualname"``.

        Raises
        ------
        IdentifierError
            If `identity` is malformed.
        ValueError
            If another function has the identity, or the function has another identity.
        TypeError
            If it is no function.
        """
        from .adopt import adoption_of  # few libraries need it

        adoption_of(self).adopt(function, identity)

    def lookup(self, identity: str, types: tuple[type, ...], /) -> Callable[..., Any] | None:
        """Return the callable for an adopted function and types.

        Parameters
        ----------
        identity : str
            The identity of an adopted function.
        types : tuple of type
            The types of the call, in order.

        Returns
        -------
        callable or None
            None if no backend would take the call. A backend may defer by ``NotImplemented``,
            which is then the result.

        Raises
        ------
        UnknownFunctionError
            A `KeyError`: no function was adopted by this identity.
        TypeError
            If `types` are not classes.
        """
        from .adopt import adoption_of  # few libraries need it

        return adoption_of(self).lookup(identity, types)

    def explain_types(self, identifier: str, types: Iterable[type]) -> Explanation:
        """Explain what would run for dispatch arguments of these types.

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
        from ._entries import explain_types  # a library needs it later

        return explain_types(self._dispatcher, identifier, types)

    # --- backends, which are discovered when one of these is used -------------------------------

    @property
    def backends(self) -> Mapping[str, Description]:
        """Descriptions of all usable backends by priority; ``"default"`` is the library."""
        return MappingProxyType(dict(self._catalog().descriptions))

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Everything that was skipped or ignored, and why."""
        return self._catalog().problems

    def reload(self) -> None:
        """Discover the backends again, e.g. after one was installed in a running session.

        The environment variables are read again too. Blocks of options that are in force
        stay in force. Modules that were imported are not imported again. Users call
        ``backend_opts.reload()``, which does the same.
        """
        self._dispatcher.ensure_loader().reload()

    def refresh(self) -> None:
        """Look up all implementations in their modules again.

        Otherwise they are looked up once, on first use. Call this, for example, after a test has
        replaced one in its module. Nothing is discovered or imported again.
        """
        self._dispatcher.ensure_loader().refresh()

    def register(self, description: Any) -> None:
        """Add a backend at run time.

        It counts as installed: it takes no call that the library or another backend of the library
        answers. It takes the place of an installed backend of the same name.

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
        if isinstance(description, str):
            raise TypeError(
                f"register() takes a mapping or an object, not the text {description!r}; read a "
                "file with tomllib.load"
            )
        self._dispatcher.ensure_loader().register(description)

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
        self._dispatcher.ensure_loader().unregister(name)

    def _catalog(self) -> Catalog:
        """Return the catalog of the backends, for tools."""
        return self._dispatcher.catalog()

    def __reduce__(self) -> Any:
        return find_system, (self._module, self.environ_prefix, self.group)


def _check_names(group: Any, environ_prefix: Any, default_name: Any, protocol: Any) -> None:
    """Raise if an argument of `BackendSystem` that is a name is none."""
    has_text = isinstance(protocol, str) and protocol.isidentifier() and len(protocol) > len("____")
    is_special = has_text and protocol[:2] == protocol[-2:] == "__" and not hasattr(type, protocol)
    is_prefix = isinstance(environ_prefix, str) and environ_prefix.isidentifier()
    for name, given, is_valid, wanted in (
        ("group", group, group is None or isinstance(group, str), "a name, or None"),
        ("environ_prefix", environ_prefix, is_prefix, "a name as 'MYLIB'"),
        ("default_name", default_name, is_backend_name(default_name), "a name as 'mylib'"),
        ("protocol", protocol, protocol is None or is_special, "a name as '__mylib_function__'"),
    ):
        if not is_valid:
            kind = ValueError if isinstance(given, str) else TypeError
            raise kind(f"{name} takes {wanted}, not {given!r}")


def _type_pattern(given: Any) -> TypePattern:
    """Return a type of the library as a pattern; the error says what to write."""
    if is_type_pattern(given):
        return TypePattern(given)
    from .exceptions import IdentifierError  # imported only to raise

    like = type_identifier(given) if is_class(given) else ":".join(str(given).rsplit(".", 1))
    meant = f"; write {like!r}" if is_type_pattern(like) else ""
    raise IdentifierError(given, f"a type pattern such as 'numpy:ndarray'{meant}")


def _several(name: str, given: Any, what: str = "type patterns") -> tuple[Any, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise TypeError(f"{name} takes several {what}, in a list")
    return tuple(given)


def _exceptions(given: Any) -> tuple[type[Exception], ...]:
    """Return the exception classes that implementations raise to defer."""
    found: tuple[Any, ...] = (given,) if isinstance(given, type) else tuple(given)
    for each in found:
        if not (isinstance(each, type) and issubclass(each, Exception)):
            raise TypeError(f"defer_on= takes exception classes in a list, not {each!r}")
    return found


def find_system(module: str, prefix: str, group: str | None = None) -> BackendSystem:
    """Find the system of a library when unpickling; imports the module that makes it.

    Pickles name this function, so its name and its parameters must not change.
    """
    from importlib import import_module

    # A script is `__main__` here, and may be `__mp_main__` in a process that it started.
    found = import_module(module)
    for name in (module, found.__name__):
        reference = _systems.get((name, prefix, group))
        system = None if reference is None else reference()
        if system is not None:
            return system
    wanted = f"prefix {prefix!r} and the group {group!r}"
    raise LookupError(f"module {module!r} makes no BackendSystem with the {wanted}")


def systems_of(module: str) -> list[BackendSystem]:
    """Return the systems of the library that a module belongs to, by its top-level package."""
    top = module.partition(".")[0]
    found = [each() for key, each in _systems.copy().items() if key[0].partition(".")[0] == top]
    return [system for system in found if system is not None]


def __getattr__(name: str) -> object:
    # Imported on first use: a library that only decorates functions needs no context.
    if name == "DispatchContext":
        from ._call import DispatchContext

        return DispatchContext
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
