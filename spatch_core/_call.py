"""The call: the candidates of a decision are called one after the other, until one answers.

============================================  ===============================================
the candidate                                 what happens
============================================  ===============================================
declines by ``should_run``                    it defers
returns ``IF_NEEDED`` from ``should_run``     it is postponed, and runs before the last resort
returns ``NotImplemented``, or raises an      it defers
exception of ``defer_on``
converts                                      the default runs with converted arguments, unless
                                              they cannot be converted
returns or raises anything else               that is the answer of the call
============================================  ===============================================

The default never defers. If no candidate answers, the call ends by the fallback policy.

A table's entry is the bare implementation of the first candidate if it is plain; the wrapper calls
the rest of the chain after ``NotImplemented``. Any other entry tries the whole chain by itself: a
function with the mark of `tries_whole_chain`, or a `TakesFound`.
"""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import is_
from types import CoroutineType, FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any

from ._dispatch_arguments import ASYNC_GENERATOR, COROUTINE, Function, TakesFound, given, missing
from ._identifiers import DEFAULT, GENERATED, is_awaited
from ._implementation.if_needed import IF_NEEDED, IfNeeded
from ._reporting.errors import BackendDeferredError, NoImplementationError

if TYPE_CHECKING:
    from ._decide import Decider, Decision, Step
    from ._state.state import DispatchState
    from ._state.state_keeper import StateKeeper

RETURNED = "it returned NotImplemented"
CONTINUED = "it went on with context.call_next()"
POSTPONED = "it said IF_NEEDED: it runs if no other one does"
NOTE = "No backend ran "
"""The first words of notes on exceptions of the default, by which they are recognized."""

_UNKNOWN = object()
"""In place of a result: the remaining candidates are still to be tried."""


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

    __slots__ = ("_args", "_continued", "_dispatch_args", "_known", "_kwargs", "_prepared")

    if TYPE_CHECKING:
        _args: tuple[Any, ...]
        _continued: _Continued
        _dispatch_args: tuple[Any, ...]
        _known: SharedPart
        _kwargs: Mapping[str, Any]
        _prepared: Any

    def __init__(
        self,
        types: tuple[type, ...],
        dispatch_args: tuple[Any, ...],
        name: str,
        prioritized: bool,
        function: str,
    ) -> None:
        self._known = SharedPart(types, name, prioritized, function, lambda args, kwargs: args)
        self._args = dispatch_args
        self._kwargs = {}

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
        rest = self._known.rest
        if rest is None:
            raise RuntimeError(
                "call_next() needs the context of a running call. This one was made by hand, "
                "copied or unpickled. Use the context that was passed to the implementation"
            )
        return rest.call(self, args, kwargs)

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


class SharedPart:
    """The part of a context that all calls with the same decision share.

    Contexts refer to it: setting one attribute takes less time than setting five. `extract` takes
    the ``_args`` and ``_kwargs`` of a context, and returns the dispatch arguments.
    """

    __slots__ = ("extract", "function", "name", "prioritized", "rest", "types")

    def __init__(
        self,
        types: tuple[type, ...],
        name: str,
        prioritized: bool,
        function: str,
        extract: Callable[[Any, Any], tuple[Any, ...]],
        rest: _Rest | None = None,
    ) -> None:
        self.types = types
        self.name = name
        self.prioritized = prioritized
        self.function = function
        self.extract = extract
        self.rest = rest


