"""The entries of tables: what the wrappers call, and what makes it when a table has none.

A table's entry is the bare implementation of the first candidate if it is plain; the wrapper calls
the rest of the chain after ``NotImplemented``. Any other entry tries the whole chain by itself: a
function with the mark of `tries_whole_chain`, or a `TakesFound`.

`invoke` and `explain` of a function make the same chains and decisions, for one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from ._call import Chain, ask, chain_of, context_of, reason_of, reason_of_answer, shared_part
from ._context import RETURNED, Progress, Rest, new_context
from ._decide import Decision, Step
from ._errors import nearest
from ._options import checked_type
from ._patterns import DEFAULT, is_hashable_by_identity, loaded_object, shown
from ._state import Scope, store, table_of
from ._wrapper import TakesFound, given
from .exceptions import BackendDeferredError, UnknownFunctionError

if TYPE_CHECKING:
    from ._decide import Decider
    from ._explain import Explanation
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

    return _marked(lambda *args, **kwargs: run(args, kwargs))


def _marked(function: Any) -> Callable[..., Any]:
    """Return a function, marked as one that tries the whole chain."""
    function._tries_whole_chain = True  # an attribute: the type of functions has no subclasses
    return function  # type: ignore[no-any-return]


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
        self.with_end: set[str] = set()
        """Identifiers of functions whose default may run for want of a backend: its exceptions may
        get a note. See `Decision.has_end`."""

    @property
    def catalog(self) -> Any:
        """The library's backends."""
        return self.decider.catalog

    def chain(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Chain:
        """Return the chain for these types, which include the state's type."""
        decision = self.decider.decide(function, state, types)
        if decision.has_end:
            self.with_end.add(function.identifier)
        return self._kind(function)(decision, self)

    @staticmethod
    def _kind(function: Function) -> type[Chain]:
        if function.memory is None:
            return Chain
        from ._classes import Remembering  # few functions remember

        return Remembering

    def invoked(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        *,
        backend: str,
        force: bool,
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
        if found is not None and force:  # then the step may be plain
            found = found._replace(should_run=None)
        decision = Decision(self.decider, function, state, types)
        decision = decision.with_candidates([Step(name, found, prioritized=True)])
        return self._kind(function)(decision, self, sole=True)

    @staticmethod
    def entry(chain: Chain) -> Callable[..., Any] | None:
        """Return the entry of a table for a chain; None if no backend runs an adopted function."""
        decision, function, calls = chain.decision, chain.function, chain.calls
        if function.is_adopted and not decision.candidates:
            return None
        if decision.token is not None or function.memory is not None or function.like is not None:
            return as_function(chain, function)
        if chain.is_bare and decision.first is not None:
            # The caller of an adopted function does not call the rest.
            has_rest = function.is_adopted and (len(decision.candidates) > 1 or calls.defer_on)
            return as_function(chain, function) if has_rest else decision.load(decision.first)
        if decision.state.trace is not None or function.nature or not decision.candidates:
            return as_function(chain, function)
        first, *others = decision.candidates
        if first.implementation is None or calls.defer_on:
            return as_function(chain, function)
        fallback = None
        if len(others) == 1 and others[0].backend == DEFAULT and not decision.warns:
            fallback = decision.load(others[0])
        return _with_context(chain, first, fallback)


def fill(dispatcher: Dispatcher, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
    """Find the callable for a call, and put it into the table; see `Dispatcher.fill`."""
    function: Function = dispatcher.records[index - 1].function
    calls = dispatcher.ready()
    target: Any = function.default
    if calls is not None:
        key = tuple(map(type, values))
        target = entry_for(dispatcher, index, calls, map(type, given(values)), key)
    # Else a backend calls the library while discovery imports it: no backend is known yet.
    elif function.like is not None:
        default, without_like = function.default, function.without_like
        target = _TakesFirst(lambda _, *args, **kwargs: default(*args, **without_like(kwargs)))
    return target  # type: ignore[no-any-return]  # it is called like the function


def entry_for(
    dispatcher: Dispatcher,
    index: int,
    calls: Calls,
    types: Iterable[type],
    key: tuple[type, ...],
) -> Callable[..., Any] | None:
    """Find the callable for dispatch types, and put it into the table under `key`."""
    record = dispatcher.records[index - 1]
    function: Function = record.function
    tables = dispatcher.keeper.get()
    # First the table, then the state: if another thread exchanges both in between, the
    # target found for the new state is stored in the old table, which is no longer read.
    table = table_of(tables, index)
    scope: Scope = tables[0]
    unique = calls.decider.unique_types(types, scope.state)
    # Read after the table: if the backends were replaced since `calls` was read, the table may
    # belong to the new ones, and must not get a target of the old ones.
    is_outdated = calls is not dispatcher.loaded
    chain: Chain | None = None
    target: Callable[..., Any] | None
    if scope.state.hook is not None:
        from ._hooked import Hooked  # most programs have no hooks

        way = partial(calls.chain, function, scope.state)
        target = as_function(Hooked(calls, record, scope, scope.state, way, unique), function)
    else:
        chain = calls.chain(function, scope.state, unique)
        target = calls.entry(chain)
        if is_outdated and target is not None:
            target = as_function(chain, function)  # the rest, too, is that of the old backends
    # Where no backend runs an adopted function, no entry can tell that the candidates changed.
    is_kept = target is not None or chain is None or chain.decision.token is None
    # A metaclass with its own == or hash could run code, or fail, in each look-up.
    if is_kept and not is_outdated and all(map(is_hashable_by_identity, key)):
        scope.make_room(index, table)
        if function.is_adopted:
            table[key] = target
        elif target is not None:  # as it always is: the library owns the function
            store(table, function, key, target)
    return target


class _Raised(NamedTuple):
    """A bare implementation that deferred by raising an exception."""

    implementation: Callable[..., Any]
    error: Exception


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
    progress, reason = Progress(args, kwargs, values), RETURNED
    if isinstance(called, _Raised):
        called, progress.cause = called
        reason = reason_of(progress.cause)
    chain, place = _place_of(called, dispatcher, index, calls, progress)
    return chain.after(place, reason, progress)


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
    # A chain has handled its own; those of overriding types neither defer nor get a note.
    if calls is None or tries_whole_chain(called) or hasattr(called, "_overrides"):
        return None
    function = dispatcher.records[index - 1].function
    if called is function.default and function.identifier not in calls.with_end:
        return None
    if isinstance(error, calls.defer_on) and called is not function.default:
        return _Raised(called, error)
    progress = Progress(args, kwargs, values)
    try:
        chain, place = _place_of(called, dispatcher, index, calls, progress)
    except Exception:  # noqa: BLE001  # the exception of the implementation counts
        return None
    if place is not None:
        chain.note(error, chain.decision.candidates[place], progress)
    return None


def _place_of(
    called: object, dispatcher: Dispatcher, index: int, calls: Calls, progress: Progress
) -> tuple[Chain, int | None]:
    """Return the chain of a call, and the place of the bare implementation in it."""
    function, found = dispatcher.records[index - 1].function, progress.found
    found = function.extract(progress.args, progress.kwargs) if found is None else given(found)
    chain = chain_of(dispatcher, index, calls, map(type, found))
    return chain, chain.decision.index_of(called)


def _with_context(
    chain: Chain, first: Step, fallback: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the entry that calls the first candidate of a chain with a context, or asks it first.

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
                chain.note(error, first, Progress(args, keywords))
                raise
            if answer is not True:
                if fallback is None or not (answer is False or type(answer) is str):
                    return chain.after(0, answer, Progress(args, keywords, found), context)
                try:
                    return fallback(*args, **keywords)
                except Exception as error:
                    # Only now: a reason is needed for the note alone.
                    reasons = {first.backend: reason_of_answer(answer, decision, first)}
                    progress = Progress(args, keywords, found, reasons)
                    chain.note(error, decision.candidates[1], progress)
                    raise
        if implementation is None:
            # Without a lock: two threads that load it find the same object.
            implementation = decision.load(first)
        passed = asked if uses_context else args
        try:
            result = implementation(*passed, **keywords) if keywords else implementation(*passed)
        except Exception as error:
            chain.note(error, first, Progress(args, keywords))
            raise
        if result is NotImplemented:
            return chain.after(0, RETURNED, Progress(args, keywords, found), context)
        return result

    return _TakesFirst(call) if has_finder else _marked(call)  # type: ignore[return-value]


class _TakesFirst(TakesFound):
    """Calls a function with what a finder has returned before the arguments of the call."""

    __slots__ = ("call_found",)

    def __init__(self, call_found: Callable[..., Any]) -> None:
        self.call_found = call_found  # type: ignore[method-assign]  # a slot saves a frame


# --- what users ask of a function ---------------------------------------------------------------


class Invocation:
    """A dispatchable bound to a backend or to a type; see `Dispatchable.invoke`."""

    __slots__ = ("_backend", "_force", "_record", "_type")

    def __init__(
        self, record: Any, backend: str | None, type: type | str | None, force: bool
    ) -> None:
        self._record = record
        self._backend = backend
        self._type = type
        self._force = force

    @property
    def nature(self) -> int:
        """The nature of the function; see `nature_of`. Options frozen into this object read it."""
        nature: int = self._record.function.nature
        return nature

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        record, dispatcher = self._record, self._record.dispatcher
        calls, state = dispatcher.ensure_loaded(), dispatcher.keeper.current()
        if self._type is not None:
            state = state.replace(type=checked_type(dispatcher, self._type))
        function = record.function
        _check_instance(record, args, "invoke(...)")
        found = function.extract(args, kwargs)
        types = calls.decider.unique_types(map(type, found), state)

        way = partial(calls.chain, function, state)
        if self._backend is not None:
            way = partial(calls.invoked, function, state, backend=self._backend, force=self._force)
        if state.hook is None:
            return way(types).run(args, function.without_like(kwargs), found)
        from ._hooked import Hooked

        scope = dispatcher.keeper.get()[0]
        return Hooked(calls, record, scope, state, way, types).run(args, kwargs, found)

    def _options(self) -> dict[str, Any]:
        options = {"backend": self._backend, "type": self._type}
        given = {name: value for name, value in options.items() if value is not None}
        return {**given, "force": True} if self._force else given

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._options().items())
        return f"<{self._record.identifier} invoked with {given}>"

    def __reduce__(self) -> Any:
        return Invocation._of, (self._record.wrapper, self._options())

    @staticmethod
    def _of(function: Any, options: dict[str, Any]) -> Any:
        return function.invoke(**options)


def explain_call(record: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """Explain what would run for a call; see `Dispatchable.explain`."""
    from ._explain import explain  # errors need it, too, and most programs have none

    function, dispatcher = record.function, record.dispatcher
    _check_instance(record, args, "explain")
    misfit = function.misfit(args, kwargs)
    if misfit is not None:
        raise misfit
    decider = dispatcher.ensure_loaded().decider
    state = dispatcher.keeper.current()
    found, kwargs = function.extract(args, kwargs), function.without_like(kwargs)
    decision = decider.decide(function, state, decider.unique_types(map(type, found), state))

    progress = Progress(args, kwargs, found)

    def ask_step(step: Step) -> Any:
        return ask(decision, step, context_of(decision, step, progress), progress)

    steps = None
    if function.memory is not None and function.memory.follows:
        from ._classes import followed_steps  # few functions follow

        steps = followed_steps(decision, function.memory, args, kwargs)
    return explain(decision, progress, ask_step, steps)


def _check_instance(record: Any, args: tuple[Any, ...], way: str) -> None:
    """Raise if `invoke` or `explain` of a method does not get the instance first.

    ``instance.method.explain`` is an attribute of the function, which does not know the instance.
    The first argument would pass for it, and the answer be silently wrong.
    """
    default, wrapper = record.function.default, record.wrapper
    path, _, name = getattr(default, "__qualname__", "").rpartition(".")
    cls: Any = loaded_object(str(default.__module__), path) if path and args else None
    if not isinstance(cls, type):
        return  # a function; or a class that is not found by its name
    found = vars(cls).get(name)
    is_class = isinstance(found, classmethod)
    if (found.__func__ if isinstance(found, classmethod) else found) is not wrapper:
        return  # a static method, or a function that another one has replaced
    holder: Any = args[0] if is_class else type(args[0])
    if isinstance(holder, type):
        borrowed = getattr(holder, name, None)  # a class may have a method of another one
        if issubclass(holder, cls) or getattr(borrowed, "__func__", borrowed) is wrapper:
            return
    raise TypeError(
        f"{path}.{name} is a method: pass the {'class' if is_class else 'instance'}, as in "
        f"{path}.{name}.{way}({'cls' if is_class else 'instance'}, ...)"
    )


def explain_types(dispatcher: Dispatcher, identifier: str, types: Iterable[type]) -> Explanation:
    """Explain what would run for dispatch arguments of these types; see `BackendSystem`."""
    from ._explain import explain

    record: Any = dispatcher.by_identifier.get(identifier)
    if record is None and dispatcher.adoptions:
        record = dispatcher.adoptions[0].find(identifier)
    if record is None:
        raise UnknownFunctionError(identifier, nearest(identifier, dispatcher.by_identifier))
    given: Any = types
    is_several = isinstance(given, Iterable) and not isinstance(given, (str, type))
    classes: list[Any] = [*given] if is_several else [given]
    wrong = [each for each in classes if not is_several or not isinstance(each, type)]
    if wrong:
        raise TypeError(
            "explain_types() takes the classes of the dispatch arguments in a list, "
            f"e.g. [float], not {wrong[0]!r}"
        )
    decider, state = dispatcher.ensure_loaded().decider, dispatcher.keeper.current()
    found = decider.unique_types(classes, state)
    return explain(decider.decide(record.function, state, found))
