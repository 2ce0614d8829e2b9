"""The call: the candidates of a decision are called one after the other, until one answers.

============================================  ===============================================
the candidate                                 what happens
============================================  ===============================================
declines by ``should_run``                    it defers
returns ``IF_NEEDED`` from ``should_run``     it is postponed: it runs if no other candidate that
                                              matches answers, before what does not match
returns ``NotImplemented``, or raises an      it defers
exception of ``defer_on``
converts                                      the default runs with converted arguments, unless
                                              they cannot be converted
returns or raises anything else               that is the answer of the call
============================================  ===============================================

The default never defers. If no candidate answers, the call ends by the fallback policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from ._decide import IF_NEEDED, POSTPONED, RETURNED, Decision, IfNeeded, Step, decide, unique_types
from ._errors import in_words, is_first, warn_caller
from ._patterns import DEFAULT
from ._state import MAX_ENTRIES
from ._wrapper import given
from .exceptions import BackendDeferredError, NoImplementationError, SpatchCoreWarning

if TYPE_CHECKING:
    from ._function import Function
    from ._state import Scope

CONTINUED = "it went on with context.call_next()"
UNKNOWN: Any = object()
"""In place of a result: the remaining candidates are still to be tried."""

# --- what an implementation and `should_run` may know of a call ---------------------------------


class DispatchContext:
    """The context of one call for one backend.

    Parameters
    ----------
    types : tuple of type
        The dispatch types: the unique types of the dispatch arguments in order of first
        appearance, and at the end the type that ``backend_opts(type=...)`` adds.
    dispatch_args : tuple
        The dispatch arguments that were given and are not None, in the order in which the
        library names them.
    name : str
        The backend's name.
    prioritized : bool
        Whether the backend is prioritized, or was asked for by `invoke`.
    function : str
        Identifier of the library's function.
    """

    __slots__ = ("_args", "_continued", "_dispatch_args", "_known", "_kwargs", "_prepared", "_run")

    if TYPE_CHECKING:
        _args: tuple[Any, ...]
        _continued: Run  # of its latest `call_next`
        _dispatch_args: tuple[Any, ...]
        _known: SharedPart
        _kwargs: Mapping[str, Any]
        _prepared: Any
        _run: Run  # not set for the first candidate of a call that is not walked

    def __init__(
        self,
        types: tuple[type, ...],
        dispatch_args: tuple[Any, ...],
        name: str,
        prioritized: bool,
        function: str,
    ) -> None:
        self._known = SharedPart(types, name, prioritized, function, given)
        self._dispatch_args = dispatch_args

    @property
    def types(self) -> tuple[type, ...]:
        """The dispatch types."""
        return self._known.types

    @property
    def dispatch_args(self) -> tuple[Any, ...]:
        """The dispatch arguments that were given and are not None."""
        try:
            return self._dispatch_args
        except AttributeError:
            # Cached: a finder of the library may have to find them, which takes time.
            self._dispatch_args = self._known.extract(self._args, self._kwargs)
            return self._dispatch_args

    @property
    def name(self) -> str:
        """The backend's name."""
        return self._known.name

    @property
    def prioritized(self) -> bool:
        """Whether the backend is prioritized, or was asked for by `invoke`."""
        return self._known.prioritized

    @property
    def function(self) -> str:
        """Identifier of the library's function."""
        return self._known.function

    @property
    def prepared(self) -> Any:
        """For the backend: the value that its `should_run` has set for the implementation.

        None until it is set; `invoke` with ``force=True`` calls no `should_run`.
        """
        return getattr(self, "_prepared", None)

    @prepared.setter
    def prepared(self, value: Any) -> None:
        self._prepared = value

    def call_next(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call what would run if this backend had deferred, and return its result.

        It calls the remaining candidates, down to the library's own implementation; this backend
        is not called again. With arguments of other types, the candidates are those for these
        types, without the ones that were considered before.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the library's function, without a context.

        Raises
        ------
        RuntimeError
            If this is not the context of a call, because it was pickled or made by hand.
        BackendDeferredError
            In a call by ``invoke(backend=...)``, which names no other backend.
        """
        decision = self._known.decision
        before: Run | None = getattr(self, "_run", None)
        # `explain` asks without candidates that could be called.
        if decision is None or (before is not None and not before.left):
            raise RuntimeError(
                "call_next() needs the context of a running call. This one was made by hand, "
                "copied or unpickled. Use the context that was passed to the implementation"
            )
        found = None if before is None else before.found
        run = Run(decision, args, decision.function.without_like(kwargs), found)
        left = decision.candidates[1:]
        if before is not None:
            # As a rule, the first one is this backend. It may still convert.
            left = [
                each
                for each in before.left
                if each.backend != self.name or each.conversions is not None
            ]
            run.reasons, run.unconverted = {**before.reasons}, {**before.unconverted}
            run.cause = before.cause
        run.reasons[self.name] = CONTINUED
        # The context keeps the answers, which count if this backend defers.
        self._continued = run
        result = run.walk_on(left)
        # Awaitables and iterators can be used only once.
        if not decision.function.nature:
            run.result = result
        return result

    def __repr__(self) -> str:
        return (
            f"DispatchContext(name={self.name!r}, function={self.function!r}, "
            f"types={self.types!r}, prioritized={self.prioritized!r})"
        )

    def __reduce__(self) -> Any:
        known = self._known
        return DispatchContext, (
            *(known.types, self.dispatch_args, known.name, known.prioritized, known.function),
        )


# Pickles use this public path. Set after the class body: set inside, CPython 3.13 would drop the
# line number of the class, and `inspect` would show another class of that module.
DispatchContext.__module__ = f"{__package__}.backend_system"


class SharedPart(NamedTuple):
    """The part of a context that all calls with the same decision share.

    Contexts refer to it: setting one attribute takes less time than setting five.
    """

    types: tuple[type, ...]
    name: str
    prioritized: bool
    function: str
    # Takes the ``_args`` and ``_kwargs`` of a context, and returns the dispatch arguments.
    extract: Callable[[Any, Any], tuple[Any, ...]]
    decision: Decision | None = None  # None in a context that was made by hand


class CallContext(DispatchContext):
    """The context of a running call. It has no `__init__`, which halves the time of making one."""

    __slots__ = ()

    # Its makers set the attributes.
    __init__ = object.__init__  # pyright: ignore[reportAssignmentType]


new_context: Callable[[], DispatchContext] = CallContext  # pyright: ignore[reportAssignmentType]


# --- the run of a decision -----------------------------------------------------------------------


class Run:
    """One call under way: its decision, its arguments, and the answers of the candidates so far.

    `found` are all dispatch arguments, None and `missing` among them, if they were extracted.
    """

    __slots__ = (
        *("args", "backend", "cause", "decision", "found", "kwargs", "left", "reasons"),
        *("result", "unconverted"),
    )

    def __init__(
        self,
        decision: Decision,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
    ) -> None:
        self.decision, self.args, self.kwargs, self.found = decision, args, kwargs, found
        # By backend: why it deferred, and why its conversions could not be used.
        self.reasons: dict[str, str] = {}
        self.unconverted: dict[str, str] = {}
        self.left: list[Step] = []  # the candidates that have not answered, the next one first
        self.cause: Exception | None = None  # the last one by which an implementation deferred
        # The candidate that was tried last; in the end the one that answered or raised, if any.
        self.backend: str | None = None
        self.result: Any = UNKNOWN  # of a `call_next`, for the context that has made it

    def call(self) -> Any:
        """Make the call."""
        decision = self.decision = self.decision.current()
        # The usual call through a decision: half the time of a walk, and the later candidates are
        # not even looked for.
        first = decision.first if decision.runs_bare else None
        if first is not None:
            self.backend = first.backend
            try:
                result = decision.load(first)(*self.args, **self.kwargs)
            except Exception as error:
                self.note(error, first)
                raise
            if result is not NotImplemented or first.backend == DEFAULT:
                return result
            self.reasons[first.backend] = RETURNED
        memory = decision.function.memory
        return self.answer() if memory is None else memory.call(self)

    def answer(
        self,
        step: Step | None = None,
        answer: object = None,
        context: DispatchContext | None = None,
    ) -> Any:
        """Call the candidates, one after the other; `step` has deferred already, or was postponed.

        `answer` is that of its ``should_run``, or the reason if the implementation has deferred.
        """
        self.left, result = [*self.decision.candidates], UNKNOWN
        if step is not None:
            result = self._defer(step, reason_of_answer(answer, self.decision, step), context)
        return self.walk() if result is UNKNOWN else result

    def walk(self) -> Any:
        """Give each candidate that is left its turn, until one answers."""
        while self.left:
            step, result = self.left[0], UNKNOWN
            if step.conversions is not None:  # a backend that has deferred may still convert
                result = self._convert(step)
            # It may have had its turn in a `call_next` of an earlier candidate.
            elif step.backend not in self.reasons:
                result = self._turn(step)
            if result is not UNKNOWN:
                return result
            # Only now: one that has raised is still left, for a `call_next` that is continued.
            if self.left and self.left[0] is step:
                del self.left[0]
        # No backend has answered, however many were tried.
        self.backend = None
        # An adopted function passes ``NotImplemented`` of its only candidate on: the caller of
        # `lookup` goes on, and asks for the end itself. An exception must not be lost.
        candidates = self.decision.candidates
        is_alone = len(candidates) == 1 and candidates[0].is_plain
        if self.decision.function.is_adopted and is_alone and self.cause is None:
            return NotImplemented
        return self.end()

    def _turn(self, step: Step) -> Any:
        """Ask and call a candidate that does not convert; `UNKNOWN` if it does not answer."""
        decision, self.backend = self.decision, step.backend
        context: DispatchContext | None = None
        if not step.is_plain:
            context = self.context(step)
            answer = self.ask(step, context)
            if answer is not None:
                return self._defer(step, answer, context)
        if step.backend == DEFAULT and decision.warns:
            from ._explain import warn_of_fallback

            warn_of_fallback(self)
        implementation = decision.load(step)
        if decision.state.trace is not None:
            self.record(step.backend, "called", step.reason)
        # An exception defers only if the library says so, and never that of the default.
        reason = RETURNED
        try:
            if step.implementation is not None and step.implementation.uses_context:
                result = implementation(context, *self.args, **self.kwargs)
            else:
                result = implementation(*self.args, **self.kwargs)
        except Exception as error:
            if step.implementation is None or not isinstance(error, decision.backends.defer_on):
                self.note(error, step)
                raise
            self.cause, reason = error, reason_of(error)
            result = NotImplemented
        if result is not NotImplemented or step.backend == DEFAULT:
            return result
        return self._defer(step, reason, context)

    def context(self, step: Step) -> DispatchContext:
        """Return the context for one candidate."""
        context = new_context()
        context._known = shared_part(self.decision, step, self.found is not None)
        # Without dispatch arguments, it finds them itself when a backend asks for them.
        context._args = self.args if self.found is None else self.found
        context._kwargs, context._run = self.kwargs, self
        return context

    def ask(self, step: Step, context: DispatchContext) -> str | IfNeeded | None:
        """Ask ``should_run``: None if the implementation runs, else `IF_NEEDED` or the reason."""
        should_run = self.decision.load_should_run(step)
        if should_run is None:
            return None
        try:
            answer = should_run(context, *self.args, **self.kwargs)
        except Exception as error:
            self.note(error, step)
            raise
        # Only True itself: the truth of an array would be ambiguous, or take a computation.
        return None if answer is True else reason_of_answer(answer, self.decision, step)

    def _defer(
        self, step: Step, reason: str | IfNeeded, context: DispatchContext | None = None
    ) -> Any:
        """Note that a candidate has deferred; return the answer if it knows one, else `UNKNOWN`.

        It knows one if it has called ``call_next`` with the very arguments of the call before: no
        candidate is asked or run again, unless the function is a coroutine or generator function.
        If it said ``IF_NEEDED``, it moves before the last resort, and is not asked again.
        """
        if isinstance(reason, IfNeeded):
            self.record(step.backend, "deferred", POSTPONED)
            assert step.implementation is not None  # it has a `should_run`
            found = step.implementation._replace(should_run=None)
            left = [each for each in self.left if each is not step]
            place = next((place for place, each in enumerate(left) if each.is_last), len(left))
            self.left = [*left[:place], step._replace(implementation=found), *left[place:]]
            return UNKNOWN
        self.reasons[step.backend] = reason
        self.record(step.backend, "deferred", reason)
        inner: Run | None = getattr(context, "_continued", None)
        # What the others said of a part of the data does not hold for all of it.
        if inner is None or not are_same(self.args, self.kwargs, inner.args, inner.kwargs):
            return UNKNOWN
        # The answers of both are those of this call; the outer ones were given later.
        self.reasons = {**inner.reasons, **self.reasons}
        self.unconverted.update(inner.unconverted)
        self.cause = inner.cause or self.cause
        if inner.decision is self.decision:  # else its backend is fixed
            self.left = inner.left
        if inner.result is not UNKNOWN:
            self.backend = inner.backend
        return inner.result

    def walk_on(self, left: list[Step]) -> Any:
        """Go on as `call_next`: with these candidates; with other types, with those for these."""
        decision, function = self.decision, self.decision.function
        if decision.sole:
            if decision.rest is None:
                (step,) = decision.candidates
                raise BackendDeferredError(
                    *(step.backend, function.identifier),
                    "it called context.call_next(), but invoke(backend=...) names no other backend",
                )
            self.decision = decision = decision.rest
            left = decision.candidates
        self.left = [*left]
        # The types of adopted functions are passed by their callers, and implementations do not get
        # the argument ``like``: neither is found among the arguments.
        if not function.is_adopted and function.like is None:
            self.found = function.values(self.args, self.kwargs)
            self.decision = decision.for_types(map(type, given(self.found)))
            if self.decision is not decision:
                # A reason keeps a backend from having another turn, but not its conversions. By
                # identity: a postponed one is left, but not as it was.
                unchanged = {*map(id, left)}
                for each in decision.candidates:
                    if id(each) not in unchanged:
                        self.reasons.setdefault(each.backend, POSTPONED)
                self.left = [*self.decision.candidates]
                self.unconverted, self.cause = {}, None
        return self.walk()

    # What happens to a call that no backend has taken.

    def _convert(self, step: Step) -> Any:
        """Run the default with arguments that a backend converts; `UNKNOWN` if it cannot."""
        from ._convert import Conversion, Unconverted

        self.backend = step.backend
        try:
            return Conversion(self.decision, step).call(self)
        except Unconverted as failure:
            self.unconverted[step.backend] = str(failure)
            self.record(step.backend, "deferred", str(failure))
            return UNKNOWN
        except Exception as error:
            if not isinstance(error, NoImplementationError):
                self.note(error, step)
            raise

    def end(self) -> Any:
        """Return ``NotImplemented`` for a call that no candidate has answered, or raise."""
        decision = self.decision
        if decision.sole:
            (step,) = decision.candidates
            name, identifier = step.backend, decision.function.identifier
            raise BackendDeferredError(name, identifier, self.reasons[name]) from self.cause
        # Python asks the other operand.
        if decision.is_operator or not decision.has_end:
            return NotImplemented
        raise self.refusal() from self.cause

    def refusal(self, converter: str = "", reason: str = "") -> NoImplementationError:
        """Return the error; with a converter, its conversion of the result has failed."""
        from ._explain import refusal  # imports for rare calls would take time in the first one

        return refusal(self, converter, reason)

    def note(self, error: Exception, step: Step) -> None:
        """Add to an exception what the user should know; see `_explain.note`."""
        from ._explain import note

        note(self, error, step)

    def record(self, backend: str, outcome: str, reason: str) -> None:
        """Record a step, if the state is traced."""
        decision = self.decision
        if decision.state.trace is not None:
            from ._explain import Outcome, TraceEvent  # few programs trace

            about = decision.function.identifier, backend, Outcome(outcome), reason, decision.types
            decision.state.trace.append(TraceEvent(*about, decision.default_name))


def are_same(
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    others: tuple[Any, ...],
    by_name: Mapping[str, Any],
) -> bool:
    """Whether two calls have the very same arguments."""
    # By identity: arrays are not compared.
    return (
        len(args) == len(others)
        and all(map(is_, args, others))
        and kwargs.keys() == by_name.keys()
        and all(map(is_, kwargs.values(), map(by_name.get, kwargs)))
    )


def shared_part(decision: Decision, step: Step, is_found: bool) -> SharedPart:
    """Return the part that the contexts of calls with the same decision share."""
    function = decision.function
    extract = given if is_found else function.extract
    known = decision.types, step.backend, step.prioritized, function.identifier
    return SharedPart(*known, extract, decision)


def reason_of(error: Exception) -> str:
    """Return the reason of an implementation that deferred by an exception."""
    return f"it raised {in_words(error)}"


def reason_of_answer(answer: Any, decision: Decision, step: Step) -> str | IfNeeded:
    """Return the reason for an answer of ``should_run``; a string is the reason itself.

    `IF_NEEDED` stays what it is. Anything else but False and None is a mistake of the backend,
    which gets one warning.
    """
    if answer is IF_NEEDED or isinstance(answer, str):
        return answer
    if answer is None or answer is False:
        return f"should_run returned {answer!r}"
    identifier, found = decision.function.identifier, step.implementation
    if found is not None and is_first(decision.backends.told, (identifier, step.backend)):
        warn_caller(
            SpatchCoreWarning(
                f"{found.should_run} of backend {step.backend!r} returned {answer!r} for "
                f"{identifier}, which counts as False: only True itself runs the backend. Return "
                "bool(...), a reason as a string, or IF_NEEDED"
            )
        )
    return f"should_run returned {answer!r}, and only True itself runs it: use bool(...)"


def decision_of(function: Function, types: Iterable[type]) -> Decision:
    """Return the decision for the types of dispatch arguments, in the state in force."""
    dispatcher = function.dispatcher
    scope: Scope = dispatcher.keeper.get()[0]
    # First the decisions, then the backends: if another thread exchanges both in between, that of
    # the new backends is stored among the old ones, which are no longer read.
    decisions = scope.decisions(function.index)
    backends = dispatcher.loaded or dispatcher.ensure_loaded()
    unique = unique_types(types, scope.state)
    key = tuple(map(id, unique))
    decision: Decision | None = decisions.get(key)
    if decision is None:
        decision = decide(backends, function, scope.state, unique)
        if len(decisions) >= MAX_ENTRIES:
            decisions.clear()
        decisions[key] = decision
    return decision.current()