class CallContext(DispatchContext):
    """The context of a running call.

    It has no `__init__`, which halves the time of making one. Its makers set ``_known``, ``_args``
    and ``_kwargs``.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(self) -> None: ...

    else:
        __init__ = object.__init__


class Progress:
    """The answers of the candidates of one call so far.

    Attributes
    ----------
    reasons, unconverted : dict of str to str
        By backend, why it deferred, and why its conversions could not be used.
    postponed : list of int
        The places of the candidates that said ``IF_NEEDED``.
    cause : Exception or None
        The last exception by which an implementation deferred.
    backend : str or None
        The candidate that was tried last; after the call, the one that answered or raised, if any.
    """

    __slots__ = ("backend", "cause", "postponed", "reasons", "unconverted")

    def __init__(self, reasons: Mapping[str, str] | None = None) -> None:
        self.reasons: dict[str, str] = {} if reasons is None else {**reasons}
        self.unconverted: dict[str, str] = {}
        self.postponed: list[int] = []
        self.cause: Exception | None = None
        self.backend: str | None = None

    def inner(self) -> Progress:
        """Return the progress of a ``call_next``, which begins with the answers so far."""
        progress = Progress(self.reasons)
        progress.unconverted = {**self.unconverted}
        progress.postponed, progress.cause = [*self.postponed], self.cause
        return progress


class Chain(TakesFound):
    """The calls of one decision.

    Parameters
    ----------
    decision : Decision
        The candidates, and how the call ends.
    calls : Calls
        The library's.
    passes : bool, default: False
        Whether ``NotImplemented`` is the answer of a call that no candidate takes, as for the
        single candidate of an adopted function.
    sole : bool, default: False
        Whether the call names its backend, which may not defer.
    """

    __slots__ = ("calls", "decision", "function", "is_bare", "memory", "passes", "sole")

    def __init__(
        self, decision: Decision, calls: Calls, *, passes: bool = False, sole: bool = False
    ) -> None:
        self.decision = decision
        self.function: Function = decision.function
        self.calls = calls
        self.passes = passes
        self.sole = sole
        traits = self.function.traits
        self.memory = None if traits is None else traits.memory
        first = decision.first
        # Whether the first implementation can be called without more ado.
        self.is_bare = (
            first is not None
            and first.is_plain
            and decision.state.trace is None
            and not (first.backend == DEFAULT and decision.warns)
        )

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.run(args, kwargs)

    def call_found(self, found: tuple[Any, ...] | None, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with the dispatch arguments that a finder has returned."""
        return self.run(args, self.function.without_like(kwargs), found)

    def entry(self) -> Callable[..., Any]:
        """Return the entry of a table.

        Raises
        ------
        ImplementationImportError
            If the first implementation or its ``should_run`` cannot be imported.
        """
        decision, function = self.decision, self.function
        if self.memory is not None or function.has_like:
            return as_function(self, function)
        if self.is_bare and decision.first is not None:
            return decision.load(decision.first)
        if decision.state.trace is not None or function.nature or not decision.candidates:
            return as_function(self, function)
        first, *others = decision.candidates
        if first.implementation is None or self.calls.defer_on:
            return as_function(self, function)
        fallback = None
        if len(others) == 1 and others[0].backend == DEFAULT and not decision.warns:
            fallback = decision.load(others[0])
        return _first_call(self, first, fallback)

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Make a call.

        Parameters
        ----------
        args, kwargs
            The arguments.
        found : tuple, optional
            The dispatch arguments, None and `missing` among them, if a finder has returned them.
        progress : Progress, optional
            Takes the answers of the candidates; it may have some already.
        """
        if progress is None:
            progress = Progress()
        if self.memory is not None:
            from ._estimators import run_remembering  # few functions remember

            result = run_remembering(self, args, kwargs, found, progress)
        else:
            result = self.walk(args, kwargs, 0, found, progress)
        if self.sole and result is NotImplemented and progress.backend != DEFAULT:
            (step,) = self.decision.candidates
            reason = progress.reasons.get(step.backend, POSTPONED)
            raise BackendDeferredError(step.backend, self.function.identifier, reason)
        return result

    def after(
        self,
        called: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
        reason: str = RETURNED,
        cause: Exception | None = None,
    ) -> Any:
        """Call the rest after the bare implementation `called` has deferred.

        It need not be that of any candidate: if the call has changed the state, this is another
        decision. No other candidate was called yet.
        """
        if called is self.function.default:
            return NotImplemented
        progress = Progress()
        place = self.decision.index_of(called)
        if place is not None:
            progress.reasons[self.decision.candidates[place].backend] = reason
            progress.cause = cause
        return self.walk(args, kwargs, 0, found, progress)

    def walk(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        start: int,
        found: tuple[Any, ...] | None,
        progress: Progress,
        again: Sequence[int] = (),
    ) -> Any:
        """Call the candidates in turn, from a place on, until one answers.

        `again` are the places of postponed candidates, all before `start`: they go first, and their
        ``should_run`` is not called again.
        """
        context: CallContext | None = None
        decision, candidates = self.decision, self.decision.candidates
        for place in [*again, *range(start, len(candidates))]:
            step = candidates[place]
            if progress.postponed and step.is_last:
                again, progress.postponed = progress.postponed, []
                return self.walk(args, kwargs, place, found, progress, again)
            # It may have had its turn in a `call_next` of an earlier candidate.
            if step.conversions is None and (
                step.backend in progress.reasons or place in progress.postponed
            ):
                continue
            progress.backend = step.backend
            if step.conversions is not None:
                result = self._convert(step, args, kwargs, progress)
                if result is _UNKNOWN:
                    continue
                return result
            if not step.is_plain:
                waiting = [each for each in again if each > place] if place < start else ()
                rest = _Rest(self, place + 1, progress, waiting)
                context = self._context(step, args, kwargs, found, rest, context)
                # A place before `start` is a second turn, without `should_run`.
                if place >= start:
                    answer = ask(decision, step, context, args, kwargs)
                    if answer is IF_NEEDED:
                        progress.postponed.append(place)
                        self.record(step.backend, "deferred", POSTPONED)
                        continue
                    if answer is not None:
                        self._defer(step, answer, progress)
                        continue
            if step.backend == DEFAULT and decision.warns:
                self._warn(args, kwargs, progress)
            implementation = decision.load(step)
            self.record(step.backend, "called", step.reason)
            reason = RETURNED
            try:
                if step.implementation is not None and step.implementation.uses_context:
                    result = implementation(context, *args, **kwargs)
                else:
                    result = implementation(*args, **kwargs)
            except Exception as error:
                if not self._defers_by(error, step):
                    self.note(error, step, args, kwargs, progress)
                    raise
                progress.cause, reason = error, reason_of(error)
                result = NotImplemented
            if result is not NotImplemented or step.backend == DEFAULT:
                return checked(self.function, step.backend, result)
            self._defer(step, reason, progress)
            result = self._settle(step, args, kwargs, context, progress)
            if result is not _UNKNOWN:
                return result
        if progress.postponed:
            again, progress.postponed = progress.postponed, []
            return self.walk(args, kwargs, len(candidates), found, progress, again)
        progress.backend = None
        return self._end(args, kwargs, progress)

    def _context(
        self,
        step: Step,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
        rest: _Rest | None,
        previous: CallContext | None = None,
    ) -> CallContext:
        context = CallContext()
        context._known = shared_part(self.decision, step, found is not None, rest)
        context._args = args if found is None else found
        context._kwargs = kwargs
        if previous is not None and hasattr(previous, "_dispatch_args"):
            context._dispatch_args = previous._dispatch_args  # so that a finder runs once
        return context

    def _defer(self, step: Step, reason: str, progress: Progress) -> None:
        progress.reasons[step.backend] = reason
        self.record(step.backend, "deferred", reason)

    def _defers_by(self, error: Exception, step: Step) -> bool:
        return step.implementation is not None and isinstance(error, self.calls.defer_on)

    def _settle(
        self,
        step: Step,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        context: CallContext | None,
        progress: Progress,
    ) -> Any:
        """Return the answer after a backend deferred that has called ``call_next`` before.

        If both calls had the very same arguments, no candidate is asked or run again.
        """
        continued: _Continued | None = getattr(context, "_continued", None)
        if continued is None or context is None or context.name != step.backend:
            return _UNKNOWN
        mine = continued.kwargs
        if len(args) != len(continued.args) or mine.keys() != kwargs.keys():
            return _UNKNOWN
        if not all(map(is_, continued.args, args)) or any(mine[k] is not kwargs[k] for k in mine):
            return _UNKNOWN
        inner = continued.progress
        progress.reasons = {**inner.reasons, **progress.reasons}
        progress.unconverted.update(inner.unconverted)
        progress.postponed, progress.cause = inner.postponed, inner.cause or progress.cause
        if continued.result is not _UNKNOWN:
            progress.backend = inner.backend
        return continued.result

    def call_next(
        self, place: int, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        """Call the candidates from a place on; with other types, those for these types."""
        decision = self.decision
        if self.sole:
            (step,) = decision.candidates
            raise BackendDeferredError(
                *(step.backend, self.function.identifier),
                "it called context.call_next(), but invoke(backend=...) names no other backend",
            )
        # The types of adopted functions are passed by their callers, not found among the arguments.
        if not self.function.is_adopted:
            found = self.function.extract(args, kwargs)
            types = decision.decider.unique_types(map(type, found), decision.state)
            if [*map(id, types)] != [*map(id, decision.types)]:
                # A reason keeps a backend from having another turn, but not its conversions.
                before = [each.backend for each in decision.candidates[:place]]
                anew = Progress({**dict.fromkeys(before, POSTPONED), **progress.reasons})
                other = self.calls.chain(self.function, decision.state, types)
                return other.walk(args, kwargs, 0, None, anew)
        return self.walk(args, kwargs, place, None, progress)

    # What happens to a call that no backend has taken.

    def _warn(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> None:
        """Warn that the default runs, once for each function and types."""
        from ._callers_line import warn_caller
        from ._classes import type_identifier
        from ._convert import leaves, size_of
        from ._explain import considered
        from ._reporting.warning_categories import FallbackWarning

        decision = self.decision
        types = tuple(map(type_identifier, decision.types))
        if self.calls.is_told((self.function.identifier, types)):
            return
        foreign = {*map(id, decision.foreign)}
        found = leaves((*args, *kwargs.values()), lambda cls: id(cls) in foreign)
        warn_caller(
            FallbackWarning(
                *(self.function.identifier, types, tuple(map(type_identifier, decision.foreign))),
                considered(decision, progress.reasons, progress.unconverted),
                sum(filter(None, map(size_of, found.values()))),
            )
        )

    def _convert(
        self, step: Step, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        """Run the default with arguments that a backend converts; `_UNKNOWN` if it cannot."""
        from ._convert import Conversion, Unconverted, moved_text

        reason = f"through the conversions of {step.backend}"

        def moved(before: Any, after: Any) -> None:
            if self.decision.state.trace is not None:
                self.record(step.backend, "converted", moved_text(before, after))

        def refuse(why: str) -> Exception:
            return self._refusal(progress, (), {}, step.backend, why)

        try:
            return Conversion(self.decision, step).call(
                *(args, kwargs, self.calls.keeper),
                *(lambda: self.record(DEFAULT, "called", reason), moved, refuse),
            )
        except Unconverted as failure:
            progress.unconverted[step.backend] = str(failure)
            self.record(step.backend, "deferred", str(failure))
            return _UNKNOWN
        except Exception as error:
            if not isinstance(error, NoImplementationError):
                self.note(error, step, args, kwargs, progress)
            raise

    def _end(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> Any:
        """Return ``NotImplemented`` for a call that no candidate has answered, or raise."""
        decision = self.decision
        if self.sole or decision.is_operator or not decision.has_end:
            return NotImplemented
        if self.passes and progress.cause is None:
            return NotImplemented
        raise self._refusal(progress, args, kwargs) from progress.cause

    def _refusal(
        self,
        progress: Progress,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        converter: str = "",
        reason: str = "",
    ) -> NoImplementationError:
        """Return the error; with a converter, its conversion of the result has failed."""
        from ._convert import Conversion
        from ._explain import considered, refusal, with_failed_conversion

        def examine(step: Step) -> tuple[str, str]:
            conversion = Conversion(self.decision, step)
            return conversion.obstacle(args, kwargs), conversion.text(args, kwargs)

        lines = considered(self.decision, progress.reasons, progress.unconverted)
        if converter:
            lines = with_failed_conversion(lines, converter, reason)
            reason = f"{converter} converts, but {reason}"
        return refusal(self.decision, lines, examine, reason)

    def note(
        self,
        error: Exception,
        step: Step,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        progress: Progress,
    ) -> None:
        """Add to an exception what the user should know: which backend raised it, or why none ran.

        Raises
        ------
        TypeError
            The library's own, if the arguments do not fit its signature.
        """
        if step.backend == DEFAULT or step.conversions is not None:
            if self.decision.has_end:
                with suppress(Exception):  # so that the exception of the default propagates
                    self._note_reasons(error, step, progress)
        elif step.implementation is not None:
            if isinstance(error, TypeError) and not _fits(self.function, args, kwargs):
                try:
                    self.function.default(*args, **kwargs)  # Python refuses the arguments
                except TypeError as own:
                    raise own.with_traceback(None) from None
            if not isinstance(error, NoImplementationError):
                _add_note(
                    error,
                    f"Raised by the backend {step.backend!r}, which ran "
                    f"{self.function.identifier}; backend_opts(disable={step.backend!r}) leaves "
                    "it out",
                    "Raised by the backend ",
                )

    def _note_reasons(self, error: Exception, step: Step, progress: Progress) -> None:
        from ._classes import type_identifier
        from ._explain import Verdict, considered

        if getattr(BaseException, "add_note", None) is None:
            return
        decision = self.decision
        lines = considered(decision, progress.reasons, progress.unconverted)
        # The note names the converter itself before the reasons.
        others = [each for each in lines if each.verdict is not Verdict.CONVERTS]
        reasons = ":" * bool(others) + "".join(f"\n  {each}" for each in others)
        foreign = ", ".join(map(type_identifier, decision.foreign))
        what = f"its default implementation ran, which is not made for {foreign}"
        if step.conversions is not None:
            what = f"{step.backend} converts for its default implementation"
        types = ", ".join(map(type_identifier, decision.types))
        text = f"{NOTE}{self.function.identifier} for {types}, so {what}{reasons}"
        _add_note(error, text, NOTE)

    def record(self, backend: str, outcome: str, reason: str) -> None:
        """Record a step, if the state is traced."""
        trace = self.decision.state.trace
        if trace is not None:
            from ._state.trace import Outcome, record  # few programs trace

            record(trace, self.function, backend, Outcome(outcome), reason, self.decision.types)


def _fits(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether arguments fit the signature of the default implementation."""
    from inspect import signature

    try:
        own = signature(function.default, follow_wrapped=False)
    except (TypeError, ValueError):
        return True  # some functions written in C have none
    try:
        own.bind(*args, **kwargs)
    except TypeError:
        return function.is_adopted
    return True


