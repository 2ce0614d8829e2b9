"""Dispatchable functions: their dispatch arguments, their decoration, and a library's dispatcher.

Almost everything here works without importing `inspect`, which takes longer than a library's
decorations do.
"""

from __future__ import annotations

import sys
from _collections_abc import Sequence  # as collections.abc has it, without that import
from types import FunctionType

from ._patterns import GENERATED, is_dotted_name, is_initializing, split_identifier
from ._state import StateKeeper
from ._wrapper import (
    SIGNED,
    dress,
    given,
    make_wrapper,
    missing,
    nature_of,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeAlias

    from ._backends import Backends
    from ._discovery import Catalog, Loader
    from ._entries import Invocation
    from ._explain import Explanation
    from ._options import BackendOptions
    from ._traits import Memory

    DispatchArguments: TypeAlias = (
        str | Iterable[str] | Mapping[str, int | None] | Callable[..., Iterable[Any]] | None
    )

# --- the places of dispatch arguments -----------------------------------------------------------

# A sanity limit: a wrapper has a variable for each position up to the last dispatch argument.
_MOST_POSITIONS = 64


class Parameter:
    """The place of a dispatch argument in a signature.

    `name` is None if it cannot be passed by keyword, and `position` if it cannot be passed by
    position. `label` is the name by which the library names it in every case.
    """

    __slots__ = ("label", "name", "position")

    def __init__(self, name: str | None, position: int | None, label: str | None = None) -> None:
        self.name = name
        self.position = position
        self.label = name if label is None else label

    def value(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the argument of a call; `missing` if it is not given."""
        if self.position is not None and self.position < len(args):
            return args[self.position]
        return missing if self.name is None else kwargs.get(self.name, missing)


def find_parameters(
    default: Callable[..., Any],
    dispatch_args: str | Iterable[str] | Mapping[str, int | None],
    identifier: str,
) -> tuple[Parameter, ...]:
    """Find the places of the dispatch arguments in the signature of `default`."""
    given: Any = dispatch_args
    if isinstance(given, str):
        names: tuple[Any, ...] = (given,)
    elif hasattr(given, "items"):
        return tuple([_checked(name, place, identifier) for name, place in given.items()])
    else:
        try:
            names = tuple(given)
        except TypeError:
            raise TypeError(
                f"{identifier}: the dispatch arguments are a name, several names in a list, a "
                f"mapping of names to positions or a callable that returns them, not {given!r}"
            ) from None
    if not names:
        return ()  # before reading the signature, which some builtins lack
    # `inspect.signature` works for all callables, but is slow to import and to run.
    if type(default) is FunctionType and SIGNED.isdisjoint(default.__dict__):
        code = default.__code__
        count, first_named = code.co_argcount, code.co_posonlyargcount
        known: tuple[str, ...] = code.co_varnames[: count + code.co_kwonlyargcount]
    else:
        known, first_named, count = _inspected(default, identifier)
    found = []
    for label in names:
        if label not in known:
            raise TypeError(
                f"{identifier} has no parameter {label!r} of one argument; it has "
                f"{', '.join(known) or 'none'}. For dispatch arguments inside *args or "
                "**kwargs give a callable that returns them, or {name: position}"
            )
        place = known.index(label)
        name = label if place >= first_named else None
        found.append(Parameter(name, place if place < count else None, label))
    return tuple(found)


def _inspected(default: Any, identifier: str) -> tuple[tuple[str, ...], int, int]:
    """Return the parameters but ``*args``, how many have no name, and how many have a position."""
    from inspect import signature

    try:
        parameters = signature(default).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the signature of {identifier} cannot be determined ({error}); give the dispatch "
            "arguments as {name: position}"
        ) from error
    found = [
        each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    nameless = sum(each.kind is each.POSITIONAL_ONLY for each in found)
    named_only = sum(each.kind is each.KEYWORD_ONLY for each in found)
    return tuple([each.name for each in found]), nameless, len(found) - named_only


def _checked(name: Any, position: Any, identifier: str) -> Parameter:
    is_place = position is None or (type(position) is int and 0 <= position < _MOST_POSITIONS)
    if not isinstance(name, str) or not is_place:
        raise TypeError(
            f"{identifier}: dispatch arguments map names to positions from 0, or to None for "
            f"keyword-only ones, not {name!r} to {position!r}"
        )
    return Parameter(name, position)


# --- the default implementation -----------------------------------------------------------------


class Function:
    """The default implementation of a dispatchable function, and its dispatch arguments.

    `parameters` are the places of the dispatch arguments; None if a callable, `_finder`, returns
    them. `wrapper` is the function that users call. `dispatcher` gives the function its `index` in
    the tables.
    """

    wrapper: Any
    dispatcher: Dispatcher
    index: int

    # Few functions have other values: see `_traits` and `adopt.AdoptedFunction`.
    is_adopted = False
    compositional: bool = False
    fallback: str | None = None
    like: str | None = None
    memory: Memory | None = None
    mutated: tuple[Parameter, ...] = ()

    def __init__(
        self,
        identifier: str,
        default: Callable[..., Any],
        dispatch_args: DispatchArguments,
        traits: Mapping[str, Any],
    ) -> None:
        self.identifier = identifier
        self.default = default
        if traits:
            from ._traits import set_traits  # few functions have any

            dispatch_args = set_traits(self, dispatch_args, traits)
        self.nature = nature_of(default)
        self._finder: Callable[..., Iterable[Any]] | None = None
        self.parameters: tuple[Parameter, ...] | None = None
        if dispatch_args is None:
            self._finder = _all_arguments
        elif callable(dispatch_args):
            self._finder = dispatch_args
        else:
            self.parameters = self.find_parameters(dispatch_args)

    def find_parameters(self, named: Any) -> tuple[Parameter, ...]:
        """Return the places of arguments, which are named as the dispatch arguments are."""
        return find_parameters(self.default, named, self.identifier)

    def counts(self, cls: type) -> bool:
        """Whether a type counts for all backends, whatever their type patterns."""
        return False

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether a type of the call that the library does not serve may answer instead."""
        return False

    def override(self, classes: tuple[type, ...], protocol: str) -> Callable[..., Any]:
        """Return a callable that calls the methods of overriding types until one answers."""
        from ._classes import make_override  # few libraries have a protocol

        return make_override(self, classes, protocol)

    def without_like(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return keyword arguments without the one that is only for dispatching."""
        if self.like is None or self.like not in kwargs:
            return kwargs
        return {name: value for name, value in kwargs.items() if name != self.like}

    def extract(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the dispatch arguments of a call that were given and are not None, in order."""
        return given(self.values(args, kwargs))

    def values(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return all dispatch arguments of a call in order, None and `missing` among them."""
        if self.parameters is None:
            return self.find(args, kwargs)
        return tuple([each.value(args, kwargs) for each in self.parameters])

    def find(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the dispatch arguments that a callable finds in a call."""
        assert self._finder is not None  # there are no parameters
        try:
            found: Any = self._finder(*args, **kwargs)
            # The `Elements` of lists stay what they are.
            return found if hasattr(found, "every") else tuple(found)
        except TypeError as error:
            # A wrong number of arguments, or a result that is not iterable, is an error of this
            # frame; any other is of the library's code.
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise
            wrong = TypeError(
                f"{self.identifier}: the callable that finds its dispatch arguments must take the "
                "arguments of every call, as the function does, and return several objects in a "
                f"tuple or list, but {error}"
            )
            raise self.misfit(args, kwargs) or wrong from error

    def misfit(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TypeError | None:
        """Return the error of arguments that do not fit the function's own signature, or None."""
        from inspect import signature

        try:
            # Not the signature of a function that the default wraps: the default gets the
            # arguments.
            own = signature(self.default, follow_wrapped=False)
        except (TypeError, ValueError):
            return None  # some functions written in C have none
        try:
            own.bind(*args, **kwargs)
        except TypeError as error:
            return TypeError(f"{self.identifier.partition(':')[2]}() {error}")
        return None


def _all_arguments(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return (*args, *kwargs.values())


# --- the decorated function ---------------------------------------------------------------------


class Dispatchable(Function):
    """A dispatchable function; making it decorates the default implementation."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        default: Any,
        dispatch_args: DispatchArguments,
        names: tuple[str | None, str | None, str | None],
        traits: Mapping[str, Any],
    ) -> None:
        # See `BackendSystem.dispatchable`; `names` are its module, qualname and identifier.
        _check_callable(default)
        module, qualname, identifier = _identity(default, *names)
        super().__init__(identifier, default, dispatch_args, traits)
        earlier: Any = dispatcher.by_identifier.get(self.identifier)
        if earlier is not None:
            _warn_of_duplicate(earlier, default)
        self.doc: str | None = default.__doc__
        self.origin = _origin(default)
        self.filename = f"{GENERATED}{self.identifier}>"  # in tracebacks
        dispatcher.add(self)
        shape = shape_of(self)
        self.wrapper = make_wrapper(self, shape, qualname)
        dress(self.wrapper, default, module, qualname)
        made: Any = self.wrapper
        made.explain, made.invoke, made.backends = self.explain, self.invoke, BackendNames(self)
        self.shape = shape  # last: `document` takes it for a sign that there is a wrapper
        caller = dispatcher.loaded
        if caller is not None:
            from ._discovery import document  # most libraries have no backends yet

            if any(each.is_asked for each in caller.catalog.descriptions.values()):
                # No backend was asked for this function; None if this thread is loading them.
                caller = dispatcher.ensure_loader().load(again=True) or caller
            document(self, caller)

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
        A method takes its instance first, ``Class.method.explain(instance, x)``.
        """
        from ._entries import explain_call  # not needed when a library is imported

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
        from ._entries import Invocation  # few programs need it

        options = {"backend": backend, "type": type, "force": force or None}
        options = {name: each for name, each in options.items() if each is not None}
        return Invocation(self.wrapper, options)


class BackendNames(Sequence):  # type: ignore[type-arg]  # of str; no subscript at run time
    """Names of the backends that implement a function, by priority; a lazy sequence."""

    __slots__ = ("_function",)

    def __init__(self, function: Dispatchable) -> None:
        self._function = function

    def _names(self) -> tuple[str, ...]:
        backends = self._function.dispatcher.ensure_loaded()
        return tuple(backends.implementers(self._function.identifier))

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
    if not (own_module and own_qualname and (qualname or is_dotted_name(own_qualname))):
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


_CLASS = "; decorate the methods of a class, or a function that makes its instances"


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
    if getattr(default, "__name__", "") in ("__hash__", "__init__", "__new__"):
        raise TypeError(
            f"{default.__qualname__} cannot be dispatchable: equal objects must have one hash, and "
            "a call of a class calls both other methods; decorate a function or a class method"
        )


def _warn_of_duplicate(earlier: Dispatchable, default: Any) -> None:
    """Warn if another function takes the identity of an earlier one."""
    # One definition may run again: its module is imported anew, or IPython's autoreload or a cell
    # of a notebook runs it. So two functions of one module are two only while it is imported.
    replaced: Any = earlier.default
    module = getattr(default, "__module__", "")
    is_importing = earlier.origin is _origin(default) and is_initializing(sys.modules.get(module))
    is_again = module == getattr(replaced, "__module__", None) and not is_importing
    if is_again or default is replaced:
        return
    from ._errors import warn_caller
    from .exceptions import DuplicateFunctionWarning

    places = _place(replaced), _place(default)
    warn_caller(DuplicateFunctionWarning(earlier.identifier, *places))


def _place(default: Any) -> str:
    """Return where a function is defined, ``"file:line"``; empty if it is not Python's."""
    while hasattr(default, "__wrapped__"):
        default = default.__wrapped__
    code = getattr(default, "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


# --- the dispatcher -----------------------------------------------------------------------------


class Dispatcher:
    """Holds the functions and the options of a library, and fills the tables of its wrappers."""

    backend_opts: type[BackendOptions]  # set by the system

    def __init__(self, system: Any) -> None:
        self.system = system  # for pickles
        self.keeper = StateKeeper(system.environ_prefix)
        # One at most, in both: appending and reading are single steps, so that no lock is needed.
        self.adoptions: list[Any] = []
        self._loaders: list[Loader] = []
        # The first has index 1 in the tables, where item 0 is the scope.
        self.functions: list[Function] = []
        # The newest function of each identifier: a module may be imported again.
        self.by_identifier: dict[str, Dispatchable] = {}

    @property
    def loaded(self) -> Backends | None:
        """The backends, if they have been loaded."""
        return self._loaders[0].loaded if self._loaders else None

    def ensure_loader(self) -> Loader:
        """Return the loader; if several threads make one, the first one's stays."""
        if not self._loaders:
            from ._discovery import Loader  # not needed when a library is imported

            self._loaders.append(Loader(self.system))
        return self._loaders[0]

    def ensure_loaded(self) -> Backends:
        """Return the backends, loaded if needed; raise if this thread loads them."""
        found = self.ready()
        if found is None:
            raise RuntimeError(
                "the backends are being discovered, and a module that the discovery imports needs "
                "them; use them only after its import"
            )
        return found

    def ready(self) -> Backends | None:
        """Return the backends, loaded if needed; None if this thread loads them."""
        loader = self.ensure_loader()
        return loader.loaded or loader.load() or loader.loaded

    def catalog(self) -> Catalog:
        """Return the catalog of the backends, which are discovered if needed."""
        found: Catalog = self.ensure_loaded().catalog
        return found

    def add(self, function: Dispatchable) -> None:
        """Add a function of the library."""
        self.place(function)
        self.by_identifier[function.identifier] = function

    def place(self, function: Function) -> None:
        """Give a new function its index in the tables."""
        self.functions.append(function)
        index = len(self.functions)
        while self.functions[index - 1] is not function:
            index -= 1  # another thread has added one meanwhile
        function.dispatcher, function.index = self, index

    # What the wrappers call. `values` are the dispatch arguments, None and `missing` among them;
    # `deferred` and `failed` get them if a finder has returned them.

    def fill(self, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
        """Find the callable for a call, and put it into the table of the function."""
        if sys.is_finalizing():
            # A finalizer calls it when the interpreter ends, when nothing can be imported any more.
            default: Callable[..., Any] = self.functions[index - 1].default
            return default
        from ._entries import fill  # not needed when a library is imported

        return fill(self.functions[index - 1], values)

    # Not by ``*call``, for which CPython would use the C stack: the recursion may be deep.
    def deferred(self, index: int, called: Any, args: Any, kwargs: Any, values: Any = None) -> Any:
        """Call the next candidates after `called` has deferred."""
        from ._entries import deferred

        return deferred(self.functions[index - 1], called, args, kwargs, values)

    def failed(
        self, index: int, called: Any, args: Any, kwargs: Any, error: Exception, values: Any = None
    ) -> Any:
        """Return the argument `called` of `deferred` if it defers by the exception, else None."""
        from ._entries import failed

        return failed(self.functions[index - 1], called, args, kwargs, error, values)
