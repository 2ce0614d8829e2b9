"""The entries of tables: what the wrappers call, and what makes it when a table has none.

A table's entry is the bare implementation of the first candidate if it is plain; the wrapper calls
the rest of the chain after ``NotImplemented``. Any other entry tries the whole chain by itself: a
function with the mark of `tries_whole_chain`, or a `TakesFound`.
"""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from ._call import Chain, reason_of, reason_of_answer, shared_part
from ._context import RETURNED, Progress, Rest, new_context
from ._decide import Decision, Step
from ._patterns import DEFAULT, is_hashable_by_identity, shown
from ._state import Scope, store, table_of
from ._wrapper import TakesFound, given
from .exceptions import BackendDeferredError

if TYPE_CHECKING:
    from ._decide import Decider
    from ._function import Dispatcher, Function
    from ._state import DispatchState, StateKeeper


def tries_whole_chain(entry: object) -> bool:
    """Whether an entry of a table tries the whole chain by itself."""
    if isinstance(entry, FunctionType):
        return "_tries_whole_chain" in entry.__dict__
    return isinstance(entry, TakesFound)


def as_function(target: Any, function: Function) -> Callable[..., Any]:
    """Return the entry of a table for an object with `run` that tries a whole chain.

    It is a function: CPython calls these without using the C stack, but objects with `__call__`
    through it, where deep recursion of a library's function could overflow the stack of a thread.
    For a function with a finder, the wrapper calls the method `call_found` of the object instead.
    """
    if function.parameters is None:
        return target  # type: ignore[no-any-return]  # a `TakesFound`
    run = target.run

    def call(*args: Any, **kwargs: Any) -> Any:
        return run(args, kwargs)

    made: Any = call
    made._tries_whole_chain = True  # an attribute, because the type of functions has no subclasses
    return call


