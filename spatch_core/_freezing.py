"""Functions with a frozen dispatch state, and what pickles of options hold.

They hold the options that differ from their default values, under the names that users write, and
the `BackendSystem`, which another process finds by the module that makes it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial, update_wrapper
from types import MethodType

from ._patterns import callable_identifier, import_identifier, loaded_object
from ._state import DispatchState
from ._wrapper import ASYNC_GENERATOR, COROUTINE, PLAIN, nature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from ._state import Scope, StateKeeper, Tables

    F = TypeVar("F", bound=Callable[..., Any])


def freeze(owner: Any, scope: Scope, function: F, *, is_watched: bool) -> F:
    """Return a callable that always runs `function` in `scope` of the library `owner`.

    If it `is_watched`, the trace and the hooks of its caller go on watching inside of it.
    """
    made: Any
    if isinstance(function, (staticmethod, classmethod)):
        made = type(function)(freeze(owner, scope, function.__func__, is_watched=is_watched))
    elif isinstance(function, type):
        raise TypeError(
            f"backend options cannot decorate the class {function.__qualname__}, because a "
            "function would take its place: decorate its methods, or use a block"
        )
    elif isinstance(function, FunctionWithState) and function._owner is owner:
        # The options of decorators add up, as those of nested blocks do.
        state = function._scope.state.within(scope.state)
        is_watched = is_watched and function._is_watched
        scope = owner.keeper.scope(state)
        made = freeze(owner, scope, function.__wrapped__, is_watched=is_watched)
    elif callable(function):
        made = _class_for(function)(owner, scope, function, is_watched)
    else:
        raise TypeError(f"backend options decorate a function, not {function!r}")
    return made  # type: ignore[no-any-return]  # it is called like `function`


def kind_of(nature: int) -> str:
    """Return the nature of a function in words."""
    if nature & ASYNC_GENERATOR:
        return "an asynchronous generator function"
    return "a coroutine function" if nature & COROUTINE else "a generator function"


def _class_for(function: Any) -> type[FunctionWithState]:
    """Return the class that freezes a callable."""
    nature = nature_of(function)
    if nature == PLAIN:
        return FunctionWithState
    if nature & COROUTINE:
        return CoroutineFunctionWithState
    name = getattr(function, "__qualname__", None) or repr(function)
    raise TypeError(
        f"backend options cannot decorate {name}, which is {kind_of(nature)}: its body runs after "
        "the call, step by step. Decorate the function that iterates over it, or a function that "
        "it calls"
    )


# Attributes of a dispatchable that would use the state in force, instead of the frozen one.
_ATTRIBUTES = ("explain", "invoke", "backends")


class FunctionWithState:
    """A callable that runs another one, its ``__wrapped__``, under a frozen dispatch state.

    A pickle holds only the names of backends, and a process that lacks these may load it: they are
    not `checked` before the first call, which raises `UnknownBackendError`.
    """

    def __init__(
        self,
        owner: Any,
        scope: Scope,
        function: Callable[..., Any],
        is_watched: bool,
        checked: bool = True,
    ) -> None:
        update_wrapper(self, function)
        self.__wrapped__ = function
        if all(hasattr(function, name) for name in _ATTRIBUTES):
            for name in _ATTRIBUTES:
                self.__dict__.pop(name, None)
        self._owner = owner
        self._keeper: StateKeeper = owner.keeper
        self._scope = scope
        self._is_watched = is_watched
        self._checked = checked

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not self._checked:
            self._check()
        # Inlined, so that a frozen function adds only this frame.
        keeper = self._keeper
        token = keeper.set(self._tables())
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            keeper.variable.reset(token)

    def _tables(self) -> Tables:
        """Return the tables of the frozen state, with the caller's trace and hooks if watched."""
        outer: Scope = self._keeper.get()[0]
        trace, hook = outer.state.trace, outer.state.hook
        if not self._is_watched or (trace is None and hook is None):
            return self._scope.tables
        watching = DispatchState(trace=trace, hook=hook)
        return self._keeper.inside(outer, self._scope.state, watching).tables

    def _check(self) -> None:
        catalog = self._owner.catalog()
        for name in self._scope.state.prioritized:
            catalog.check_backend(name)
        self._checked = True

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.__wrapped__!r} under {self._scope.state!r}>"

    def __reduce__(self) -> Any:
        function: Any = self.__wrapped__
        # With options of several libraries on one function, the name leads to the outermost.
        module: Any = getattr(self, "__module__", None)
        qualname = self.__dict__.get("__qualname__")
        is_found = (
            isinstance(module, str)
            and isinstance(qualname, str)
            and loaded_object(module, qualname) is self
        )
        if is_found and not _travels_by_value(module):
            function = f"{module}:{qualname}"
        elif is_found:
            # A process that runs the same script finds the function by this name. By its own name
            # pickle would find this object. (cloudpickle pickles these functions by value, whatever
            # their names.)
            function.__qualname__ = f"{qualname}.__wrapped__"
        options = self._scope.state.options
        return _restored, (self._owner.system, options, function, self._is_watched)


