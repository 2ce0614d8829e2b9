"""The decision of a call: every backend with its step, and how the call ends.

A `Decision` is made once for a function, a state and dispatch types, when a table is first asked
for them. The call walks the steps that may answer (`_call`); explanations, errors and notes render
all of them (`_explain`). Which backends may answer, match, and precede others is said in
`_backends`, where the golden rule stands. The steps of a call are:

1. the prioritized backends that match;
2. the overriding types, together;
3. the other backends that match, the default in its place among them;
4. if the policy is ``"convert"``, the backends that convert for the default;
5. the default, unless the policy refuses.

**The end** of a call that no backend takes: a *foreign type* is a dispatch type that is neither one
of Python's own classes nor known to the library. For calls with foreign types, the fallback policy
of the block counts, else that of the function, else that of the library. ``"default"`` runs the
default anyway, ``"warn"`` does so with a warning, ``"raise"`` and ``"convert"`` refuse; the latter
tries the conversions of backends before.
"""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from ._backends import Backends, Match
from ._description import EVERY
from ._matching import overriding_types
from ._order import CYCLE
from ._patterns import DEFAULT, is_awaited, type_identifier
from ._state import DispatchState
from ._wrapper import ASYNC_GENERATOR, GENERATOR

if TYPE_CHECKING:
    from ._description import Conversions, Implementation
    from ._function import Function

RETURNED = "it returned NotImplemented"
POSTPONED = "it said IF_NEEDED: it runs if no other one does"
LAST_RESORT = "no backend takes the call"
IS_CURRENT = "it is the current backend, and the types say nothing"

_OPERATIONS = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or", "lt", "le", "eq", "ne", "gt", "ge"),
)
# Methods whose `NotImplemented` lets Python ask the other operand; comparisons have no other form.
OPERATORS = frozenset(f"__{form}{name}__" for form in ("", "r", "i") for name in _OPERATIONS)


