"""Makes what the tables of a library hold: for a function and types, the callable to call."""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable
from functools import partial
from typing import Any

from .._discovery.catalog import Catalog
from .._dispatch_arguments import Function, TakesFound
from .._identifiers import DEFAULT
from .._resolution.candidate import Candidate
from .._resolution.explanation import Explanation
from .._resolution.resolver import Resolver
from .._state.state import DispatchState
from . import answers
from .asking import ask, make_context
from .chain import Chain, Demanded, as_function, tries_whole_chain
from .guard import Guard


class Caller:
    """Makes what the tables of a library hold.

    Parameters
    ----------
    resolver : Resolver
        Finds the candidates.
    """

    # For the dispatcher, which libraries import without the chain.
    tries_whole_chain = staticmethod(tries_whole_chain)

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver

    @property
    def catalog(self) -> Catalog:
        """The library's backends."""
        return self.resolver.catalog

    def target(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Callable[..., Any]:
        """Return what a table holds for calls of these types.

        ================================================  =======================================
        the candidates                                    the table holds
        ================================================  =======================================
        may change: a module is not imported yet, or an   a `Guard`, which looks before each call
        abstract base class may get a new subclass
        are recorded, because the state is traced         the `Chain`
        begin with one that is asked, or that takes a     a generated function (`make_asking`)
        context
        begin with any other                              its implementation
        ================================================  =======================================

        Parameters
        ----------
        function : Function
            The library's function.
        state : DispatchState
            The state in force.
        types : tuple of type
            The dispatch types, the state's own among them.
        """
        # Read first: a class that is registered while the candidates are found makes them stale.
        token = get_cache_token()
        walk = self.resolver.walk(function, state, types)
        candidates = self.resolver.candidates(function, state, walk)
        first = next(candidates)
        awaited = walk.awaited
        if awaited or walk.depends_on_registration:
            chain = Chain(function, types, [first, *candidates], state.trace)
            guard = Guard(chain, token, awaited, partial(self._renew, state))
            return as_function(guard, function)
        if state.trace is None and first.is_plain:
            return first.load()
        return Chain(function, types, [first, *candidates], state.trace).target()

    def chain(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Chain:
        """Return the chain of all candidates."""
        resolver = self.resolver
        candidates = resolver.candidates(function, state, resolver.walk(function, state, types))
        return Chain(function, types, [*candidates], state.trace)

    def demanded(
        self,
        function: Function,
        backend: str,
        state: DispatchState,
        types: tuple[type, ...],
        is_asked: bool,
    ) -> Demanded:
        """Return the chain of one backend alone, whatever its types.

        Raises
        ------
        UnknownBackendError
            If there is no such backend.
        BackendDeferredError
            If it does not implement the function.
        """
        self.catalog.check_backend(backend)
        candidate = self.resolver.demanded(function, backend, state, is_asked)
        return Demanded(function, types, [candidate], state.trace)

    def call(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...],
    ) -> Any:
        """Call a function as in a state that need not be in force."""
        if function.nature:
            return self.chain(function, state, types).run(args, kwargs, found=found)
        target: Any = self.target(function, state, types)
        if isinstance(target, TakesFound):
            return target.call_found(found, *args, **kwargs)
        result = target(*args, **kwargs)
        if result is NotImplemented and not tries_whole_chain(target):
            return self.chain(function, state, types).after(target).run(args, kwargs, found=found)
        return result

    def check(self, function: Function, state: DispatchState, called: object, result: Any) -> Any:
        """Return an answer of what a table of a coroutine or generator function holds.

        Raises
        ------
        TypeError
            If it is of the wrong kind; it names the backend.
        """
        if tries_whole_chain(called):
            return result  # the chain has checked it
        for backend in self.resolver.implementers(function.identifier):
            if self.resolver.demanded(function, backend, state).loaded is called:
                return answers.checked(function, backend, result)
        return answers.checked(function, DEFAULT, result)

    def explain(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...],
    ) -> Explanation:
        """Say what would run for a call, and why; asks each ``should_run`` on the way."""

        def answer(candidate: Candidate) -> str | None:
            context = make_context(candidate, types, args, kwargs, found=found)
            return ask(candidate, context, args, kwargs)

        return self.resolver.explain(function, state, types, answer)

    def _renew(self, state: DispatchState, chain: Chain) -> Chain:
        self.resolver.matcher.forget()
        self.resolver.keeper.forget_tables()
        return self.chain(chain.function, state, chain.types)
