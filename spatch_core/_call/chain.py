"""Calling the candidates of one call, one after the other, until one answers."""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._description.description import Implementation
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT, import_identifier, is_awaited
from .._state.trace import Outcome, TraceEvent
from ..exceptions import BackendDeferredError, ImplementationImportError
from .asking import is_asking, make_asking
from .context import CallContext, DispatchContext, Known


@dataclass(frozen=True, slots=True)
class Candidate:
    """A backend that may answer a call of one function.

    Parameters
    ----------
    backend : str
        Its name.
    function : Function
        The library's function.
    implementation : Implementation or None
        None for the default implementation.
    prioritized : bool
        Whether the backend is prioritized.
    block : str
        The environment variable that blocks backends.
    reason : str
        For the default: why it runs although it does not match; else empty.
    """

    backend: str
    function: Function
    implementation: Implementation | None
    prioritized: bool
    block: str
    reason: str = ""
    _loaded: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_plain(self) -> bool:
        """Whether the implementation can be called without anything being asked or added."""
        implementation = self.implementation
        return implementation is None or not (
            implementation.should_run or implementation.uses_context
        )

    def load(self) -> Callable[..., Any]:
        """Return the implementation, imported on first use.

        Raises
        ------
        ImplementationImportError
            If it cannot be imported.
        """
        if self.implementation is None:
            return self.function.default
        return self._import(self.implementation.function)

    @property
    def loaded(self) -> Callable[..., Any] | None:
        """The implementation, if it has been imported."""
        if self.implementation is None:
            return self.function.default
        return self._loaded.get(self.implementation.function)

    def known(self, types: tuple[type, ...]) -> Known:
        """Return what the implementation can know about all calls with these types."""
        function = self.function
        return Known(types, self.backend, self.prioritized, function.identifier, function.extract)

    def context(
        self, types: tuple[type, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> DispatchContext:
        """Return what the implementation learns about a call."""
        context: DispatchContext = CallContext()
        context._known = self.known(types)
        context._args = args
        context._kwargs = kwargs
        return context

    @property
    def asked(self) -> Callable[..., Any] | None:
        """What decides whether it runs, imported on first use; None if nothing does.

        Raises
        ------
        ImplementationImportError
            If it cannot be imported.
        """
        if self.implementation is None or self.implementation.should_run is None:
            return None
        return self._import(self.implementation.should_run)

    def ask(
        self, context: DispatchContext, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> str | None:
        """Ask ``should_run``.

        Returns
        -------
        str or None
            None if the implementation should run, else the reason why not.

        Raises
        ------
        ImplementationImportError
            If ``should_run`` cannot be imported.
        """
        should_run = self.asked
        if should_run is None:
            return None
        answer = should_run(context, *args, **kwargs)
        if answer is True:
            return None
        if isinstance(answer, str):
            return answer
        hint = ", and only True itself runs it: use bool(...)" if _is_true(answer) else ""
        return f"should_run returned {answer!r}{hint}"

    def _import(self, identifier: str) -> Callable[..., Any]:
        loaded: Callable[..., Any] | None = self._loaded.get(identifier)
        if loaded is None:
            try:
                found = import_identifier(identifier)
                if not callable(found):
                    raise ImportError(f"{identifier!r} is not callable: {found!r}")
            except (Exception, SystemExit) as error:
                raise ImplementationImportError(
                    self.backend, self.function.identifier, identifier, self.block
                ) from error
            loaded = self._loaded[identifier] = found
        return loaded


class Chain:
    """Calls candidates in turn; kept in the tables where one of them must be asked.

    Parameters
    ----------
    function : Function
        The library's function.
    types : tuple of type
        The dispatch types.
    candidates : sequence of Candidate
        In order. Unless the last is the default, it may happen that none answers.
    trace : list of TraceEvent or None
        Where to record what happens.
    """

    __slots__ = ("candidates", "function", "trace", "types")

    def __init__(
        self,
        function: Function,
        types: tuple[type, ...],
        candidates: Sequence[Candidate],
        trace: list[TraceEvent] | None = None,
    ) -> None:
        self.function = function
        self.types = types
        self.candidates = candidates
        self.trace = trace

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.run(args, kwargs)

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any], start: int = 0) -> Any:
        """Call the candidates from `start` on until one answers."""
        context: DispatchContext | None = None
        for candidate in self.candidates[start:]:
            if not candidate.is_plain:
                context = candidate.context(self.types, args, kwargs)
                reason = candidate.ask(context, args, kwargs)
                if reason is not None:
                    self.record(candidate, Outcome.DEFERRED, reason)
                    continue
            implementation = candidate.load()
            self.record(candidate, Outcome.CALLED, candidate.reason)
            if candidate.implementation is not None and candidate.implementation.uses_context:
                result = implementation(context, *args, **kwargs)
            else:
                result = implementation(*args, **kwargs)
            if result is not NotImplemented or candidate.backend == DEFAULT:
                return result
            self.record(candidate, Outcome.DEFERRED, "it returned NotImplemented")
        return NotImplemented

    def target(self) -> Callable[..., Any]:
        """Return the first implementation if nothing has to be asked, else what asks it.

        Raises
        ------
        ImplementationImportError
            If what is needed at once cannot be imported.
        """
        if self.trace is not None:
            return self
        first, *others = self.candidates
        if first.is_plain:
            return first.load()
        assert first.implementation is not None  # or it would be plain
        fallback = None
        if len(others) == 1 and others[0].backend == DEFAULT:
            fallback = others[0].load()
        return make_asking(
            self,
            first.known(self.types),
            first.asked,
            first.implementation.uses_context,
            first.load,
            fallback,
            self.function.count,
        )

    def record(self, candidate: Candidate, outcome: Outcome, reason: str) -> None:
        """Record a step, where anybody wants to know."""
        if self.trace is not None:
            self.trace.append(
                TraceEvent(self.function.identifier, candidate.backend, outcome, reason, self.types)
            )

    def after(self, implementation: Callable[..., Any]) -> Chain:
        """Return the chain without the candidate that was called by itself, as the first.

        The call may have changed the backends or the state, so that it stands elsewhere now
        or nowhere; of the others none has been asked.
        """
        if implementation is self.function.default:
            return Chain(self.function, self.types, (), self.trace)
        rest = list(self.candidates)
        for candidate in rest:
            if candidate.is_plain and candidate.loaded is implementation:
                rest.remove(candidate)
                break
        return Chain(self.function, self.types, rest, self.trace)


class Demanded(Chain):
    """The chain of the one backend that `invoke` was told; it must answer."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        result = super().__call__(*args, **kwargs)
        (candidate,) = self.candidates
        if result is NotImplemented and candidate.backend != DEFAULT:
            raise BackendDeferredError(
                candidate.backend, self.function.identifier, "it returned NotImplemented"
            )
        return result


class Guard:
    """Calls what was decided, while nothing has happened that could change it.

    Parameters
    ----------
    chain : Chain
        What to call.
    token : object
        What `abc.get_cache_token` returned before it was decided.
    awaited : sequence of str
        Modules whose import could change it.
    renew : callable
        Takes the call's arguments and keywords, forgets the tables and makes the call.
    """

    __slots__ = ("awaited", "chain", "renew", "target", "token")

    def __init__(
        self,
        chain: Chain,
        token: object,
        awaited: Sequence[str],
        renew: Callable[[tuple[Any, ...], dict[str, Any]], Any],
    ) -> None:
        self.chain = chain
        self.target = chain.target()
        self.token = token
        self.awaited = awaited
        self.renew = renew

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if get_cache_token() != self.token or (self.awaited and self.has_arrived()):
            return self.renew(args, kwargs)
        result = self.target(*args, **kwargs)
        if result is NotImplemented and not is_final(self.target):
            return self.chain.after(self.target)(*args, **kwargs)
        return result

    def has_arrived(self) -> bool:
        """Whether any of the awaited modules has been imported."""
        return not all(map(is_awaited, self.awaited))


def is_final(target: object) -> bool:
    """Whether what a table holds has tried the whole chain by itself."""
    return isinstance(target, (Chain, Guard)) or is_asking(target)


def _is_true(answer: object) -> bool:
    try:
        return bool(answer)
    except Exception:  # noqa: BLE001  # an array of several elements, for example
        return False
