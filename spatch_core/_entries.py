"""The entries of tables: what the wrappers call, and what makes it when a table has none.

A table's entry is the bare implementation of the first candidate if it is plain; the wrapper calls
the other candidates after ``NotImplemented``. Any other entry makes the whole call by itself: a
function of this module, or a `TakesFound`.

`invoke` and `explain` of a function make the same decisions, for one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from ._call import Run, decision_of, new_context, reason_of, shared_part
from ._decide import RETURNED, Decision, Step, decide, unique_types
from ._errors import nearest
from ._options import checked_type
from ._patterns import DEFAULT, is_hashable_by_identity, loaded_object, shown
from ._state import Scope, store, table_of
from ._wrapper import TakesFound, function_of, given
from .exceptions import BackendDeferredError, UnknownFunctionError

if TYPE_CHECKING:
    from ._backends import Backends
    from ._explain import Explanation
    from ._function import Dispatcher, Function


def makes_whole_call(entry: object) -> bool:
    """Whether an entry of a table calls all candidates by itself."""
    # Other entries are implementations, and no function of this module is one.
    if isinstance(entry, FunctionType):
        return entry.__globals__ is globals()
    return isinstance(entry, TakesFound)


def _maker(scope: Scope, decision: Decision) -> Callable[[Any, dict[str, Any], Any], Any]:
    """Return the function that makes calls by a decision, whose state is that of the scope.

    It takes the arguments of a call, and what a finder has returned.
    """
    if scope.state.hook is not None:
        from ._hooked import Call  # most programs have no hooks

        return lambda args, kwargs, found: Call(scope, decision, args, kwargs, found)._ask()
    without_like = decision.function.without_like
    return lambda args, kwargs, found: Run(decision, args, without_like(kwargs), found).call()


def _through(scope: Scope, decision: Decision) -> Callable[..., Any]:
    """Return the entry that makes each call through a decision.

    It is a function: CPython calls these without using the C stack, but objects with `__call__`
    through it, where deep recursion of a library's function could overflow the stack of a thread.
    """
    make = _maker(scope, decision)
    if decision.function.parameters is None:
        made: Any = TakesFound(lambda found, /, *args, **kwargs: make(args, kwargs, found))
        return made  # type: ignore[no-any-return]  # the wrapper calls its `call_found`
    return lambda *args, **kwargs: make(args, kwargs, None)


def _entry(scope: Scope, decision: Decision, is_outdated: bool) -> Callable[..., Any] | None:
    """Return the entry of a table for a decision; None if no backend runs an adopted function.

    If it `is_outdated`, the backends have been replaced meanwhile.
    """
    function, defer_on = decision.function, decision.backends.defer_on
    if scope.state.hook is not None:
        return _through(scope, decision)
    if function.is_adopted and not decision.candidates:
        return None
    # The rest of an outdated call, too, is that of the old backends.
    if is_outdated or decision.token is not None:
        return _through(scope, decision)
    if function.memory is not None or function.like is not None:
        return _through(scope, decision)
    if decision.is_bare and decision.first is not None:
        # The caller of an adopted function does not call the rest.
        has_rest = function.is_adopted and (len(decision.candidates) > 1 or defer_on)
        return _through(scope, decision) if has_rest else decision.load(decision.first)
    if decision.state.trace is not None or function.nature or not decision.candidates:
        return _through(scope, decision)
    first, *others = decision.candidates
    if first.implementation is None or defer_on:
        return _through(scope, decision)
    default = None
    # Without an end there is no reason to give, not even in a note.
    if len(others) == 1 and others[0].backend == DEFAULT and not decision.has_end:
        default = decision.load(others[0])
    return _with_context(decision, first, default)


def fill(function: Function, values: tuple[Any, ...]) -> Callable[..., Any]:
    """Find the callable for a call, and put it into the table; see `Dispatcher.fill`."""
    backends = function.dispatcher.ready()
    target: Any = function.default
    if backends is not None:
        key = tuple(map(type, values))
        target = entry_for(function, backends, map(type, given(values)), key)
    # Else a backend calls the library while discovery imports it: no backend is known yet.
    elif function.like is not None:
        default, without_like = function.default, function.without_like
        target = TakesFound(lambda _, /, *args, **kwargs: default(*args, **without_like(kwargs)))
    return target  # type: ignore[no-any-return]  # it is called like the function


def entry_for(
    function: Function, backends: Backends, types: Iterable[type], key: tuple[type, ...]
) -> Callable[..., Any] | None:
    """Find the callable for dispatch types, and put it into the table under `key`."""
    dispatcher, index = function.dispatcher, function.index
    tables = dispatcher.keeper.get()
    # First the table, then the state: if another thread exchanges both in between, the
    # target found for the new state is stored in the old table, which is no longer read.
    table = table_of(tables, index)
    scope: Scope = tables[0]
    # Read after the table: if the backends were replaced since `backends` was read, the table may
    # belong to the new ones, and must not get a target of the old ones.
    is_outdated = backends is not dispatcher.loaded
    decision = decide(backends, function, scope.state, types)
    target = _entry(scope, decision, is_outdated)
    # Where no backend runs an adopted function, no entry can tell that the candidates changed.
    is_kept = target is not None or decision.token is None
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


def deferred(function: Function, called: Any, args: Any, kwargs: Any, values: Any) -> Any:
    """Call the next candidates after `called` has deferred; see `Dispatcher.deferred`."""
    is_early = function.dispatcher.loaded is None
    if is_early or called is function.default or makes_whole_call(called):
        return NotImplemented
    cause, reason = None, RETURNED
    if isinstance(called, _Raised):
        called, cause = called
        reason = reason_of(cause)
    run, step = _run_of(function, called, args, kwargs, values)
    run.cause = cause
    return run.answer(step, reason)


def failed(
    function: Function, called: Any, args: Any, kwargs: Any, error: Exception, values: Any
) -> Any:
    """Handle an exception of a table's entry; see `Dispatcher.failed`."""
    backends = function.dispatcher.loaded
    # A whole call has handled its own; those of overriding types neither defer nor get a note.
    if backends is None or makes_whole_call(called) or hasattr(called, "_overrides"):
        return None
    if called is function.default and function.identifier not in backends.with_end:
        return None
    if isinstance(error, backends.defer_on) and called is not function.default:
        return _Raised(called, error)
    try:
        run, step = _run_of(function, called, args, kwargs, values)
    except Exception:  # noqa: BLE001  # the exception of the implementation counts
        return None
    if step is not None:
        run.note(error, step)
    return None