class IfNeeded:
    """The type of `IF_NEEDED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "IF_NEEDED"

    def __reduce__(self) -> str:
        return "IF_NEEDED"


IfNeeded.__module__ = f"{__package__}.backend_utils"  # the path in pickles
IF_NEEDED = IfNeeded()
"""The answer of a ``should_run`` whose backend runs only if no other one does."""


class Verdict(str, Enum):
    """The role of one backend in one call."""

    RUNS = "runs"
    LATER = "comes later"
    ASKED = "would be asked"
    DEFERS = "defers"
    INACTIVE = "inactive"
    SKIPPED = "is skipped"
    NO_MATCH = "does not match"
    CONVERTS = "would convert"
    CANNOT_CONVERT = "cannot convert"
    REFUSES = "would refuse"
    RAISES = "would raise"
    NO_IMPLEMENTATION = "has no implementation"

    __str__ = str.__str__


class Step(NamedTuple):
    """One backend in one decision.

    A candidate runs the implementation of a backend; the default (without an `implementation`); the
    default with arguments that a backend converts; or the methods of the overriding types. Any
    other step says by its `verdict` and its `reason` why it is no candidate.
    """

    backend: str
    implementation: Implementation | None = None
    verdict: Verdict = Verdict.RUNS
    prioritized: bool = False
    reason: str = ""
    """Why it is a candidate, if its types alone do not make it one; or why it is none."""
    conversions: Conversions | None = None
    override: Callable[..., Any] | None = None
    """Calls the methods of the overriding types."""
    is_last: bool = False
    """Whether it answers only where nothing else does."""

    @property
    def may_answer(self) -> bool:
        """Whether it is a candidate."""
        return self.verdict is Verdict.RUNS or self.verdict is Verdict.CONVERTS

    @property
    def is_plain(self) -> bool:
        """Whether it runs without `should_run`, with exactly the arguments of the call."""
        found = self.implementation
        if found is None:
            return self.conversions is None
        return not (found.should_run or found.uses_context)


class Decision:
    """What happens in calls of one function with the same types, in one state."""

    match: Match
    """The backends that match, and their order; not set if the call names its backend."""
    overriding: tuple[type, ...] = ()
    """The overriding types, in the order in which they are asked."""
    policy: str | None = None
    """The fallback policy; None if none applies."""
    foreign: tuple[type, ...] = ()
    """The foreign types, and the overriding types whose consent the default needs."""
    declined = ""
    """Why no policy lets the default run with the arguments of the call; else empty."""
    remedy = ""
    """What would help instead of other options if it is declined."""
    is_operator = False
    """Whether a call that nothing takes returns ``NotImplemented``, so that others may answer."""
    sole = False
    """Whether the backend is fixed, by `invoke` or by the instance, and may not defer."""
    rest: Decision | None = None
    """What ``call_next`` of the sole backend goes on with; None if it may not."""
    awaited: Sequence[str] = ()
    """Modules whose import may change the candidates."""
    token: Any = None
    """The result of `abc.get_cache_token` if an import or a registration may change them."""
    _candidates: list[Step] | None = None
    _change: Callable[[list[Step]], list[Step]] | None = None
    _first: Step | None = None
    _runs_bare: bool | None = None
    _after_overriding: Decision | None = None

    def __init__(
        self, backends: Backends, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> None:
        self.backends = backends
        self.function = function
        self.state = state
        self.types = types

    def _replace(self, **fields: Any) -> Decision:
        """Return the same decision with other values in some of its fields."""
        made = Decision.__new__(Decision)
        made.__dict__ |= self.__dict__ | fields  # as `copy.copy` does it, in a third of the time
        return made

    def with_candidates(self, candidates: list[Step], *, sole: bool = False) -> Decision:
        """Return the same decision with other candidates, which do not change."""
        made = self._replace(_candidates=candidates, token=None, sole=sole)
        made._first = made._runs_bare = made._after_overriding = None
        return made

    def changed(self, change: Callable[[list[Step]], list[Step]]) -> Decision:
        """Return the same decision with other steps, which `change` makes of those of this one."""
        made = self.with_candidates([each for each in change(self.candidates) if each.may_answer])
        made._change = change
        return made

    def for_types(self, types: Iterable[type]) -> Decision:
        """Return the decision of the same call with other dispatch arguments."""
        unique = unique_types(types, self.state)
        # By identity: a metaclass may define ==.
        if [*map(id, unique)] == [*map(id, self.types)]:
            return self
        if self.sole:
            return self._replace(types=unique)
        return decide(self.backends, self.function, self.state, unique)

    def current(self) -> Decision:
        """Return the decision; another one if an import or a registration may have changed it."""
        token = self.token
        if token is None or (token == get_cache_token() and all(map(is_awaited, self.awaited))):
            return self
        self.backends.matcher.forget()
        self.backends.keeper.forget_tables()  # so that the next call does not come here
        return decide(self.backends, self.function, self.state, self.types)

    # The end.

    @property
    def refuses(self) -> bool:
        """Whether the default does not run with the arguments of the call."""
        return bool(self.declined) or self.policy in ("raise", "convert")

    @property
    def converts(self) -> bool:
        """Whether backends may convert the arguments and the result, for the default to run."""
        return self.policy == "convert" and not self.is_operator and not self.default_is_disabled

    @property
    def default_is_disabled(self) -> bool:
        """Whether the library's own implementation is left out; another library's never is."""
        return DEFAULT in self.state.disabled and not self.function.is_adopted

    @property
    def default_name(self) -> str:
        """The name of the default in texts; that of another library's function is no library's."""
        return DEFAULT if self.function.is_adopted else self.backends.catalog.default_name

    @property
    def warns(self) -> bool:
        """Whether a warning may precede the default."""
        return self.policy == "warn" and not self.is_operator and not self.declined

    @property
    def has_end(self) -> bool:
        """Whether a call that no backend takes is more than a call of the default."""
        return self.policy is not None or bool(self.declined)

    @property
    def is_bare(self) -> bool:
        """Whether the first implementation can be called without more ado."""
        first = self.first
        return (
            first is not None
            and first.is_plain
            and self.state.trace is None
            and not (first.backend == DEFAULT and self.warns)
        )

    @property
    def runs_bare(self) -> bool:
        """Whether calls by this decision begin with the first implementation, without a walk."""
        # Kept, unlike `is_bare`, which only the maker of a table's entry asks.
        if self._runs_bare is None:
            needs_answer = self.sole or self.function.memory is not None or self.backends.defer_on
            self._runs_bare = self.is_bare and not needs_answer
        return self._runs_bare

    def settle_end(self) -> None:
        """Decide how a call ends that no backend takes."""
        function, state = self.function, self.state
        policy: str | None = None
        if not function.compositional:
            policy = state.fallback or function.fallback or self.backends.fallback
        # Also for the library's own types, and for compositional functions.
        if self.default_is_disabled:
            self.declined = "the library's own implementation is disabled, and no backend runs it"
        if policy is None:
            return
        if function.is_adopted:
            # Its default is another library's function, which has called this one.
            self.policy = policy
            self.is_operator = function.others_may_answer(self.types)
            self.declined = "no backend runs it" + " or converts" * self.converts
            return
        # A class that the library names itself may decline: the default is made for it.
        declining = [cls for cls in self.overriding if not self.backends.is_own(cls)]
        if declining and not (self.match.default_matches and DEFAULT in state.prioritized):
            # They count as foreign, though the library may know base classes of them. By identity:
            # a metaclass may define ==.
            known = {*map(id, self.foreign)}
            self.foreign = (*self.foreign, *[cls for cls in declining if id(cls) not in known])
            names = ", ".join(map(type_identifier, self.foreign))
            self.declined = (
                f"the library's own implementation is not made for {names}, and no method took it"
            )
        if self.foreign:
            self.policy = policy
            # With `identifier=`, Python still calls the method by its own name.
            own = getattr(function.default, "__name__", None)
            public = function.identifier.rpartition(":")[2].rpartition(".")[2]
            self.is_operator = own in OPERATORS or public in OPERATORS

    # The steps that a call may reach.

    @property
    def candidates(self) -> list[Step]:
        """The steps that a call may reach, in order."""
        # Found when they are first needed: many calls need the first one alone.
        if self._candidates is None:
            found = []
            for step in self._chosen():
                if step.may_answer:
                    found.append(step)
                if step.backend == DEFAULT:
                    break  # no call goes beyond; a refusal raises, or returns NotImplemented
            if self.converts:
                found += [each for each in self.conversion_steps() if each.may_answer]
            self._candidates = found
        return self._candidates

    @property
    def first(self) -> Step | None:
        """The first candidate; others are not looked for if the user prioritizes one."""
        # A block that prioritizes a backend is often entered for a single call.
        if self._first is None:
            prioritized = self.match.prioritized() if self._candidates is None else []
            if prioritized and prioritized[0] != DEFAULT:
                self._first = self._step(prioritized[0])
            elif self.candidates:
                self._first = self.candidates[0]
        return self._first

    def _chosen(self) -> Iterator[Step]:
        """Yield the steps of the backends that match, of overriding types, and of the default."""
        is_due, is_later = bool(self.overriding), False
        for name in self.match.order:
            # The user's choice goes before that of a class.
            if is_due and name not in self.state.prioritized:
                yield self._overriding_step()
                is_due = False
            if name == DEFAULT:
                yield self._default()
                is_due, is_later = False, True
            else:
                yield Step(name, verdict=Verdict.LATER) if is_later else self._step(name)
        if is_due:
            yield self._overriding_step()
        if not self.match.default_matches:
            yield self._default()

    def after_overriding(self) -> Decision:
        """Return the decision for a call that an overriding type has taken: it asks for the rest.

        The default may run for the overriding types, which have agreed.
        """
        if self._after_overriding is None:
            agreed = {*map(id, self.overriding)}  # by identity: a metaclass may define ==
            foreign = tuple([cls for cls in self.match.foreign if id(cls) not in agreed])
            free = Decision(self.backends, self.function, self.state, self.types)
            free.match, free.foreign = self.match, foreign
            free.settle_end()
            # Prioritized backends precede the overriding types, and have had their turns.
            rest = [
                step
                for step in free.candidates
                if not (agreed and step.prioritized and step.implementation is not None)
            ]
            self._after_overriding = free.with_candidates(rest)
        return self._after_overriding

    def _step(self, name: str) -> Step:
        """Return the step of a backend that runs its implementation."""
        return Step(
            name,
            # By the function's own table, or by that of every function.
            self.backends.catalog.descriptions[name].implementation(self.function.identifier),
            prioritized=name in self.state.prioritized,
            reason=IS_CURRENT if name == self.match.current else "",
        )

    def _overriding_step(self) -> Step:
        backends, names = self.backends, ", ".join(map(type_identifier, self.overriding))
        assert backends.protocol is not None
        # One step for all of them: they ask each other by `NotImplemented`, as NEP 18 says.
        override = self.function.override(self.overriding, backends.protocol)
        return Step(backends.protocol, reason=f"the method of {names}", override=override)

    def _default(self) -> Step:
        """Return the step of the default."""
        if not self.refuses:
            is_last, reason = not self.match.default_matches, LAST_RESORT
            if not is_last:
                reason = IS_CURRENT if self.match.current == DEFAULT else ""
            prioritized = DEFAULT in self.state.prioritized
            return Step(DEFAULT, prioritized=prioritized, reason=reason, is_last=is_last)
        if self.function.is_adopted:
            reason = "the library does not own the function, and only lets backends answer"
        elif self.declined:
            reason = self.declined
        elif self.is_operator:
            reason = f"fallback={self.policy!r}: an operator returns NotImplemented to Python"
        else:
            names = ", ".join(map(type_identifier, self.foreign))
            reason = f"fallback={self.policy!r}, and the library's own types do not include {names}"
        return Step(DEFAULT, verdict=Verdict.REFUSES, reason=reason, is_last=True)

    # The steps of all backends, for explanations.

    @property
    def steps(self) -> list[Step]:
        """A step for each backend, in the order in which a call considers them."""
        # Not kept: errors and explanations are rare, and their reasons are long. And not made of
        # `candidates`, which may have been replaced.
        match, chosen = self.match, [*self._chosen()]
        # Where the default does not match, it has no place in the order.
        end = [] if match.default_matches else [chosen.pop()]
        steps = [*self._in_turn(match, chosen), *end]
        if self.converts:
            place = [each.backend for each in steps].index(DEFAULT)
            steps[place:place] = self.conversion_steps()
        return steps if self._change is None else self._change(steps)

    def _in_turn(self, match: Match, chosen: Sequence[Step]) -> Iterator[Step]:
        """Yield the chosen steps in their order, and all other backends in their places."""
        # The n-th place that a chosen backend has in the order of all gets the n-th chosen step: a
        # call may order them otherwise. Overriding types have no place, so the chosen steps after
        # them move back by one.
        names, following = {each.backend for each in chosen}, iter(chosen)
        for name in match.state.ordered(self.backends.catalog.descriptions):
            if name in names:
                yield next(following)
            elif name != DEFAULT:
                yield self._no_candidate(match, name)
        yield from following

    def _no_candidate(self, match: Match, name: str) -> Step:
        """Return the step of a backend that may not answer."""
        backends, function, state = self.backends, self.function, match.state
        description = backends.catalog.descriptions[name]
        # First: to prioritize a backend that lacks the function would change nothing.
        if name not in match.implementing and not description.unmet:
            absent = description.absent
            reason = absent.get(function.identifier) or absent.get(EVERY, "")
            return Step(name, verdict=Verdict.NO_IMPLEMENTATION, reason=reason)
        # It matches, but is in no order of these candidates.
        if name in match.cycles:
            cycle, catalog = match.cycles[name], backends.catalog
            path, variable = cycle.in_words(catalog.default_name), backends.set_order_variable
            reason = f"{CYCLE}: {path}. Set {variable}={cycle.set_order!r}"
            return Step(name, verdict=Verdict.SKIPPED, reason=reason)
        inactive = backends.why_inactive(name, state)
        if inactive and not description.unmet:
            # No advice to opt in where that cannot help: with the backend active, would it match?
            active = DispatchState((name,)).within(state)
            match = Match(backends, active, self.types, match.implementing, function.counts)
        if not description.unmet and not match.fits(name):
            return Step(name, verdict=Verdict.NO_MATCH, reason=match.why_not(name))
        if inactive:
            return Step(name, verdict=Verdict.INACTIVE, reason=inactive)
        reason = "the default keeps the library's own types unless a backend is prioritized"
        return Step(name, verdict=Verdict.LATER, reason=reason)

    # Conversions.

    def converting(self) -> Match:
        """Return the match of the call as if backends with conversions implemented it all."""
        # The default gets converted arguments. If it matches the original ones, that must not
        # exclude merely installed backends.
        state = self.state.replace(disabled=self.state.disabled | {DEFAULT})
        return Match(self.backends, state, self.types, self.backends.converters)

    def conversion_steps(self) -> list[Step]:
        """Return the steps of the backends that have conversions, in order."""
        converters = self.backends.converters
        if not converters:
            return []
        match = self.converting()
        found = self._in_turn(match, [Step(name) for name in match.order])
        return [self._conversion_step(each) for each in found if each.backend in converters]

    def _conversion_step(self, step: Step) -> Step:
        """Return the step of a backend that converts if it is a candidate, and if it can."""
        name, reason, backends = step.backend, step.reason, self.backends
        # In addition to the rules of matching, every foreign type must be a primary type of the
        # backend, because only objects of these are converted.
        others = [c for c in self.foreign if name not in backends.matcher.match(c).primary]
        obstacle = ""
        if others:
            obstacle = f"{type_identifier(others[0])} is no primary type of it"
        elif self.function.nature & (GENERATOR | ASYNC_GENERATOR):
            obstacle = "it is a generator function, whose items would not be converted"
        if step.verdict is Verdict.RUNS:
            reason = obstacle or "through its conversions"
        # An inactive one has its conversions, too, if to prioritize it would help.
        converts = not obstacle and step.verdict in (Verdict.RUNS, Verdict.INACTIVE)
        runs = converts and step.verdict is Verdict.RUNS
        return Step(
            name,
            verdict=Verdict.CONVERTS if runs else Verdict.CANNOT_CONVERT,
            prioritized=name in self.state.prioritized,
            reason=reason,
            conversions=backends.catalog.descriptions[name].conversions if converts else None,
            is_last=True,
        )

    # What the steps name, imported on first use.

    def load(self, step: Step) -> Callable[..., Any]:
        """Return the callable of a step."""
        if step.override is not None:
            return step.override
        if step.implementation is None:
            return self.function.default
        found = self.backends.load(self.function, step.backend, step.implementation.function)
        # Here, because every way to run an implementation loads it first.
        if self.backends.notify is not None:
            self.backends.announce(self.function.identifier, step.backend)
        return found

    def load_should_run(self, step: Step) -> Callable[..., Any] | None:
        """Return ``should_run``; None if there is none."""
        found = step.implementation
        if found is None or found.should_run is None:
            return None
        return self.backends.load(self.function, step.backend, found.should_run)

    def candidate_of(self, called: object) -> Step | None:
        """Return the plain candidate whose implementation is `called`."""
        # Implementations are compared, not steps: a call that began before `reload` may have used
        # an earlier decision. Each decision has its own function for overriding types.
        overrides = getattr(called, "_overrides", None)
        for step in self.candidates:
            if step.override is not None:
                is_called = overrides == getattr(step.override, "_overrides", ())
            elif step.implementation is None:
                is_called = called is self.function.default
            else:
                is_called = self.backends.is_loaded(step.implementation.function, called)
            if is_called and step.is_plain:
                return step
        return None


def unique_types(types: Iterable[type], state: DispatchState) -> tuple[type, ...]:
    """Return the unique `types` in order of first appearance, and the state's type."""
    # By identity: a metaclass may define == and hash.
    unique = {id(cls): cls for cls in types}
    if state.type is not None:
        unique.setdefault(id(state.type), state.type)
    return tuple(unique.values())


def decide(
    backends: Backends, function: Function, state: DispatchState, types: Iterable[type]
) -> Decision:
    """Return the decision for calls with dispatch arguments of these types."""
    # Read first: a class that is registered meanwhile makes the decision stale.
    token = get_cache_token()
    unique = unique_types(types, state)
    decision = Decision(backends, function, state, unique)
    implementing = backends.implementing(function.identifier)
    match = Match(backends, state, unique, implementing, function.counts)
    decision.match, decision.foreign = match, match.foreign
    matches = [match]
    if backends.protocol is not None and not function.is_adopted:
        decision.overriding = overriding_types(unique, backends.protocol)
    decision.settle_end()
    # Conversions have candidates of their own, which other imports may change.
    if decision.converts and backends.converters:
        matches.append(decision.converting())
    decision.awaited = [module for each in matches for module in each.awaited]
    if decision.awaited or any(each.depends_on_registration for each in matches):
        decision.token = token
    if decision.has_end:
        backends.with_end.add(function.identifier)
    return decision