class Calls:
    """Makes the entries of a library's tables, for the backends of one catalog.

    `decider` makes the decisions, and `keeper` holds the tables, which are dropped when answers
    change. `defer_on` are the classes of exceptions by which implementations defer.
    """

    def __init__(
        self, decider: Decider, keeper: StateKeeper, defer_on: tuple[type[Exception], ...] = ()
    ) -> None:
        self.decider = decider
        self.keeper = keeper
        self.defer_on = defer_on
        self.foreign: set[str] = set()
        """Identifiers of functions that were called with foreign types."""

    @property
    def catalog(self) -> Any:
        """The library's backends."""
        return self.decider.catalog

    def entry(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Callable[..., Any]:
        """Return the entry of a table for these types, which include the state's type."""
        return self.entry_of(self.chain(function, state, types))

    def chain(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        *,
        after_overriding: bool = False,
        passes: bool = True,
    ) -> Chain:
        """Return the chain for these types; without `passes`, the end refuses to pass."""
        # Read first: a class that is registered while the decision is made makes it stale.
        token = get_cache_token()
        decide = self.decider.decide
        decision = decide(function, state, types, after_overriding=after_overriding)
        if decision.has_end:
            self.foreign.add(function.identifier)
        is_alone = False
        if function.is_adopted:
            candidates = decision.candidates
            is_alone = len(candidates) == 1 and candidates[0].is_plain
        token = token if decision.may_change else None
        return self._kind(function)(decision, self, passes=passes and is_alone, token=token)

    @staticmethod
    def _kind(function: Function) -> type[Chain]:
        if function.memory is None:
            return Chain
        from ._classes import Remembering  # few functions remember

        return Remembering

    def renewed(self, chain: Chain) -> Chain:
        """Return a chain anew, after an import or a registration that may have changed it."""
        self.decider.matcher.forget()
        self.keeper.forget_tables()
        known = chain.decision
        after = known.after_overriding
        return self.chain(chain.function, known.state, known.types, after_overriding=after)

    def invoked(
        self, function: Function, backend: str, state: DispatchState, types: Any, ask: bool
    ) -> Chain:
        """Return the chain of a call that names its backend, which need not match."""
        catalog = self.decider.catalog
        name = catalog.check_backend(backend)
        implementers = self.decider.implementers(function.identifier)
        if name not in implementers:
            names = ", ".join(shown(each, catalog.default_name) for each in implementers)
            reason = f"it does not implement it; these do: {names}"
            raise BackendDeferredError(name, function.identifier, reason)
        found = catalog.descriptions[name].implementation(function.identifier)
        # By force: without `should_run`, the step is plain.
        if found is not None and not ask:
            found = found._replace(should_run=None)
        decision = Decision(self.decider, function, state, types)
        decision = decision.with_candidates([Step(name, found, prioritized=True)])
        return self._kind(function)(decision, self, sole=True)

    @staticmethod
    def entry_of(chain: Chain) -> Callable[..., Any]:
        """Return the entry of a table for a chain."""
        decision, function = chain.decision, chain.function
        if chain.token is not None or chain.memory is not None or function.like is not None:
            return as_function(chain, function)
        if chain.is_bare and decision.first is not None:
            return decision.load(decision.first)
        if decision.state.trace is not None or function.nature or not decision.candidates:
            return as_function(chain, function)
        first, *others = decision.candidates
        if first.implementation is None or chain.calls.defer_on:
            return as_function(chain, function)
        fallback = None
        if len(others) == 1 and others[0].backend == DEFAULT and not decision.warns:
            fallback = decision.load(others[0])
        return _first_call(chain, first, fallback)


def fill(dispatcher: Dispatcher, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
    """Find the callable for a call, and put it into the table; see `Dispatcher.fill`."""
    function: Function = dispatcher.records[index - 1].function
    calls = dispatcher.ready()
    if calls is None:
        # A backend calls the library while discovery imports it: no backend is known yet.
        if function.like is not None:
            return _WithoutLike(function)  # type: ignore[return-value]  # a `TakesFound`
        return function.default
    tables = dispatcher.keeper.get()
    # First the table, then the state: if another thread exchanges both in between, the
    # target found for the new state is stored in the old table, which is no longer read.
    table = table_of(tables, index)
    scope: Scope = tables[0]
    state = scope.state
    types = calls.decider.unique_types(map(type, given(values)), state)
    # Read after the table: if the backends were replaced since `calls` was read, the table may
    # belong to the new ones, and must not get a target of the old ones.
    is_outdated = calls is not dispatcher.loaded
    key = tuple(map(type, values))
    target: Any
    if state.hook is not None:
        from ._hooked import hooked_calls  # most programs have no hooks

        target = as_function(hooked_calls(dispatcher, index, scope, types), function)
    elif is_outdated:
        target = calls.chain(function, state, types)
    else:
        target = calls.entry(function, state, types)
    # A metaclass with its own == or hash could run code, or fail, in each look-up.
    if not is_outdated and all(map(is_hashable_by_identity, key)):
        scope.make_room(index, table)
        store(table, function, key, target)
    return target  # type: ignore[no-any-return]  # it is called like the function


class _WithoutLike(TakesFound):
    """Calls the default implementation without the ``like`` argument."""

    __slots__ = ("function",)

    def __init__(self, function: Function) -> None:
        self.function = function

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any], found: object = None) -> Any:
        """Make a call."""
        return self.function.default(*args, **kwargs)


class _Raised(NamedTuple):
    """A bare implementation that deferred by raising an exception."""

    implementation: Callable[..., Any]
    error: Exception


def chain_of(
    dispatcher: Dispatcher,
    index: int,
    calls: Calls,
    types: Iterable[type],
    *,
    passes: bool = True,
) -> Chain:
    """Return the chain for the types of dispatch arguments, in the state in force."""
    function = dispatcher.records[index - 1].function
    scope: Scope = dispatcher.keeper.get()[0]
    # First the chains, then the backends: if another thread exchanges both in between, the
    # chain of the new backends is stored among the old chains, which are no longer read.
    chains, calls = scope.chains(index), dispatcher.loaded or calls
    unique = calls.decider.unique_types(types, scope.state)
    chain: Chain | None = chains.get(unique)
    if chain is None:
        chain = calls.chain(function, scope.state, unique, passes=passes)
        chains.keep(unique, chain)
    return chain