def _run_of(
    function: Function, called: Any, args: Any, kwargs: Any, values: Any
) -> tuple[Run, Step | None]:
    """Return the run of a call, and the candidate whose bare implementation was called.

    It is None if the call has changed the state: then the decision is another one.
    """
    found = function.extract(args, kwargs) if values is None else given(values)
    decision = decision_of(function, map(type, found))
    return Run(decision, args, kwargs, values), decision.candidate_of(called)


def _with_context(
    decision: Decision, first: Step, default: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the entry that calls the first candidate with a context, or asks it first.

    `Run.walk` does the same for any number of candidates, in five times the time. `default` is the
    default implementation, if it is the only other candidate.
    """
    assert first.implementation is not None
    should_run = decision.load_should_run(first)
    uses_context = first.implementation.uses_context
    has_finder = decision.function.parameters is None
    known = shared_part(decision, first, has_finder)
    implementation: Callable[..., Any] | None = None

    def call(*args: Any, **keywords: Any) -> Any:
        nonlocal implementation
        found = None
        # The wrapper has run the finder, and passes what it has returned before the arguments.
        if has_finder:
            found, args = args[0], args[1:]
        context = new_context()  # as `Run.context` makes it
        context._known, context._kwargs = known, keywords
        context._args = args if found is None else found
        # In two steps, and without empty keywords: to unpack both in the call takes longer.
        asked = (context,) + args  # noqa: RUF005
        if should_run is not None:
            try:
                answer = should_run(*asked, **keywords) if keywords else should_run(*asked)
            except Exception as error:
                Run(decision, args, keywords).note(error, first)
                raise
            if answer is not True:
                if default is not None and (answer is False or type(answer) is str):
                    return default(*args, **keywords)
                return Run(decision, args, keywords, found).answer(first, answer, context)
        if implementation is None:
            # Without a lock: two threads that load it find the same object.
            implementation = decision.load(first)
        passed = asked if uses_context else args
        try:
            result = implementation(*passed, **keywords) if keywords else implementation(*passed)
        except Exception as error:
            Run(decision, args, keywords).note(error, first)
            raise
        if result is NotImplemented:
            return Run(decision, args, keywords, found).answer(first, RETURNED, context)
        return result

    made: Any = TakesFound(call) if has_finder else call
    return made  # type: ignore[no-any-return]  # see `_through`


# --- what users ask of a function ---------------------------------------------------------------


class Invocation:
    """A dispatchable bound to a backend or to a type; see `Dispatchable.invoke`."""

    __slots__ = ("_function", "_options")

    def __init__(self, wrapper: Any, options: dict[str, Any]) -> None:
        self._function = function_of(wrapper)
        self._options = options  # those that were given, by name

    @property
    def __code__(self) -> Any:
        """That of the function, whose nature `nature_of` reads from it."""
        return self._function.wrapper.__code__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        function, dispatcher = self._function, self._function.dispatcher
        backends, scope = dispatcher.ensure_loaded(), dispatcher.keeper.get()[0]
        state, options = scope.state, self._options
        if "type" in options:
            state = state.replace(type=checked_type(dispatcher, options["type"]))
        _check_instance(function, args, "invoke(...)")
        found = function.values(args, kwargs)
        types = map(type, given(found))
        if "backend" in options:
            # It need not match.
            decision = Decision(backends, function, state, unique_types(types, state))
            decision = decision.with_candidates([self._step(backends)], sole=True)
        else:
            decision = decide(backends, function, state, types)
        return _maker(scope, decision)(args, kwargs, found)

    def _step(self, backends: Backends) -> Step:
        """Return the step of the backend that is named."""
        catalog, identifier = backends.catalog, self._function.identifier
        name = catalog.check_backend(self._options["backend"])
        implementers = backends.implementers(identifier)
        if name not in implementers:
            names = ", ".join(shown(each, catalog.default_name) for each in implementers)
            reason = f"it does not implement it; these do: {names}"
            raise BackendDeferredError(name, identifier, reason)
        found = catalog.descriptions[name].implementation(identifier)
        if found is not None and "force" in self._options:  # then the step may be plain
            found = found._replace(should_run=None)
        return Step(name, found, prioritized=True)

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self._options.items())
        return f"<{self._function.identifier} invoked with {options}>"

    def __reduce__(self) -> Any:
        return Invocation, (self._function.wrapper, self._options)


def explain_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """Explain what would run for a call; see `Dispatchable.explain`."""
    from ._explain import explain  # errors need it, too, and most programs have none

    dispatcher = function.dispatcher
    _check_instance(function, args, "explain")
    misfit = function.misfit(args, kwargs)
    if misfit is not None:
        raise misfit
    backends, state = dispatcher.ensure_loaded(), dispatcher.keeper.current()
    found, kwargs = function.values(args, kwargs), function.without_like(kwargs)
    decision = decide(backends, function, state, map(type, given(found)))
    if function.memory is not None and function.memory.follows:
        from ._classes import followed  # few functions follow

        decision = followed(decision, function.memory, args, kwargs)
    return explain(decision, Run(decision, args, kwargs, found), asks=True)


def _check_instance(function: Any, args: tuple[Any, ...], way: str) -> None:
    """Raise if `invoke` or `explain` of a method does not get the instance first.

    ``instance.method.explain`` is an attribute of the function, which does not know the instance.
    The first argument would pass for it, and the answer be silently wrong.
    """
    default, wrapper = function.default, function.wrapper
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

    function: Function | None = dispatcher.by_identifier.get(identifier)
    if function is None and dispatcher.adoptions:
        function = dispatcher.adoptions[0].find(identifier)
    if function is None:
        raise UnknownFunctionError(identifier, nearest(identifier, dispatcher.by_identifier))
    several: Any = types
    is_several = isinstance(several, Iterable) and not isinstance(several, (str, type))
    classes: list[Any] = [*several] if is_several else [several]
    wrong = [each for each in classes if not is_several or not isinstance(each, type)]
    if wrong:
        raise TypeError(
            "explain_types() takes the classes of the dispatch arguments in a list, "
            f"e.g. [float], not {wrong[0]!r}"
        )
    backends, state = dispatcher.ensure_loaded(), dispatcher.keeper.current()
    return explain(decide(backends, function, state, classes))