def _restored(system: Any, options: Any, function: Any, is_watched: bool) -> FunctionWithState:
    """Make a pickled function again, of a callable or of the identifier of the frozen function."""
    if isinstance(function, str):
        # The object with this name has frozen the state of this process. The pickle has its own
        # state, so only the function inside is used.
        found = import_identifier(function)
        function = found.__wrapped__ if isinstance(found, FunctionWithState) else found
    others = {**options}
    prioritized, disabled = others.pop("prioritize", ()), others.pop("disable", ())
    state = DispatchState(tuple(prioritized), frozenset(disabled), **others)
    owner = system._dispatcher
    scope = owner.keeper.scope(state)
    return _class_for(function)(owner, scope, function, is_watched, checked=False)


def _travels_by_value(module: str) -> bool:
    """Whether another process may lack a module, because cloudpickle sends its functions."""
    registered: Any = getattr(sys.modules.get("cloudpickle"), "list_registry_pickle_by_value", set)
    return any(f"{module}.".startswith(f"{each}.") for each in ("__main__", *registered()))


def show_nature(made: Any, function: Any) -> None:
    """Give an object the attributes by which `inspect` tells the nature of a function."""
    own: Any = type(made).__call__
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        setattr(made, name, getattr(function, name, getattr(own, name)))
    vars(made).setdefault("__name__", type(made).__name__)


class CoroutineFunctionWithState(FunctionWithState):
    """A frozen coroutine function: the state is in force until its result is there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        show_nature(self, self.__wrapped__)

    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not self._checked:
            self._check()
        start = partial(self.__wrapped__, *args, **kwargs)
        return await await_in(self._keeper, self._tables(), start)


def call_in(
    keeper: StateKeeper, tables: Tables, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a function with a scope in force."""
    token = keeper.set(tables)
    try:
        return function(*args, **kwargs)
    finally:
        keeper.variable.reset(token)


async def await_in(keeper: StateKeeper, tables: Tables, start: Callable[[], Any]) -> Any:
    """Await what `start` returns, with a scope in force until then."""
    token = keeper.set(tables)
    try:
        return await start()
    finally:
        # The garbage collector may close a coroutine in another context, which has no such scope.
        with suppress(ValueError):
            keeper.variable.reset(token)


def reduce_options(owner: Any, state: DispatchState) -> Any:
    """Return the result of ``__reduce__`` for options that describe `state`."""
    if state.hook is not None:
        raise TypeError(
            "backend options with a hook cannot be pickled or copied, because a hook belongs to "
            f"its process; give {callable_identifier(state.hook[0])} where the options are used"
        )
    options = state.options
    if state.trace is not None:
        options["trace"] = True  # each process has a trace of its own
    return _options_again, (owner.system, options)


def _options_again(system: Any, options: Mapping[str, Any]) -> Any:
    return system.backend_opts(**options)