def deferred(
    dispatcher: Dispatcher,
    index: int,
    called: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    values: tuple[Any, ...] | None,
) -> Any:
    """Call the next candidates after `called` has deferred; see `Dispatcher.deferred`."""
    function, calls = dispatcher.records[index - 1].function, dispatcher.loaded
    if calls is None or called is function.default or tries_whole_chain(called):
        return NotImplemented
    found = function.extract(args, kwargs) if values is None else given(values)
    chain = chain_of(dispatcher, index, calls, map(type, found))
    if isinstance(called, _Raised):
        reason = reason_of(called.error), called.error
        return chain.after(called.implementation, args, kwargs, values, *reason)
    return chain.after(called, args, kwargs, values)


def failed(
    dispatcher: Dispatcher,
    index: int,
    called: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    error: Exception,
    values: tuple[Any, ...] | None,
) -> Any:
    """Handle an exception of a table's entry; see `Dispatcher.failed`."""
    calls = dispatcher.loaded
    # A chain has handled its own exceptions.
    if calls is None or tries_whole_chain(called) or hasattr(called, "_overrides"):
        return None
    function = dispatcher.records[index - 1].function
    if called is function.default and function.identifier not in calls.foreign:
        return None
    if isinstance(error, calls.defer_on) and called is not function.default:
        return _Raised(called, error)
    try:
        found = function.extract(args, kwargs) if values is None else given(values)
        chain = chain_of(dispatcher, index, calls, map(type, found))
        place = chain.decision.index_of(called)
    except Exception:  # noqa: BLE001  # the exception of the implementation counts
        return None
    if place is not None:
        chain.note(error, chain.decision.candidates[place], args, kwargs, Progress())
    return None


def _first_call(
    chain: Chain, first: Step, fallback: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the entry that asks and calls the first candidate of a chain.

    `Chain.walk` does the same for any number of candidates, in five times the time. `fallback` is
    the default, if it is the only other candidate.
    """
    decision, function = chain.decision, chain.function
    assert first.implementation is not None
    should_run = decision.load_should_run(first)
    uses_context = first.implementation.uses_context
    has_finder = function.parameters is None
    known = shared_part(decision, first, has_finder, Rest(chain, 1))
    implementation: Callable[..., Any] | None = None

    def call(*args: Any, **keywords: Any) -> Any:
        nonlocal implementation
        found = None
        # The wrapper has run the finder, and passes what it has returned before the arguments.
        if has_finder:
            found, args = args[0], args[1:]
        context = new_context()  # as `context_of_call` makes it
        context._known, context._kwargs = known, keywords
        context._args = args if found is None else found
        # In two steps, and without empty keywords: to unpack both in the call takes longer.
        asked = (context,) + args  # noqa: RUF005
        if should_run is not None:
            try:
                answer = should_run(*asked, **keywords) if keywords else should_run(*asked)
            except Exception as error:
                chain.note(error, first, args, keywords, Progress())
                raise
            if answer is not True:
                if fallback is None or not (answer is False or type(answer) is str):
                    return chain.after_first(answer, context, args, keywords, found)
                try:
                    return fallback(*args, **keywords)
                except Exception as error:
                    # Only now: a reason is needed for the note alone.
                    reasons = {first.backend: reason_of_answer(answer, decision, first)}
                    progress = Progress(reasons)
                    chain.note(error, decision.candidates[1], args, keywords, progress)
                    raise
        if implementation is None:
            # Without a lock: two threads that load it find the same object.
            implementation = decision.load(first)
        passed = asked if uses_context else args
        try:
            result = implementation(*passed, **keywords) if keywords else implementation(*passed)
        except Exception as error:
            chain.note(error, first, args, keywords, Progress())
            raise
        if result is NotImplemented:
            return chain.after_first(RETURNED, context, args, keywords, found)
        return result

    if has_finder:
        return _Asking(function, call)
    made: Any = call
    made._tries_whole_chain = True
    return call


class _Asking(TakesFound):
    """Calls the entry of `_first_call` with the dispatch arguments that a finder returns."""

    __slots__ = ("_function", "call_found")

    def __init__(self, function: Function, call_found: Callable[..., Any]) -> None:
        self._function = function
        self.call_found = call_found  # type: ignore[method-assign]  # a slot saves a frame

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.call_found(self._function.find(args, kwargs), *args, **kwargs)