def _add_note(error: BaseException, text: str, start: str) -> None:
    """Add a note, from Python 3.11 on; the note of a nested call says more."""
    add_note: Any = getattr(BaseException, "add_note", None)
    notes = getattr(error, "__notes__", ())
    if add_note is None or any(type(each) is str and each.startswith(start) for each in notes):
        return
    with suppress(Exception):  # an exception of a third party may refuse
        add_note(error, text)


class _Rest:
    """The rest of a chain after one candidate, for `DispatchContext.call_next`."""

    __slots__ = ("_chain", "_place", "_progress", "_waiting")

    def __init__(
        self,
        chain: Chain,
        place: int,
        progress: Progress | None = None,
        waiting: Sequence[int] = (),
    ) -> None:
        self._chain = chain
        self._place = place
        self._progress = progress  # None if the candidate is the first
        self._waiting = waiting  # postponed candidates that have not had their second turn

    def call(
        self, context: DispatchContext, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call the rest. The context keeps its answers, which count if its candidate defers."""
        chain = self._chain
        progress = Progress() if self._progress is None else self._progress.inner()
        progress.reasons[context.name] = CONTINUED
        progress.postponed += self._waiting
        continued = context._continued = _Continued(args, kwargs, progress)
        result = chain.call_next(self._place, args, kwargs, progress)
        # Awaitables and iterators can be used only once.
        if not chain.function.nature:
            continued.result = result
        return result


class _Continued:
    """A call of ``call_next``: its arguments, the answers in it, and its result."""

    __slots__ = ("args", "kwargs", "progress", "result")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> None:
        self.args = args
        self.kwargs = kwargs
        self.progress = progress
        self.result: Any = _UNKNOWN


def reason_of(error: Exception) -> str:
    """Return the reason of an implementation that deferred by an exception."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # a third party's __str__
        text = ""
    return f"it raised {type(error).__name__}" + (f": {text}" if text else "")


def shared_part(
    decision: Decision, step: Step, is_found: bool, rest: _Rest | None
) -> SharedPart:
    """Return the part that the contexts of calls with the same decision share."""
    function = decision.function
    extract = given if is_found else function.extract
    known = decision.types, step.backend, step.prioritized, function.identifier
    return SharedPart(*known, extract, rest)


def ask(
    decision: Decision,
    step: Step,
    context: DispatchContext,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str | IfNeeded | None:
    """Ask ``should_run``: None if the implementation should run, else `IF_NEEDED` or the reason.

    Raises
    ------
    ImplementationImportError
        If ``should_run`` cannot be imported.
    """
    should_run = decision.load_should_run(step)
    if should_run is None:
        return None
    answer = should_run(context, *args, **kwargs)
    # Only True itself: the truth of an array would be ambiguous, or take a computation.
    if answer is True:
        return None
    return IF_NEEDED if answer is IF_NEEDED else reason_of_answer(answer, decision, step)


def reason_of_answer(answer: Any, decision: Decision, step: Step) -> str:
    """Return the reason for an answer of ``should_run``; a string is the reason itself.

    Anything but False, None and a string is a mistake of the backend, which gets one warning.
    """
    if isinstance(answer, str):
        return answer
    if answer is None or answer is False:
        return f"should_run returned {answer!r}"
    assert step.implementation is not None
    decision.decider.warn_of_answer(decision.function, step, answer)
    return f"should_run returned {answer!r}, and only True itself runs it: use bool(...)"


# Coroutine and generator functions.

_AWAITABLE_GENERATOR = 0x100
"""The flag of generators that `types.coroutine` has marked."""


def checked(function: Function, backend: str, result: Any, giver: str = "") -> Any:
    """Return the answer of an implementation in the form that the wrapper uses.

    The wrapper of a coroutine function awaits the answer, that of a generator function iterates
    over it. What comes of it is not looked at again. `giver` names a giver that is no backend.

    Raises
    ------
    TypeError
        If it is of the wrong kind.
    """
    nature = function.nature
    if not nature:
        return result
    if nature & COROUTINE:
        kind, needed, fits = "a coroutine function", "an awaitable", _is_awaitable(result)
    elif nature & ASYNC_GENERATOR:
        kind, needed = "an asynchronous generator function", "an asynchronous iterator"
        fits = hasattr(type(result), "__anext__")
        # An iterator that is no generator: the wrapper needs the other methods, too.
        if fits and not all(hasattr(result, name) for name in ("asend", "athrow", "aclose")):
            return _PlainSteps(result)
    else:
        kind, needed = "a generator function", "an iterator"
        fits = hasattr(type(result), "__next__") or (
            nature & _AWAITABLE_GENERATOR != 0 and type(result) is CoroutineType
        )
    if not fits:
        if type(result) is CoroutineType:
            result.close()  # or Python would warn that it was never awaited
        which = f"returned {result!r} for {function.identifier}, which is {kind}"
        raise TypeError(
            f"{giver} {which}; it must return {needed}, e.g. what call.next(...) returns"
            if giver
            else f"backend {backend!r} {which}; its implementation must return {needed}"
        )
    return result


def _is_awaitable(result: object) -> bool:
    if type(result) is GeneratorType:
        return result.gi_code.co_flags & _AWAITABLE_GENERATOR != 0
    return hasattr(type(result), "__await__")


class _PlainSteps:
    """An asynchronous iterator with the methods of an asynchronous generator.

    As in ``yield from``, the iterator learns nothing of `athrow` and `aclose`, and `asend` fails.
    """

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __aiter__(self) -> Any:
        return self

    def __anext__(self) -> Any:
        return self._iterator.__anext__()

    def asend(self, value: object) -> Any:
        """Fail as `yield from` does."""
        return self._iterator.asend(value)

    async def athrow(self, error: BaseException) -> Any:
        """Raise the error here."""
        raise error

    async def aclose(self) -> None:
        """Do nothing."""


# The entries of tables.


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


class Guard(TakesFound):
    """Calls a chain whose candidates may change, because a module is imported or a class registered.

    `token` is the result of `abc.get_cache_token`, read before the decision was made.
    """

    __slots__ = ("_calls", "_chain", "_token")

    def __init__(self, chain: Chain, token: object) -> None:
        self._chain = chain
        self._calls = chain.calls
        self._token = token

    def current(self) -> Chain:
        """Return the chain, with the candidates as they are now."""
        chain = self._chain
        if get_cache_token() != self._token or not all(map(is_awaited, chain.decision.awaited)):
            # This forgets all tables, so that the next call does not come here.
            return self._calls.renewed(chain)
        return chain

    def run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], found: tuple[Any, ...] | None = None
    ) -> Any:
        """Make a call."""
        return self.current().run(args, kwargs, found)

    def call_found(self, found: tuple[Any, ...] | None, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with the dispatch arguments that a finder has returned."""
        return self.current().call_found(found, *args, **kwargs)


class Calls:
    """Makes the entries of a library's tables, for the backends of one catalog.

    Parameters
    ----------
    decider : Decider
        Makes the decisions.
    keeper : StateKeeper
        Holds the tables, which are dropped when answers change.
    defer_on : tuple of type, optional
        Classes of exceptions by which implementations defer.
    """

    def __init__(
        self, decider: Decider, keeper: StateKeeper, defer_on: tuple[type[Exception], ...] = ()
    ) -> None:
        self.decider = decider
        self.keeper = keeper
        self.defer_on = defer_on
        self.foreign: set[str] = set()
        """Identifiers of functions that were called with foreign types."""
        self._told: dict[object, None] = {}

    @property
    def catalog(self) -> Any:
        """The library's backends."""
        return self.decider.catalog

    def entry(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Callable[..., Any]:
        """Return the entry of a table for these types, which include the state's type."""
        way = self.way(function, state, types)
        return way.entry() if isinstance(way, Chain) else as_function(way, function)

    def way(
        self, function: Function, state: DispatchState, types: tuple[type, ...], **options: bool
    ) -> Chain | Guard:
        """Return the chain for these types; a `Guard` of it where the candidates may change."""
        # Read first: a class that is registered while the decision is made makes it stale.
        token = get_cache_token()
        chain = self.chain(function, state, types, **options)
        return Guard(chain, token) if chain.decision.may_change else chain

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
        decide = self.decider.decide
        decision = decide(function, state, types, after_overriding=after_overriding)
        if decision.has_end:
            self.foreign.add(function.identifier)
        is_alone = False
        if function.is_adopted:
            candidates = decision.candidates
            is_alone = len(candidates) == 1 and candidates[0].is_plain
        return Chain(decision, self, passes=passes and is_alone)

    def renewed(self, chain: Chain) -> Chain:
        """Return a chain anew, after an import or a registration that may have changed it."""
        self.decider.matcher.forget()
        self.keeper.forget_tables()
        decision = chain.decision
        return self.chain(chain.function, decision.state, decision.types, passes=chain.passes)

    def invoked(
        self, function: Function, backend: str, state: DispatchState, types: Any, ask: bool
    ) -> Chain:
        """Return the chain of a call that names its backend, which need not match."""
        decision = self.decider.invoked(function, backend, state, types, ask)
        return Chain(decision, self, sole=True)

    def is_told(self, key: object) -> bool:
        """Whether a warning was given before; it counts as given from now on."""
        # Without a lock: at worst, two threads both warn.
        if key in self._told:
            return True
        # Bounded: a program may make classes without end.
        if len(self._told) >= _MOST_TOLD:
            self._told.clear()
        self._told[key] = None
        return False

    def check(self, function: Function, called: object, result: Any) -> Any:
        """Return the answer of a table's entry for a coroutine or generator function."""
        if tries_whole_chain(called):
            return result  # the chain has checked it
        # The entry is a bare implementation: find its backend, for the message.
        decider = self.decider
        for name in decider.implementers(function.identifier):
            found = decider.catalog.descriptions[name].implementation(function.identifier)
            if found is not None and decider.is_loaded(found.function, called):
                return checked(function, name, result)
        return checked(function, decider.protocol or DEFAULT, result)


_MOST_TOLD = 1000


# The generated entry for a first candidate with `should_run` or a context. `Chain` does the same
# for any number of candidates, in four times the time.

_FREE = (
    *("CallContext", "IF_NEEDED", "RETURNED", "chain", "fallback", "given", "known", "load"),
    *("missing", "should_run"),
)
"""The free variables of the generated function."""

# By the number of positional arguments (None with a finder), whether the candidate has
# `should_run`, and whether its implementation takes a context. Without a lock: two threads may
# compile the same source, with the same outcome.
_factories: dict[tuple[int | None, bool, bool], Any] = {}
_namespace: dict[str, Any] = {"__name__": __name__}


def _first_call(
    chain: Chain, first: Step, fallback: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the callable that asks and calls the first candidate of a chain.

    `fallback` is the default, if it is the only other candidate. For two positional arguments, a
    ``should_run``, and an implementation without context it is::

        def call(a0=missing, a1=missing, /, *rest, **keywords):
            nonlocal implementation
            if a1 is missing:
                return chain(*given((a0, a1)), **keywords)
            context = CallContext()
            context._known = known
            context._kwargs = keywords
            if rest or keywords:
                context._args = (a0, a1, *rest)
                answer = should_run(context, a0, a1, *rest, **keywords)
            else:
                context._args = (a0, a1)
                answer = should_run(context, a0, a1)
            if answer is not True:
                if fallback is None or not (answer is False or type(answer) is str):
                    return chain.go_on((a0, a1, *rest), keywords, answer, context)
                try:
                    return fallback(a0, a1, *rest, **keywords)
                except Exception as error:
                    chain.failed(error, (a0, a1, *rest), keywords, answer)
                    raise
            if implementation is None:
                implementation = load()
            try:
                if rest or keywords:
                    result = implementation(a0, a1, *rest, **keywords)
                else:
                    result = implementation(a0, a1)
            except Exception as error:
                chain.failed(error, (a0, a1, *rest), keywords)
                raise
            if result is NotImplemented:
                return chain.go_on((a0, a1, *rest), keywords, RETURNED, context)
            return result

    For a function with a finder, the first parameter takes the dispatch arguments that it has
    returned; `_Asking` calls the generated function.
    """
    decision, function = chain.decision, chain.function
    assert first.implementation is not None
    should_run = decision.load_should_run(first)
    count = None if function.parameters is None else function.count
    shape = count, should_run is not None, first.implementation.uses_context
    factory = _factories.get(shape)
    if factory is None:
        factory = _factories[shape] = _compile(*shape)
    known = shared_part(decision, first, count is None, _Rest(chain, 1))
    made: Any = factory(
        *(CallContext, IF_NEEDED, RETURNED, _Going(chain), fallback, _given, known),
        *(lambda: decision.load(first), missing, should_run),
    )
    if count is None:
        return _Asking(function, made)  # type: ignore[return-value]  # a `TakesFound`
    made._tries_whole_chain = True
    return made  # type: ignore[no-any-return]  # a function with an attribute


def _given(values: tuple[Any, ...]) -> list[Any]:
    return [value for value in values if value is not missing]


class _Asking(TakesFound):
    """Calls the generated function with the dispatch arguments that a finder returns."""

    __slots__ = ("_function", "call_found")

    def __init__(self, function: Function, call_found: Callable[..., Any]) -> None:
        self._function = function
        self.call_found = call_found

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.call_found(self._function.find(args, kwargs), *args, **kwargs)


class _Going:
    """What the generated function calls of its chain.

    It exists in untraced states alone, so that nothing need be recorded.
    """

    __slots__ = ("_chain",)

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._chain.run(args, kwargs)

    def go_on(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        answer: Any,
        context: CallContext,
        found: tuple[Any, ...] | None = None,
    ) -> Any:
        """Call the rest after the first candidate was postponed or deferred.

        `answer` is that of ``should_run``, or the reason if the implementation has deferred.
        """
        progress, chain = Progress(), self._chain
        first = chain.decision.candidates[0]
        if answer is IF_NEEDED:
            progress.postponed.append(0)
        else:
            progress.reasons[first.backend] = reason_of_answer(answer, chain.decision, first)
            result = chain._settle(first, args, kwargs, context, progress)
            if result is not _UNKNOWN:
                return result
        return chain.walk(args, kwargs, 1, found, progress)

    def failed(
        self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Any = None
    ) -> None:
        """Add a note to an exception of the first candidate, or of the default after `answer`."""
        chain = self._chain
        first, *others = chain.decision.candidates
        progress = Progress()
        if answer is not None:
            progress.reasons[first.backend] = reason_of_answer(answer, chain.decision, first)
        chain.note(error, first if answer is None else others[0], args, kwargs, progress)


def _compile(count: int | None, asks: bool, uses_context: bool) -> Any:
    import linecache

    arguments = "a finder" if count is None else f"{count} arguments"
    details = [arguments, *["should_run"] * asks, *["context"] * uses_context]
    file = f"{GENERATED}{', '.join(details)}>"
    text = _source(count, asks, uses_context)
    # So that tracebacks and debuggers show the source.
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), _namespace, scope)  # noqa: S102  # own text
    return scope["make"]


def _source(count: int | None, asks: bool, uses_context: bool) -> str:
    names = [f"a{number}" for number in range(count or 0)]
    placeholders = "".join(f"{name}=missing, " for name in names) + ("/, " if names else "")
    usual = ", ".join(names)
    every = ", ".join([*names, "*rest"])
    every_found, usual_found, more = f"({every},)", f"({usual},)" if names else "()", ""
    if count is None:
        placeholders, every_found, usual_found, more = "found, /, ", "found", "found", ", found"
    extended = "context, " if uses_context else ""
    lines = [f"def call({placeholders}*rest, **keywords):", "    nonlocal implementation"]
    if names:
        lines += [
            f"    if {names[-1]} is missing:",
            f"        return chain(*given(({usual},)), **keywords)",
        ]
    lines += [
        "    context = CallContext()",
        "    context._known = known",
        "    context._kwargs = keywords",
        "    if rest or keywords:",
        f"        context._args = {every_found}",
        *([f"        answer = should_run(context, {every}, **keywords)"] if asks else []),
        "    else:",
        f"        context._args = {usual_found}",
        *([f"        answer = should_run(context, {usual})"] if asks else []),
    ]
    if asks:
        lines += [
            "    if answer is not True:",
            "        if fallback is None or not (answer is False or type(answer) is str):",
            f"            return chain.go_on(({every},), keywords, answer, context{more})",
            "        try:",
            f"            return fallback({every}, **keywords)",
            "        except Exception as error:",
            f"            chain.failed(error, ({every},), keywords, answer)",
            "            raise",
        ]
    lines += [
        "    if implementation is None:",
        "        implementation = load()",
        "    try:",
        "        if rest or keywords:",
        f"            result = implementation({extended}{every}, **keywords)",
        "        else:",
        f"            result = implementation({extended}{usual})",
        "    except Exception as error:",
        f"        chain.failed(error, ({every},), keywords)",
        "        raise",
        "    if result is NotImplemented:",
        f"        return chain.go_on(({every},), keywords, RETURNED, context{more})",
        "    return result",
    ]
    body = "\n".join(f"    {line}" for line in lines)
    # A free variable caches `implementation`; two threads that load it find the same object.
    return f"def make({', '.join(_FREE)}):\n    implementation = None\n{body}\n    return call\n"
