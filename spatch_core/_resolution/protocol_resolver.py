"""Resolution in a library with a protocol of its own: overriding types take part in calls.

All overriding types of a call together are one candidate, an `Override`, after the prioritized
backends and before all others. If it defers, the other candidates follow. The default
implementation is not among them if an overriding type is not the library's own: what a class
declines is refused under every fallback policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .._classes import type_identifier
from .._discovery.catalog import Catalog
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT
from .._state import DispatchState, StateKeeper
from .._type_patterns import ABSTRACT
from .adopted_function import AdoptedFunction
from .candidate import Candidate
from .fallback_policy import Ending, FirmEnding
from .overriding_types import overrides, overriding_types
from .resolver import Resolver
from .walk import Walk
from .walk_step import Step

MakeOverride = Callable[
    [Function, DispatchState, tuple[type, ...], tuple[type, ...]], Callable[..., Any]
]
"""Takes a function, the state, the dispatch types and the overriding types; returns a callable
that calls the methods of the overriding types."""


class OverridingStep(Step):
    """The overriding types on a walk.

    Attributes
    ----------
    classes : tuple of type
        In the order in which their methods are called.
    types : tuple of type
        All dispatch types.
    """

    classes: tuple[type, ...]
    types: tuple[type, ...]

    @property
    def why(self) -> str:
        """The classes in words."""
        return f"the method of {', '.join(map(type_identifier, self.classes))}"


class OverridingWalk(Walk):
    """The walk of a call in a library with a protocol.

    Attributes
    ----------
    overriding : tuple of type
        The overriding types.
    declining : tuple of type
        The overriding types without whose consent the default implementation does not run: the
        library does not name the class itself, and the user does not prioritize the default.
    """

    def __init__(self, protocol: str, *walk: Any) -> None:
        super().__init__(*walk)
        self._protocol = protocol
        self.overriding = overriding_types(self.types, protocol)
        self.declining: tuple[type, ...] = ()

    def decline(self, classes: tuple[type, ...]) -> None:
        """Count overriding types as foreign that the library does not name itself."""
        if classes and not (self.default_matches and DEFAULT in self.state.prioritized):
            self.declining = classes
            # By identity: a metaclass may define ==.
            others = [cls for cls in classes if not any(cls is each for each in self.foreign)]
            self.foreign = (*self.foreign, *others)

    def candidates(self, implementers: frozenset[str]) -> Iterator[Step]:
        """Yield the steps of the candidates, with the overriding types as one of them."""
        is_due = bool(self.overriding)
        for step in super().candidates(implementers):
            if is_due and step.backend not in self.state.prioritized:
                is_due = False
                yield self._step()
            yield step
        if is_due:
            yield self._step()

    def _step(self) -> OverridingStep:
        step = OverridingStep(self._protocol, None)
        step.classes, step.types = self.overriding, self.types
        return step


class Declined(FirmEnding):
    """How calls end whose overriding types have all declined."""

    @property
    def declined(self) -> str:
        """Why no policy lets the default implementation run."""
        names = ", ".join(map(type_identifier, self.foreign))
        return f"the library's own implementation is not made for {names}, and no method took it"

    @property
    def reason(self) -> str:
        """Why the default implementation does not just run, in words."""
        return self.declined


@dataclass(frozen=True, slots=True)
class Override(Candidate):
    """The overriding types of a call, as one candidate.

    Parameters
    ----------
    call : callable
        Calls their methods, one after the other.
    """

    call: Callable[..., Any] | None = None

    @property
    def is_last_resort(self) -> bool:
        """Whether it answers only where nothing else does."""
        return False

    @property
    def propagates(self) -> bool:
        """Whether all its exceptions propagate."""
        return True

    def load(self) -> Callable[..., Any]:
        """Return the callable that calls the methods."""
        assert self.call is not None
        return self.call

    def is_implemented_by(self, called: object) -> bool:
        """Whether `called` calls the same methods; each table has its own object for them."""
        made: Any = getattr(called, "_overrides", None)
        return made is not None and made == getattr(self.call, "_overrides", None)


class OverridingResolver(Resolver):
    """Finds the candidates of calls in a library with a protocol.

    Parameters
    ----------
    protocol : str
        The name of the method.
    make_override : callable
        Makes the callable that calls the methods.
    catalog, keeper, fallback, notify
        See `Resolver`.
    """

    def __init__(
        self,
        protocol: str,
        make_override: MakeOverride,
        catalog: Catalog,
        keeper: StateKeeper,
        fallback: str = "default",
        notify: Callable[[str, str], None] | None = None,
    ) -> None:
        super().__init__(catalog, keeper, fallback, notify)
        self.protocol = protocol
        self._make_override = make_override
        own = catalog.descriptions[DEFAULT].known_types
        self._own_patterns = [each for each in own if each.prefix != ABSTRACT]

    def walk(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Walk:
        """Return the walk along the backends for calls of these types."""
        if isinstance(function, AdoptedFunction):
            return super().walk(function, state, types)  # it has a protocol of its own
        matcher, order = self.matcher, self._order
        walk = OverridingWalk(
            *(self.protocol, function.identifier, state, types, self._rule, matcher, order)
        )
        walk.decline(tuple(cls for cls in walk.overriding if not self._is_own(cls)))
        return walk

    def _is_own(self, cls: type) -> bool:
        """Whether the library names the class itself, and not only a base class of it."""
        return any(pattern.distance(cls) == 0 for pattern in self._own_patterns)

    def ending(self, function: Function, state: DispatchState, walk: Walk) -> Ending | None:
        """Return how calls that no candidate takes end; None if nothing applies."""
        ending = super().ending(function, state, walk)
        if ending is None or not getattr(walk, "declining", ()):
            return ending
        return Declined(*ending)

    def check_type(self, cls: object) -> None:
        """Raise unless a class overrides, or is a primary type of any backend."""
        if not isinstance(cls, type) or not overrides(cls, self.protocol):
            super().check_type(cls)

    def candidate(self, function: Function, state: DispatchState, step: Step) -> Candidate:
        """Return the candidate of a step of the walk."""
        if not isinstance(step, OverridingStep):
            return super().candidate(function, state, step)
        call = self._make_override(function, state, step.types, step.classes)
        return Override(self.protocol, function, None, False, self._block, step.why, call=call)


class AfterOverridingResolver(Resolver):
    """Finds the candidates that follow the overriding types, when one of these asks for them.

    No fallback policy applies: the overriding type has taken the call.

    Parameters
    ----------
    protocol : str
        The name of the method.
    catalog, keeper, fallback, notify
        See `Resolver`.
    """

    def __init__(self, protocol: str, *resolver: Any) -> None:
        super().__init__(*resolver)
        self._protocol = protocol

    def ending(self, function: Function, state: DispatchState, walk: Walk) -> Ending | None:
        """Return None: the default implementation runs."""
        return None

    def candidates(
        self, function: Function, state: DispatchState, walk: Walk
    ) -> Iterator[Candidate]:
        """Yield the candidates, without those that precede overriding types of the call."""
        # Prioritized backends precede the overriding types, and have had their turns.
        is_begun = bool(overriding_types(walk.types, self._protocol))
        for each in super().candidates(function, state, walk):
            if each.backend == DEFAULT or not (is_begun and each.prioritized):
                yield each
