"""The decision of a call: which backends may run it, in which order.

A `Decision` is made once for a function, a state and dispatch types, when a table is first asked
for them. The call walks its candidates (`_call`); explanations, traces and errors render the same
decision (`_explain`).

**The golden rule**: installing a backend, and nothing else, never changes the result of a call. A
backend takes part in a call in one of four ways:

============  ==================================================  ===========================
standing      reason                                              answers a call it matches
============  ==================================================  ===========================
prioritized   the user: ``prioritize=``, ``<PREFIX>_PRIORITIZE``  always
              or the current backend
placed        the library (a backend passed in code), or          always
              ``<PREFIX>_SET_ORDER`` (before one of these, or
              before the default)
installed     the distribution is installed                       unless the default matches
inactive      ``disable=``, a requirement that is not met, or     never
              it requires opt-in and is not prioritized
============  ==================================================  ===========================

A backend *matches* if it knows every dispatch type that counts, and if one of these is a primary
type of it. A type counts if it is a primary type of the default, or if an active backend that
implements the function knows it. So no backend gets a type that it does not know while another
backend knows it.

One exception keeps ``add(array, 1.5)`` with the library when a backend is installed that happens to
know ``float``. Types *ride along*, and do not count, in calls that the default matches without
them. Such a type is no primary type of the default, nor, by a specific pattern, of an active
backend that implements the function (see `TypeMatch.specific`).

**The order** of the candidates is computed among these alone: prioritized backends first, in the
user's order, then rank by rank, with the edges inside each rank:

1. the library's own backends, and those that ``SET_ORDER`` puts before one of them;
2. installed backends that know a dispatch type by a specific pattern, or that ``SET_ORDER`` puts
   before any other;
3. other installed backends: they know the types by general patterns alone.

So a merely installed backend changes nothing among the library's own, and a backend that takes
every object changes nothing among the backends that know the types.

**The end** of a call that no backend takes: a *foreign type* is a dispatch type that is neither one
of Python's own classes nor known to the library. For calls with foreign types, the fallback policy
of the block counts, else that of the function, else that of the library. ``"default"`` runs the
default anyway, ``"warn"`` does so with a warning, ``"raise"`` and ``"convert"`` refuse; the latter
tries the conversions of backends before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._description import GivenCallable
from ._matching import Match, Matcher, overrides, overriding_types
from ._order import Cycle, order_backends
from ._parameters import ASYNC_GENERATOR, GENERATOR
from ._patterns import (
    ABSTRACT,
    DEFAULT,
    import_identifier,
    loaded_object,
    shown,
    split_identifier,
    type_identifier,
)
from ._state import DispatchState
from .exceptions import BackendDeferredError, ImplementationImportError

if TYPE_CHECKING:
    from types import TracebackType

    from ._description import Conversions, Description, Implementation
    from ._discovery import Catalog
    from ._parameters import Function

LAST_RESORT = "nothing else answers"
IS_CURRENT = "it is the current backend, and the types say nothing"
CONVERSION = "through its conversions"

_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
OPERATORS = frozenset(
    f"__{prefix}{name}__"
    for prefix, names in (
        ("", (*_BINARY, "lt", "le", "eq", "ne", "gt", "ge")),
        ("r", _BINARY),
        ("i", _BINARY),
    )
    for name in names
)
"""Methods whose ``NotImplemented`` lets Python ask the other operand."""

# A bound: nearness depends on classes, which a program may make without end.
_MOST_ORDERS = 1000


class Step:
    """One candidate of a decision.

    It runs the implementation of a backend; the default (without an `implementation`); the default
    with arguments that a backend converts (`conversions`); or the methods of the overriding types
    (`override`). `reason` says why it is a candidate if its types alone do not make it one.
    """

    __slots__ = (
        *("backend", "conversions", "implementation", "is_last", "is_plain", "override"),
        *("prioritized", "reason"),
    )

    def __init__(
        self,
        backend: str,
        implementation: Implementation | None = None,
        *,
        prioritized: bool = False,
        reason: str = "",
        conversions: Conversions | None = None,
        override: Callable[..., Any] | None = None,
    ) -> None:
        self.backend = backend
        self.implementation = implementation
        self.prioritized = prioritized
        self.reason = reason
        self.conversions = conversions
        self.override = override
        # Whether it answers only where nothing else does.
        self.is_last = conversions is not None or reason is LAST_RESORT
        # Whether it runs without `should_run`, with exactly the arguments of the call.
        self.is_plain = conversions is None
        if implementation is not None:
            self.is_plain = not (implementation.should_run or implementation.uses_context)


class Decision:
    """What happens in calls of one function with the same types, in one state.

    Attributes
    ----------
    policy : str or None
        The fallback policy; None if none applies.
    foreign : tuple of type
        The foreign types, and the overriding types without whose consent the default does not run.
    declined : str
        Why no policy lets the default run with the arguments of the call; else empty.
    is_operator : bool
        Whether a call that nothing takes returns ``NotImplemented``, so that others may answer.
    cycles : mapping of str to Cycle
        Skipped candidates, each with its cycle of declared edges.
    awaited : list of str
        Modules whose import may change the candidates.
    may_change : bool
        Whether an import or the registration of an abstract class may change them.
    """

    __slots__ = (
        *("_candidates", "awaited", "cycles", "decider", "declined", "foreign", "function"),
        *("_order", "after_overriding", "is_operator", "match", "may_change", "overriding"),
        *("policy", "state", "types"),
    )

    def __init__(
        self, decider: Decider, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> None:
        self.decider = decider
        self.function = function
        self.state = state
        self.types = types
        self.match: Match
        self._order: list[str] | None = None
        self._candidates: list[Step] | None = None
        self.overriding: tuple[type, ...] = ()
        self.after_overriding = False
        self.policy: str | None = None
        self.foreign: tuple[type, ...] = ()
        self.declined = ""
        self.is_operator = False
        self.cycles: dict[str, Cycle] = {}
        self.awaited: Sequence[str] = ()
        self.may_change = False

    @property
    def order(self) -> list[str]:
        """The backends that match and may answer, in order; the default if it matches."""
        if self._order is None:
            self._order = self.decider.order(self)
        return self._order

    @property
    def candidates(self) -> list[Step]:
        """The backends that a call may reach, in order."""
        if self._candidates is None:
            self._candidates = self.decider.find_candidates(self)
        return self._candidates

    @candidates.setter
    def candidates(self, steps: list[Step]) -> None:
        self._candidates = steps

    @property
    def first(self) -> Step | None:
        """The first candidate; others are not looked for if the user prioritizes one."""
        if self._candidates is None and not self.after_overriding:
            prioritized = self.match.prioritized()
            if prioritized and prioritized[0] != DEFAULT:
                return self.decider.step(self, prioritized[0])
        return self.candidates[0] if self.candidates else None

    @property
    def refuses(self) -> bool:
        """Whether the default does not run with the arguments of the call."""
        return bool(self.declined) or self.policy in ("raise", "convert")

    @property
    def converts(self) -> bool:
        """Whether backends may convert the arguments and the result."""
        return self.policy == "convert" and not self.is_operator

    @property
    def warns(self) -> bool:
        """Whether a warning may precede the default."""
        return self.policy == "warn" and not self.is_operator and not self.declined

    @property
    def has_end(self) -> bool:
        """Whether a call that no backend takes is more than a call of the default."""
        return self.policy is not None or bool(self.declined)

    def load(self, step: Step) -> Callable[..., Any]:
        """Return the callable of a step; an implementation is imported on first use."""
        if step.override is not None:
            return step.override
        if step.implementation is None:
            return self.function.default
        found = self.decider.load(self.function, step.backend, step.implementation.function)
        if self.decider.notify is not None:
            self.decider.notify(self.function.identifier, step.backend)
        return found

    def load_should_run(self, step: Step) -> Callable[..., Any] | None:
        """Return ``should_run``, imported on first use; None if there is none."""
        found = step.implementation
        if found is None or found.should_run is None:
            return None
        return self.decider.load(self.function, step.backend, found.should_run)

    def load_conversions(self, step: Step) -> tuple[Callable[..., Any], Callable[..., Any], Any]:
        """Return ``to_default``, ``from_default`` and ``copy_into``, imported on first use."""
        assert step.conversions is not None
        there, back, copy = step.conversions

        def load(identifier: str) -> Callable[..., Any]:
            return self.decider.load(self.function, step.backend, identifier)

        return load(there), load(back), None if copy is None else load(copy)

    def index_of(self, called: object) -> int | None:
        """Return the place of the plain candidate whose implementation is `called`.

        Implementations are compared, because a call that began before `reload` may have used an
        earlier decision.
        """
        for place, step in enumerate(self.candidates):
            if step.is_plain and self._is_implemented_by(step, called):
                return place
        return None

    def _is_implemented_by(self, step: Step, called: object) -> bool:
        if step.override is not None:
            # Each decision has its own function for them.
            made = getattr(called, "_overrides", None)
            return made is not None and made == getattr(step.override, "_overrides", None)
        if step.implementation is None:
            return called is self.function.default
        return self.decider.is_loaded(step.implementation.function, called)


class Decider:
    """Makes the decisions for the backends of one catalog.

    Everything that depends on a function alone is computed once, so that the cost of a new state
    does not grow with the number of backends. The caches have no locks: two threads may compute the
    same value.
    """

    def __init__(
        self,
        catalog: Catalog,
        fallback: str = "default",
        notify: Callable[[str, str], None] | None = None,
        protocol: str | None = None,
        override: Callable[[Decision, tuple[type, ...]], Callable[..., Any]] | None = None,
    ) -> None:
        """Take the `protocol` of the library, and what makes a callable of overriding types."""
        descriptions = catalog.descriptions
        self.catalog = catalog
        self.fallback = fallback
        self.notify = notify
        self.protocol = protocol
        self._override = override
        self.matcher = Matcher(descriptions)
        self.objects: dict[str, Any] = {}
        """What has been imported, by identifier."""
        self.block = catalog.environment.variable("BLOCK")
        set_order = catalog.environment.set_order
        self.placed = placed_backends(descriptions, set_order)
        self._stated_first = frozenset(first for first, _ in set_order)
        self._opt_in = frozenset(n for n, each in descriptions.items() if each.requires_opt_in)
        self._unmet = frozenset(n for n, each in descriptions.items() if each.unmet)
        self._implementers = _implementers(descriptions)
        self._every = [n for n, each in descriptions.items() if each.every and not each.unmet]
        self._with_every: dict[str, tuple[str, ...]] = {}
        self._sets: dict[str, frozenset[str]] = {}
        self.converters = frozenset(
            n for n, each in descriptions.items() if each.conversions and not each.unmet
        )
        self._orders: dict[Any, tuple[tuple[str, ...], Mapping[str, Cycle]]] = {}
        self._told: set[tuple[str, str]] = set()
        own = descriptions[DEFAULT].known_types if DEFAULT in descriptions else ()
        self._own_patterns = [each for each in own if each.prefix != ABSTRACT]

    def decide(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        *,
        after_overriding: bool = False,
    ) -> Decision:
        """Return the decision for calls with these types, which include the state's type.

        With `after_overriding`, an overriding type has taken the call, and asks for the rest.
        """
        decision = Decision(self, function, state, types)
        implementing = self.implementing(function.identifier)
        match = Match(self, state, types, implementing, function.counts)
        decision.match, decision.foreign = match, match.foreign
        decision.awaited = match.awaited
        decision.may_change = bool(decision.awaited) or match.depends_on_registration
        decision.overriding = self.overriding(function, types)
        decision.after_overriding = after_overriding
        self._settle_end(decision)
        if decision.converts and self.converters:
            found = self.as_conversions(decision).match
            decision.awaited = [*decision.awaited, *found.awaited]
            decision.may_change |= bool(found.awaited) or found.depends_on_registration
        return decision

    def find_candidates(self, decision: Decision) -> list[Step]:
        """Return the candidates of a decision in order."""
        state, overriding = decision.state, decision.overriding
        # Prioritized backends precede the overriding types, and have had their turns.
        skips = decision.after_overriding and bool(overriding)
        is_due = bool(overriding) and not skips
        steps = []
        for name in decision.order:
            if is_due and name not in state.prioritized:
                steps.append(self._overriding_step(decision))
                is_due = False
            if name == DEFAULT:
                is_due = False  # they would come after it
                break
            if not (skips and name in state.prioritized):
                steps.append(self.step(decision, name))
        if is_due:
            steps.append(self._overriding_step(decision))
        if not decision.refuses:
            reason = LAST_RESORT
            if decision.match.default_matches:
                reason = IS_CURRENT if decision.match.current == DEFAULT else ""
            steps.append(Step(DEFAULT, prioritized=DEFAULT in state.prioritized, reason=reason))
        elif decision.converts:
            steps.extend(self.conversions(decision))
        return steps

    def step(self, decision: Decision, name: str) -> Step:
        """Return the step of a backend that runs its implementation."""
        return Step(
            name,
            self.catalog.descriptions[name].implementation(decision.function.identifier),
            prioritized=name in decision.state.prioritized,
            reason=IS_CURRENT if name == decision.match.current else "",
        )

    def _settle_end(self, decision: Decision) -> None:
        """Decide how a call ends that no backend takes."""
        function, state, overriding = decision.function, decision.state, decision.overriding
        if decision.after_overriding:
            return  # the overriding type has taken the call: no policy applies
        traits = function.traits
        if traits is None:
            policy = state.fallback or self.fallback
        elif traits.compositional:
            policy = None
        else:
            policy = state.fallback or traits.fallback or self.fallback
        if DEFAULT in state.disabled and not function.is_adopted:
            decision.declined = (
                "the library's own implementation is disabled, and no backend runs it"
            )
            decision.policy = policy if decision.foreign else None
        if policy is None:
            return
        if function.is_adopted:
            decision.policy = policy
            decision.is_operator = function.others_may_answer(decision.types)
            decision.declined = "no backend runs it" + " or converts" * decision.converts
            return
        if overriding and not (decision.match.default_matches and DEFAULT in state.prioritized):
            declining = [cls for cls in overriding if not self._is_own(cls)]
            if declining:
                # By identity: a metaclass may define ==.
                known = {*map(id, decision.foreign)}
                new = [cls for cls in declining if id(cls) not in known]
                decision.foreign = (*decision.foreign, *new)
                names = ", ".join(map(type_identifier, decision.foreign))
                decision.declined = (
                    f"the library's own implementation is not made for {names}, and no method "
                    "took it"
                )
        if decision.foreign:
            decision.policy = policy
            decision.is_operator = is_operator(function)

    def overriding(self, function: Function, types: tuple[type, ...]) -> tuple[type, ...]:
        """Return the overriding types of a call, in the order in which they are asked."""
        if self.protocol is None or function.is_adopted:
            return ()
        return overriding_types(types, self.protocol)

    def _overriding_step(self, decision: Decision) -> Step:
        classes = decision.overriding
        assert self.protocol is not None
        assert self._override is not None
        names = ", ".join(map(type_identifier, classes))
        override = self._override(decision, classes)
        return Step(self.protocol, reason=f"the method of {names}", override=override)

    def _is_own(self, cls: type) -> bool:
        """Whether the library names a class itself, and not only a base class of it."""
        return any(pattern.distance(cls) == 0 for pattern in self._own_patterns)

    def order(self, decision: Decision) -> list[str]:
        """Return the candidates in order; the default ends them if it matches."""
        match = decision.match
        found = match.prioritized()
        names = match.others()
        chosen = names & (self.placed | {DEFAULT})
        installed = names - chosen
        known = installed & (match.specific | self._stated_first)
        for rank in (chosen, known, installed - known):
            ordered, cycles = self._order(rank, match.nearness)
            found += ordered
            decision.cycles.update(cycles)
        return found

    def _order(
        self, names: frozenset[str], nearness: tuple[tuple[frozenset[str], ...], ...]
    ) -> tuple[tuple[str, ...], Mapping[str, Cycle]]:
        """Order the candidates of one rank; return them, and the skipped ones with their cycles."""
        if len(names) < 2:
            return tuple(names), {}
        # Keys hold names alone, so that the cache keeps no class alive. Calls of many functions and
        # types have the same candidates.
        key = names, nearness
        ordered = self._orders.get(key)
        if ordered is None:
            if len(self._orders) >= _MOST_ORDERS:
                self._orders.clear()
            ordered = self._orders[key] = self._order_anew(names, nearness)
        return ordered

    def _order_anew(
        self, names: frozenset[str], nearness: tuple[tuple[frozenset[str], ...], ...]
    ) -> tuple[tuple[str, ...], Mapping[str, Cycle]]:
        descriptions, environment = self.catalog.descriptions, self.catalog.environment
        skipped: dict[str, Cycle] = {}
        left = [name for name in self.catalog.base_order if name in names]
        while True:
            order = order_backends(
                *([descriptions[name] for name in left], environment.set_order),
                *(environment.variable("SET_ORDER"), nearness),
            )
            on_cycles = {name: cycle for cycle in order.cycles for name in cycle.members}
            installed = {n: each for n, each in on_cycles.items() if not descriptions[n].in_code}
            if not installed:
                return order.names, skipped | on_cycles
            # Merely installed backends are skipped first. Then the library's own may be on no cycle
            # any more, so the rest is ordered again.
            skipped |= installed
            left = [name for name in left if name not in installed]

    def conversions(self, decision: Decision) -> list[Step]:
        """Return the steps of backends that convert for a call, in order.

        In addition to the rules of matching, every foreign type must be a primary type of the
        backend, because only objects of these are converted. Generator functions have none.
        """
        function = decision.function
        if not self.converters or function.nature & (GENERATOR | ASYNC_GENERATOR):
            return []
        needed = [self.matcher.match(cls).primary for cls in decision.foreign]
        return [
            self.conversion(name, name in decision.state.prioritized)
            for name in self.as_conversions(decision).order
            if name != DEFAULT and all(name in names for names in needed)
        ]

    def conversion(self, name: str, prioritized: bool = False) -> Step:
        """Return the step of a backend that converts."""
        found = self.catalog.descriptions[name].conversions
        return Step(name, prioritized=prioritized, reason=CONVERSION, conversions=found)

    def as_conversions(self, decision: Decision) -> Decision:
        """Return the same decision as if backends with conversions implemented every function.

        It has an order, and no candidates.
        """
        # The default gets converted arguments. If it matches the original ones, that must not
        # exclude merely installed backends.
        state = decision.state.replace(disabled=decision.state.disabled | {DEFAULT})
        found = Decision(self, decision.function, state, decision.types)
        found.match = Match(self, state, decision.types, self.converters | {DEFAULT})
        found.candidates = []
        return found

    def active(
        self, names: frozenset[str], state: DispatchState, default_matches: bool
    ) -> frozenset[str]:
        """Return the backends among `names` whose standing lets them answer.

        Callers decide about the default themselves.
        """
        if default_matches:
            names = (names & self.placed).union(names.intersection(state.prioritized))
        inactive = (names & self._opt_in).difference(state.prioritized) | (names & state.disabled)
        inactive |= names & self._unmet
        return names - inactive if inactive else names

    def why_inactive(self, name: str, state: DispatchState) -> str:
        """Say why a backend is inactive; empty if it is active."""
        description = self.catalog.descriptions[name]
        if description.unmet:
            return description.unmet
        if name in state.disabled:
            return "it is disabled"
        if description.requires_opt_in and name not in state.prioritized:
            return f"it requires opt-in: prioritize={name!r}"
        return ""

    def implementers(self, identifier: str) -> tuple[str, ...]:
        """Return the backends that implement a function, by priority; the default is one."""
        if not self._every:
            return self._implementers.get(identifier, (DEFAULT,))
        found = self._with_every.get(identifier)
        if found is None:
            descriptions = self.catalog.descriptions
            every = [n for n in self._every if identifier not in descriptions[n].absent]
            names = {DEFAULT, *every, *self._implementers.get(identifier, ())}
            found = tuple([name for name in descriptions if name in names])
            self._with_every[identifier] = found
        return found

    def implementing(self, identifier: str) -> frozenset[str]:
        """Return the same backends as a set."""
        found = self._sets.get(identifier)
        if found is None:
            found = self._sets[identifier] = frozenset(self.implementers(identifier))
        return found

    def invoked(
        self,
        function: Function,
        name: str,
        state: DispatchState,
        types: tuple[type, ...],
        ask: bool,
    ) -> Decision:
        """Return the decision of a call that names its backend, which need not match.

        Raises
        ------
        UnknownBackendError
            If there is no such backend.
        BackendDeferredError
            If it does not implement the function.
        """
        name = self.catalog.check_backend(name)
        implementers = self.implementers(function.identifier)
        if name not in implementers:
            names = ", ".join(shown(each, self.catalog.default_name) for each in implementers)
            reason = f"it does not implement it; these do: {names}"
            raise BackendDeferredError(name, function.identifier, reason)
        found = self.catalog.descriptions[name].implementation(function.identifier)
        if found is not None and not ask:
            found = found._replace(should_run=None)
        decision = Decision(self, function, state, types)
        decision.candidates = [Step(name, found, prioritized=True)]
        return decision

    def load(self, function: Function, backend: str, identifier: str) -> Callable[..., Any]:
        """Import what a backend names for a function.

        Raises
        ------
        ImplementationImportError
            If it cannot be imported.
        """
        if isinstance(identifier, GivenCallable):
            return identifier.given
        loaded: Callable[..., Any] | None = self.objects.get(identifier)
        if loaded is None:
            # No lock is needed: if two threads import it, both get the same object.
            try:
                found = import_identifier(identifier)
                if not callable(found):
                    raise ImportError(f"{identifier!r} is not callable: {found!r}")
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  # whatever the module raises
                cause = error.with_traceback(_of_backend(error.__traceback__))
                raise ImplementationImportError(
                    backend, function.identifier, identifier, self.block
                ) from cause
            loaded = self.objects[identifier] = found
        return loaded

    def warn_of_answer(self, function: Function, step: Step, answer: object) -> None:
        """Warn once of an answer of ``should_run`` that has no meaning."""
        key = function.identifier, step.backend
        if key in self._told or step.implementation is None:
            return
        self._told.add(key)
        from ._errors import warn_caller
        from .exceptions import SpatchCoreWarning

        warn_caller(
            SpatchCoreWarning(
                f"{step.implementation.should_run} of backend {step.backend!r} returned {answer!r} "
                f"for {function.identifier}, which counts as False: only True itself runs the "
                "backend. Return bool(...), a reason as a string, or IF_NEEDED"
            )
        )

    def is_loaded(self, identifier: str, called: object) -> bool:
        """Whether `called` is what a backend names; imports nothing."""
        if isinstance(identifier, GivenCallable):
            return identifier.given is called
        loaded: object = self.objects.get(identifier)
        if loaded is None:
            loaded = loaded_object(*split_identifier(identifier), hooks=False)
        return loaded is called

    def unique_types(self, types: Iterable[type], state: DispatchState) -> tuple[type, ...]:
        """Return the unique `types` in order of first appearance, and the state's type."""
        # By identity: a metaclass may define == and hash.
        unique = {id(cls): cls for cls in types}
        if state.type is not None:
            unique.setdefault(id(state.type), state.type)
        return tuple(unique.values())

    def check_type(self, cls: object) -> None:
        """Raise unless a class overrides, or is a primary type of any backend.

        Raises
        ------
        TypeError
            If it is not a class.
        UnknownTypeError
            If no backend has it as a primary type.
        """
        if not isinstance(cls, type):
            raise TypeError(f"type= takes a class, not {cls!r}")
        if self.matcher.match(cls).primary:
            return
        if self.protocol is not None and overrides(cls, self.protocol):
            return
        descriptions = self.catalog.descriptions.values()
        patterns = [str(pattern) for each in descriptions for pattern in each.primary_types]
        from .exceptions import UnknownTypeError

        raise UnknownTypeError(cls, dict.fromkeys(patterns))

    def why_void(self, before: str, after: str) -> str:
        """Say why an edge between two backends takes part in no call; empty if it may."""
        one, other = self.catalog.descriptions[before], self.catalog.descriptions[after]
        for each in (one, other):
            if each.requires_opt_in:
                return f"{each.name} is inactive, or prioritized and goes first"
        placed = self.placed | {DEFAULT}
        if (before in placed) != (after in placed):
            return "the library's own go before backends that are merely installed"
        if one.every or other.every:
            return ""
        if DEFAULT in (before, after):
            shares = bool(other.functions if before == DEFAULT else one.functions)
        else:
            shares = not set(one.functions).isdisjoint(other.functions)
        return "" if shares else "they implement no function in common"


