"""`BackendSystem`: a library's dispatching, wired together.

Discovery happens when backends are first needed, never when the library is imported. Modules
that only discovery needs are imported then, too.
"""

from __future__ import annotations

import sys
from _weakref import ref  # weakref itself imports much more

from ._function.decorator import Decorator
from ._function.dispatcher import Dispatcher
from ._function.library_backends import Backends
from ._identifiers import DEFAULT, is_backend_name, is_type_pattern
from ._options import BackendOptions
from ._state import StateKeeper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ParamSpec, TypeVar

    from ._call.context import DispatchContext
    from ._description.description import Description
    from ._resolution.notices import Notices

    P = ParamSpec("P")
    R = TypeVar("R")

__all__ = ["BackendSystem", "DispatchContext", "find_system"]

# The keys (module, prefix and group) are in pickles: another process finds a system by them.
_systems: dict[tuple[str, str, str | None], ref[BackendSystem]] = {}


class BackendSystem(Decorator, Backends):
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
        # One quick test for the usual arguments; `check_system` examines all others.
        if not (
            (group is None or type(group) is str)
            and type(environ_prefix) is str
            and environ_prefix.isidentifier()
            and {type(default_primary_types), type(backends)} <= {list, tuple}
            and type(default_secondary_types) in (list, tuple)
        ):
            from ._function.mistakes import check_system  # few libraries need it

            # None means empty, as in the public package `spatch`.
            default_primary_types = () if default_primary_types is None else default_primary_types
            backends = () if backends is None else backends
            types = default_primary_types, backends, default_secondary_types
            check_system(group, environ_prefix, *types)
        assert default_primary_types is not None
        assert backends is not None
        self.group = group
        self.environ_prefix = environ_prefix
        self._default_types = tuple(default_primary_types)
        self._secondary_types = tuple(default_secondary_types)
        for text in (*self._default_types, *self._secondary_types):
            if not is_type_pattern(text):
                from ._type_patterns import TypePattern  # correct libraries need it later

                TypePattern(text)  # raises
        self._in_code = tuple(backends)
        self._registered: tuple[Description, ...] = ()
        self._fallback = fallback
        self._defer_on: tuple[type[Exception], ...] = ()
        if fallback != "default" or defer_on:
            from ._signature.traits import (  # few libraries need them
                checked_exceptions,
                checked_policy,
            )

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
        # The caller's module makes the system, so another process finds it by importing that.
        self._module = str(sys._getframe(1).f_globals.get("__name__", "__main__"))
        dispatcher = Dispatcher(
            *(StateKeeper(environ_prefix), self._make_loader, self.restore, self.reload),
            self._defer_on,
            default_name,
        )
        self.backend_opts = dispatcher.backend_opts = BackendOptions._bind(dispatcher, self._module)
        self._dispatcher = dispatcher
        _systems[self._module, environ_prefix, group] = ref(self)

    def __repr__(self) -> str:
        return f"<BackendSystem of {self._module}, group {self.group!r}>"

    def __reduce__(self) -> Any:
        found = self._module, self.environ_prefix, self.group
        if self._module == "__main__" and all(type(each) is dict for each in self._in_code):
            # Another process may not run this script, so the pickle says how to make the system.
            others = self._secondary_types, self._fallback, self._defer_on
            last = () if self.protocol is None else (self.protocol,)
            return find_system, (*found, self._default_types, self._in_code, *others, *last)
        return find_system, found


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
    """Find the system of a library when unpickling, also in another process.

    Pickles name this function, so its name and its parameters must not change.

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
        The other arguments of a system that a script has made. They make the system again in a
        process that does not run the script.

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
        system._module = module  # the script's
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
        from ._call.context import DispatchContext

        return DispatchContext
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
