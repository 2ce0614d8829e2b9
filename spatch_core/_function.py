"""Dispatchable functions: the decoration of a function, its record, and mistakes in decorating."""

from __future__ import annotations

import sys
from _collections_abc import Sequence  # as collections.abc has it, without that import
from os.path import exists
from types import CodeType

from ._parameters import Function
from ._patterns import GENERATED, is_initializing, split_identifier
from ._wrapper import document, dress, make_wrapper, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

    from ._dispatcher import Dispatcher
    from ._explain import Explanation
    from ._invoke import Invocation
    from ._parameters import DispatchArguments
    from ._traits import Traits


class Dispatchable:
    """The record of a dispatchable function; making it decorates the function.

    Attributes
    ----------
    dispatcher : Dispatcher
        The library's dispatcher, which gives the function its index in the tables.
    identifier : str
        Its public identity, ``"module:qualname"``.
    function : Function
        The default implementation and the dispatch arguments.
    index : int
        Its place in the tables.
    origin : object
        The spec of the module that defines it; a module that is imported again has another one.
    doc : str or None
        The docstring of the default implementation.
    wrapper : types.FunctionType
        The decorated function.
    filename : str
        The file name under which tracebacks show the wrapper's source.
    shape : tuple
        The `Shape` of that source; set last, because `document` takes it for a sign that there is
        a wrapper.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        default: Any,
        dispatch_args: DispatchArguments,
        names: tuple[str | None, str | None, str | None],
        traits: Traits | None = None,
    ) -> None:
        # See `BackendSystem.dispatchable`; `names` are its module, qualname and identifier.
        _check_callable(default)
        module, qualname, self.identifier = _identity(default, *names)
        earlier: Any = dispatcher.by_identifier.get(self.identifier)
        if earlier is not None:
            _warn_of_duplicate(earlier, default)
        self.dispatcher = dispatcher
        self.function = Function(
            self.identifier, default, dispatch_args, traits, dispatcher.default_name
        )
        self.doc: str | None = default.__doc__
        self.origin = _origin(default)
        self.filename = f"{GENERATED}{self.identifier}>"
        self.index = dispatcher.add(self)
        shape = shape_of(self.function, bool(dispatcher.defer_on))
        self.wrapper = make_wrapper(self, shape, qualname)
        dress(self.wrapper, default, module, qualname)
        made: Any = self.wrapper
        made.explain, made.invoke, made.backends = self.explain, self.invoke, BackendNames(self)
        self.shape = shape
        caller = dispatcher.loaded
        if caller is not None:
            from ._loading import docs  # most libraries have no backends yet

            if any(each.is_asked for each in caller.catalog.descriptions.values()):
                # No backend was asked for this function; None if this thread is loading them.
                caller = dispatcher.ensure_loader().load(again=True) or caller
            document(self, docs(caller, self.identifier))

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """Return which implementation would run for this call, and why.

        It calls each ``should_run`` on the way, and no implementation.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the call.

        Returns
        -------
        Explanation
            Print it, or look at its ``selected`` and ``backends``.

        Raises
        ------
        TypeError
            If the function cannot be called with these arguments.

        Notes
        -----
        A method may take its instance, ``Class.method.explain(instance, x)``. In
        ``instance.method.explain(x)`` the instance is lost: if the method dispatches on it, its
        class counts, and a ``should_run`` is not asked.
        """
        from ._invoke import explain_call  # a library needs it later

        return explain_call(self, args, kwargs)

    def invoke(
        self, *, backend: str | None = None, type: type | str | None = None, force: bool = False
    ) -> Invocation:
        """Return the function as one backend, or for one type, would run it.

        Parameters
        ----------
        backend : str, optional
            Run this backend's implementation, whatever the types of the arguments.
            ``"default"`` is the library's own.
        type : type or str, optional
            Dispatch as if an object of this type had been passed too, in this call alone. An
            identifier such as ``"numpy:ndarray"`` is imported.
        force : bool, optional
            Whether to run the implementation without asking the backend's ``should_run``.
            Results may be wrong: it says which calls the implementation is right for.

        Returns
        -------
        Invocation
            Called like the function. It can be pickled.

        Raises
        ------
        UnknownBackendError, UnknownTypeError
            A `ValueError` when called, if there is no such backend or type.
        BackendDeferredError
            When called, if the backend does not implement the function, or defers.
        """
        if backend is None and (type is None or force):
            given = "force= with backend= alone" if force else "backend= or type="
            raise TypeError(f"invoke() takes {given}")
        from ._invoke import Invocation  # few programs need it

        return Invocation(self, backend, type, force)


class BackendNames(Sequence):  # type: ignore[type-arg]  # of str; no subscript at run time
    """Names of the backends that implement a function, by priority; a lazy sequence."""

    __slots__ = ("_record",)

    def __init__(self, record: Dispatchable) -> None:
        self._record = record

    def _names(self) -> tuple[str, ...]:
        record = self._record
        return tuple(record.dispatcher.ensure_loaded().decider.implementers(record.identifier))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __getitem__(self, position: Any) -> Any:
        return self._names()[position]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (BackendNames, tuple, list)):
            return self._names() == tuple(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        return repr(self._names())


def _identity(
    default: Any, module: str | None, qualname: str | None, identifier: str | None
) -> tuple[str, str, str]:
    """Return the module and the qualname of a wrapper, and the public identity."""
    # A method of Python's own classes has no module, nor has a function that `exec` has made. An
    # object without a qualname has the module of its class.
    own_qualname: Any = getattr(default, "__qualname__", None)
    own_module: Any = None if own_qualname is None else getattr(default, "__module__", None)
    if identifier is not None:
        if module or qualname:
            raise TypeError("dispatchable() takes identifier=, or module= and qualname=, not both")
        home = split_identifier(identifier)
        return own_module or home[0], own_qualname or home[1], identifier
    if module or qualname:
        own_module, own_qualname = module or own_module, qualname or own_qualname
    if own_module is None or own_qualname is None:
        raise TypeError(
            f"{default!r} has no module or no name of its own: give identifier=, or module= and "
            "qualname="
        )
    identifier = f"{own_module}:{own_qualname}"
    if module or qualname:
        split_identifier(identifier)  # raises if one is malformed
    return own_module, own_qualname, identifier


def _origin(default: Any) -> object:
    """Return the spec of the module that defines a function."""
    return getattr(sys.modules.get(getattr(default, "__module__", "")), "__spec__", None)


# --- mistakes -----------------------------------------------------------------------------------


def check_parentheses(given: Any, frame: FrameType) -> None:
    """Raise if ``@system.dispatchable`` was written without parentheses.

    Then the function to decorate is passed as the dispatch arguments. Unlike a finder, it is
    defined by the code that calls `dispatchable`, whose frame is given, and not bound to a name
    yet. A lambda is not being decorated.
    """
    name = getattr(given, "__name__", "")
    if name == "<lambda>" or frame.f_locals.get(name, frame.f_globals.get(name)) is given:
        return
    code = getattr(given, "__code__", None)
    is_own = isinstance(code, CodeType) and any(each is code for each in frame.f_code.co_consts)
    if is_own or isinstance(given, type):
        raise TypeError(
            f"dispatchable is called before it decorates {given.__qualname__}: write "
            '@dispatchable() to dispatch on all arguments, or @dispatchable("x") to dispatch on '
            f"the argument x{_CLASS if isinstance(given, type) else ''}"
        )


_CLASS = "; decorate the methods of a class, or a function that makes its instances"

_UNDISPATCHABLE = {
    "__hash__": "equal objects must have one hash, with any backends installed",
    "__init__": "the instance is made already; decorate a function or a class method that makes "
    "instances",
    "__new__": "a call of the class calls __init__ as well; decorate a function or a class method "
    "that makes instances",
}
"""Methods that no backend may replace, and why."""


def _check_callable(default: Any) -> None:
    """Raise unless a function can be dispatchable."""
    if isinstance(default, type):
        raise TypeError(
            f"the class {default.__qualname__} cannot be dispatchable, because a function would "
            "take its place" + _CLASS
        )
    is_method = isinstance(default, staticmethod) or not callable(default)
    if is_method and hasattr(type(default), "__get__"):  # property, classmethod and the like
        name = type(default).__name__
        raise TypeError(
            f"only a function can be dispatchable, not a {name}: "
            f"write @{name} above @dispatchable(...)"
        )
    if not callable(default):
        raise TypeError(
            f"only a function can be dispatchable, not {default!r}; "
            "is it decorated with @dispatchable(), with parentheses?"
        )
    name = getattr(default, "__name__", "")
    if name in _UNDISPATCHABLE:
        shown = getattr(default, "__qualname__", name)
        raise TypeError(f"{shown} cannot be dispatchable: {_UNDISPATCHABLE[name]}")


def _warn_of_duplicate(earlier: Dispatchable, default: Any) -> None:
    """Warn if another function takes the identity of an earlier one.

    It does not warn if a module is imported again, which then has another spec, nor if IPython's
    autoreload runs one definition of it again, nor in an interactive session, whose code comes
    from no file.
    """
    replaced: Any = earlier.function.default
    if default is replaced:
        return
    module, qualname = getattr(default, "__module__", ""), getattr(default, "__qualname__", "")
    if module == getattr(replaced, "__module__", None):
        if earlier.origin is not _origin(default):
            return
        is_same = qualname == getattr(replaced, "__qualname__", "") and "<locals>" not in qualname
        # A script is not marked while it runs.
        if is_same and module != "__main__" and not is_initializing(sys.modules.get(module)):
            return
    places = [_place(replaced), _place(default)]
    if "" in places:
        return
    from ._errors import warn_caller
    from .exceptions import DuplicateFunctionWarning

    warn_caller(DuplicateFunctionWarning(earlier.identifier, *places))


def _place(default: Any) -> str:
    """Return where a function is defined, ``"file:line"``; empty if it comes from no file."""
    while hasattr(default, "__wrapped__"):
        default = default.__wrapped__
    code = getattr(default, "__code__", None)
    if code is None or not exists(code.co_filename):
        return ""
    return f"{code.co_filename}:{code.co_firstlineno}"