def placed_backends(
    descriptions: Mapping[str, Description], set_order: Sequence[tuple[str, str]]
) -> frozenset[str]:
    """Return the in-code backends, and those that ``SET_ORDER`` puts before one or the default."""
    placed = {name for name, description in descriptions.items() if description.in_code}
    placed.add(DEFAULT)
    # Repeated, because a backend may be placed by a pair with one that is placed by another pair.
    while True:
        found = {first for first, second in set_order if second in placed} - placed
        if not found:
            return frozenset(placed) - {DEFAULT}
        placed |= found


def is_operator(function: Function) -> bool:
    """Whether a function is an operator, by its own name or that of its identifier."""
    name = function.identifier.rpartition(":")[2].rpartition(".")[2]
    # With `identifier=`, Python still calls the method by its own name.
    return name in OPERATORS or getattr(function.default, "__name__", None) in OPERATORS


def _implementers(descriptions: Mapping[str, Description]) -> dict[str, tuple[str, ...]]:
    """Return the backends that name each function, and the default, by priority."""
    found: dict[str, list[str]] = {}
    before: list[str] = []  # holds the default once the loop has passed it
    for name, description in descriptions.items():
        if name == DEFAULT:
            for names in found.values():
                names.append(DEFAULT)
            before = [DEFAULT]
        for identifier in () if description.unmet else description.functions:
            found.setdefault(identifier, [*before]).append(name)
    return {identifier: tuple(names) for identifier, names in found.items()}


def _of_backend(traceback: TracebackType | None) -> TracebackType | None:
    """Leave out the first frames of a failed import, which are those of the import system."""
    found = traceback
    while found is not None:
        name = str(found.tb_frame.f_globals.get("__name__"))
        if name.partition(".")[0] not in ("importlib", "_frozen_importlib", __package__):
            return found
        found = found.tb_next
    return None
