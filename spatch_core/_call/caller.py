"""Makes the entries of a library's tables: for a function and types, the callable to call."""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._discovery.catalog import Catalog
from .._dispatch_arguments import Function, TakesFound
from .._identifiers import DEFAULT
from .._resolution.adopted_function import AdoptedFunction
from .._resolution.candidate import Candidate
from .._resolution.fallback_policy import Ending
from .._resolution.resolver import Resolver
from .._resolution.walk import Walk
from .._state import DispatchState
from .table_entries import as_function, tries_whole_chain

if TYPE_CHECKING:
    from .changing_candidates import Guard
    from .entry_chain import EntryChain
    from .invoked_backend import Invoked


class Caller:
    """Makes the entries of a library's tables.

    Parameters
    ----------
    resolver : Resolver
        Finds the candidates.
    defer_on : tuple of type, optional
        Classes of exceptions by which implementations defer.

    Attributes
    ----------
    foreign : set of str
        Identifiers of functions that were called with foreign types.
    """

    # For the dispatcher, which libraries import without the chain.
    tries_whole_chain = staticmethod(tries_whole_chain)

    def __init__(self, resolver: Resolver, defer_on: tuple[type[Exception], ...] = ()) -> None:
        self.resolver = resolver
        self.defer_on = defer_on
        self.foreign: set[str] = set()

    @property
    def catalog(self) -> Catalog:
        """The library's backends."""
        return self.resolver.catalog

    def target(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Callable[..., Any]:
        """Return the entry of a table for these types, which include the state's type.

        ================================================  =======================================
        the candidates                                    the entry
        ================================================  =======================================
        may change: a module is not imported yet, or an   a `Guard`, which checks before each call
        abstract base class may get a new subclass
        are recorded, because the state is traced         the chain
        begin with one that has ``should_run``, or takes  a generated function (`make_first_call`)
        a context
        begin with any other                              its implementation
        ================================================  =======================================
        """
        # Read first: a class that is registered while the candidates are found makes them stale.
        token = get_cache_token()
        walk = self.resolver.walk(function, state, types)
        candidates = self.resolver.candidates(function, state, walk)
        first = next(candidates, None)
        ending = self._ending(function, state, walk)
        awaited, guards = self._guards(function, state, walk, ending)
        remembers = function.traits is not None and function.traits.memory is not None
        is_plain = first is not None and first.is_plain and not remembers
        if first is not None and is_plain and not guards and state.trace is None:
            warns = first.backend == DEFAULT and ending is not None and ending.warns
            if not warns:
                return first.load()
        every = () if first is None else (first, *candidates)
        chain = self._chain(function, state, types, walk, every)
        if guards:
            return as_function(self._guarded(chain, token, awaited, state), function)
        return chain.target()

    def chain(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        *,
        may_pass: bool = True,
    ) -> EntryChain:
        """Return the chain of all candidates; without `may_pass`, its `End` refuses to pass."""
        walk = self.resolver.walk(function, state, types)
        candidates = [*self.resolver.candidates(function, state, walk)]
        return self._chain(function, state, types, walk, candidates, may_pass=may_pass)

    def route(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> EntryChain | Guard:
        """Return the chain of all candidates; a `Guard` of it where they may change."""
        token = get_cache_token()
        walk = self.resolver.walk(function, state, types)
        candidates = [*self.resolver.candidates(function, state, walk)]
        chain = self._chain(function, state, types, walk, candidates)
        ending = None if chain.end is None else chain.end.ending
        awaited, guards = self._guards(function, state, walk, ending)
        return self._guarded(chain, token, awaited, state) if guards else chain

    def _guarded(
        self, chain: EntryChain, token: object, awaited: Sequence[str], state: DispatchState
    ) -> Guard:
        from .changing_candidates import (
            Guard,  # most programs have imported the modules of their types
        )

        return Guard(chain, token, awaited, partial(self._renew, state))

    def _guards(
        self, function: Function, state: DispatchState, walk: Walk, ending: Ending | None
    ) -> tuple[Sequence[str], bool]:
        """Return the modules whose import may change the candidates, and whether anything may."""
        awaited = walk.awaited
        guards = bool(awaited) or walk.depends_on_registration
        if ending is not None and ending.converts:
            others = self.resolver.converters.awaited(function, state, walk)
            awaited, guards = [*awaited, *others[0]], guards or any(others)
        return awaited, guards

    def _chain(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        walk: Walk,
        candidates: Sequence[Candidate],
        *,
        may_pass: bool = True,
    ) -> EntryChain:
        end = None
        ending = self._ending(function, state, walk)
        if ending is not None:
            from .end_of_chain import End  # most programs pass the library's own types

            is_alone = len(candidates) == 1 and candidates[0].is_plain
            passes = may_pass and is_alone and isinstance(function, AdoptedFunction)
            end = End(self.resolver, function, state, types, ending, passes=passes)
        # On first use: calls that only run the library's own implementations need no chain.
        from .entry_chain import EntryChain

        made: type[EntryChain] = EntryChain
        if function.traits is not None and function.traits.memory is not None:
            from .remembering import Remembering  # few functions remember

            made = Remembering
        return made(function, types, candidates, state, self, end)

    def _ending(self, function: Function, state: DispatchState, walk: Walk) -> Ending | None:
        """Return how calls that no backend takes end, and add the function to `foreign`."""
        ending = self.resolver.ending(function, state, walk)
        if ending is not None:
            self.foreign.add(function.identifier)
        return ending

    def concerns_chain(self, function: Function, called: object, error: Exception) -> bool:
        """Whether an exception of a table's entry may defer or get a note; a quick test."""
        if called is function.default:
            return function.identifier in self.foreign
        return isinstance(error, self.defer_on)

    def invoked(
        self,
        function: Function,
        backend: str,
        state: DispatchState,
        types: tuple[type, ...],
        is_asked: bool,
    ) -> Invoked:
        """Return the chain of a single backend, which need not match the types.

        Raises
        ------
        UnknownBackendError
            If there is no such backend.
        BackendDeferredError
            If it does not implement the function.
        """
        backend = self.catalog.check_backend(backend)
        candidate = self.resolver.invoked(function, backend, state, is_asked)
        from .invoked_backend import Invoked  # few programs call `invoke`

        made = Invoked
        if function.traits is not None and function.traits.decides:
            from .remembering import Deciding  # few functions decide

            made = Deciding
        return made(function, types, [candidate], state)

    def call(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...],
    ) -> Any:
        """Call a function under a state that need not be the one in force."""
        if function.nature:
            return self.chain(function, state, types).run(args, kwargs, found=found)
        target: Any = self.target(function, state, types)
        if isinstance(target, TakesFound):
            return target.call_found(found, *args, **kwargs)
        try:
            result = target(*args, **kwargs)
        except Exception as error:
            raised = None
            if self.concerns_chain(function, target, error):
                raised = self.chain(function, state, types).failed(target, error)
            if raised is None:
                raise
            target, result = raised, NotImplemented
        if result is NotImplemented and not tries_whole_chain(target):
            return self.chain(function, state, types).after(target).run(args, kwargs, found=found)
        return result

    def check(self, function: Function, state: DispatchState, called: object, result: Any) -> Any:
        """Return the answer of a table's entry for a coroutine or generator function.

        Raises
        ------
        TypeError
            If it is of the wrong kind; it names the backend.
        """
        if tries_whole_chain(called):
            return result  # the chain has checked it
        from . import coroutine_answers  # plain functions never need it

        # The entry is a bare implementation: find its backend, for the message.
        for backend in self.resolver.implementers(function.identifier):
            if self.resolver.invoked(function, backend, state).is_implemented_by(called):
                return coroutine_answers.checked(function, backend, result)
        return coroutine_answers.checked(function, DEFAULT, result)

    def _renew(self, state: DispatchState, chain: EntryChain) -> EntryChain:
        self.resolver.matcher.forget()
        self.resolver.keeper.forget_tables()
        return self.chain(chain.function, state, chain.types)
