"""From dispatch types and dispatch state to the candidates, and to what the tables hold."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .._call.chain import Candidate, Chain, Demanded, Guard, is_final
from .._classes import type_identifier
from .._discovery.catalog import Catalog
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT
from .._state.keeper import StateKeeper
from .._state.state import DispatchState
from ..exceptions import BackendDeferredError, UnknownTypeError
from .explanation import ExplainedBackend, Explanation, Verdict
from .matching import Matcher, TypeMatch


class Resolver:
    """Decides what a library's functions call.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    keeper : StateKeeper
        Whose tables are forgotten when answers change.
    """

    def __init__(self, catalog: Catalog, keeper: StateKeeper) -> None:
        self.catalog = catalog
        self.keeper = keeper
        self.matcher = Matcher(catalog.descriptions)
        self._block = catalog.environment.variable("BLOCK")
        self._placed = _placed_on_purpose(catalog)
        self._implementers: dict[str, list[str]] = {}
        self._loaded: dict[str, Any] = {}
        self._not_active = frozenset(
            name for name, each in catalog.descriptions.items() if each.requires_opt_in
        ) | {DEFAULT}
        # Worked out once for each function, so that a new state costs the same however many
        # backends there are.
        self._deciding: dict[tuple[str, frozenset[str]], frozenset[str]] = {}
        self._candidates: dict[tuple[Function, str, bool, str], Candidate] = {}
        self._unasked: dict[tuple[Function, str], Candidate] = {}
        implementers = self._implementers
        before: list[str] = []  # what goes before the first backend that implements a function
        for name, description in catalog.descriptions.items():
            if name == DEFAULT:
                for names in implementers.values():
                    names.append(DEFAULT)
                before = [DEFAULT]
            for identifier in description.functions:
                if identifier in implementers:
                    implementers[identifier].append(name)
                else:
                    implementers[identifier] = [*before, name]

    def types(self, values: Iterable[Any], state: DispatchState) -> tuple[type, ...]:
        """Return the dispatch types of a call.

        Parameters
        ----------
        values : iterable
            The dispatch arguments that were given and are not None.
        state : DispatchState
            The state in force.

        Returns
        -------
        tuple of type
            The unique types in order of first appearance, and the state's own at the end.
        """
        return self.unique_types(map(type, values), state)

    def unique_types(self, types: Iterable[type], state: DispatchState) -> tuple[type, ...]:
        """Return the unique `types` in order of first appearance, and the state's own."""
        # By identity: a metaclass may define == and hash.
        unique = {id(cls): cls for cls in types}
        if state.type is not None:
            unique.setdefault(id(state.type), state.type)
        return tuple(unique.values())

    def check_type(self, cls: object) -> None:
        """Raise unless `cls` is a primary type of any backend, the library among them.

        Raises
        ------
        TypeError
            If it is not a class.
        UnknownTypeError
            If no backend has it as a primary type.
        """
        if not isinstance(cls, type):
            raise TypeError(f"type= takes a class, not {cls!r}")
        if not self.matcher.match(cls).primary:
            patterns = [
                str(pattern)
                for description in self.catalog.descriptions.values()
                for pattern in description.primary_types
            ]
            raise UnknownTypeError(cls, dict.fromkeys(patterns))

    def implementers(self, identifier: str) -> Sequence[str]:
        """Return the names of the backends that implement a function, by priority."""
        return self._implementers.get(identifier, (DEFAULT,))

    def docs(self, identifier: str) -> str:
        """Return the section about backends for a function's docstring; may be empty."""
        lines = []
        for name in self.implementers(identifier):
            if name != DEFAULT:
                implementation = self.catalog.descriptions[name].functions[identifier]
                lines.append(f"{name}")
                text = implementation.additional_docs.strip() or "No further notes."
                lines += [f"    {line}".rstrip() for line in text.splitlines()]
        return "\n".join(["Backends", "--------", *lines]) if lines else ""

    def candidates(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Iterator[Candidate]:
        """Yield who may answer a call, in order; the default is the last.

        Parameters
        ----------
        function : Function
            The library's function.
        state : DispatchState
            The state in force.
        types : tuple of type
            The dispatch types, the state's own among them.
        """
        relevant = self._relevant(function, state, types)
        default_matches = self._default_matches(state, relevant)
        for name in state.ordered(self.implementers(function.identifier)):
            if name == DEFAULT:
                if default_matches:
                    yield self.candidate(function, DEFAULT, state)
                    return
            elif self._verdict(name, state, relevant, default_matches) is None:
                yield self.candidate(function, name, state)
        yield self.candidate(function, DEFAULT, state, _FALLBACK)

    def candidate(
        self, function: Function, name: str, state: DispatchState, reason: str = ""
    ) -> Candidate:
        """Return the candidate of one backend, which must implement the function."""
        key = function, name, name in state.prioritized, reason
        candidate = self._candidates.get(key)
        if candidate is None:
            candidate = self._candidates[key] = Candidate(
                name,
                function,
                self.catalog.descriptions[name].functions.get(function.identifier),
                name in state.prioritized,
                self._block,
                reason,
                self._loaded,
            )
        return candidate

    def target(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Callable[..., Any]:
        """Return what the table holds for a call of these types.

        That is the implementation itself where nothing has to be asked; whoever calls it
        tries the rest of the chain (`deferred`) should it return ``NotImplemented``.
        """
        # Read first: what is registered while the candidates are found makes them stale.
        token = abc.get_cache_token()
        candidates = self.candidates(function, state, types)
        first = next(candidates)
        decides = self._any_is_asked_for if self._is_settled(state, types) else self._any_decides
        awaited = [
            alias.module
            for cls in types
            for alias in self.matcher.match(cls).aliases
            if decides(self.matcher.backends_of(alias), function, state)
        ]
        if awaited or decides(self.matcher.abstract, function, state):
            chain = Chain(function, types, [first, *candidates], state.trace)
            return Guard(chain, token, awaited, self._renewal(function, state))
        if state.trace is None and first.is_plain:
            return first.load()
        return Chain(function, types, [first, *candidates], state.trace).target()

    def call(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call a function as it would be in a state that is not in force."""
        target = self.target(function, state, types)
        result = target(*args, **kwargs)
        if result is NotImplemented and not self.is_final(target):
            return self.chain(function, state, types).after(target)(*args, **kwargs)
        return result

    def is_final(self, target: object) -> bool:
        """Whether what the table held has tried the whole chain by itself."""
        return is_final(target)

    def chain(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Chain:
        """Return the chain of all candidates."""
        return Chain(function, types, [*self.candidates(function, state, types)], state.trace)

    def demanded(
        self, function: Function, name: str, state: DispatchState, types: tuple[type, ...]
    ) -> Chain:
        """Return the chain of one backend alone, whatever its types; it is not asked.

        Raises
        ------
        BackendDeferredError
            If it does not implement the function.
        """
        candidate = self._unasked.get((function, name))
        if candidate is None:
            implementers = self.implementers(function.identifier)
            if name not in implementers:
                raise BackendDeferredError(
                    name,
                    function.identifier,
                    f"it does not implement it; these do: {', '.join(implementers)}",
                )
            candidate = _unasked(self.candidate(function, name, state))
            self._unasked[function, name] = candidate
        return Demanded(function, types, [candidate], state.trace)

    def explain(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        call: tuple[tuple[Any, ...], dict[str, Any]] | None,
    ) -> Explanation:
        """Say what would run for a call, and why; runs no implementation.

        Parameters
        ----------
        function : Function
            The library's function.
        state : DispatchState
            The state in force.
        types : tuple of type
            The dispatch types.
        call : tuple of (tuple, dict) or None
            The arguments, with which ``should_run`` is asked; None if they are not known.

        Raises
        ------
        ImplementationImportError
            If a ``should_run`` cannot be imported.
        """
        relevant = self._relevant(function, state, types)
        default_matches = self._default_matches(state, relevant)
        implementers = self.implementers(function.identifier)
        names = list(state.ordered(self.catalog.descriptions))
        if not default_matches:
            names.remove(DEFAULT)
            names.append(DEFAULT)

        explained: list[ExplainedBackend] = []
        selected: str | None = None
        runs = asked = False
        for name in names:
            judged: tuple[Verdict, str] | None = None
            if name != DEFAULT:
                verdict = self._verdict(name, state, relevant, default_matches)
                # `_verdict` looks no further once it is none: it may not come at all.
                if verdict is Verdict.LATER and not _matches(name, relevant):
                    verdict = Verdict.NO_MATCH
                if name not in implementers and verdict is not Verdict.INACTIVE:
                    judged = Verdict.NO_IMPLEMENTATION, ""
                elif verdict is not None:
                    judged = verdict, _reason(verdict, name, state, relevant)
            if judged is None and runs:
                judged = Verdict.LATER, ""
            elif judged is None:
                candidate = self.candidate(function, name, state)
                judged = self._ask(candidate, types, call)
                if judged is None:
                    runs = True
                    selected = None if asked else name
                    reason = "" if name != DEFAULT or default_matches else _FALLBACK
                    judged = Verdict.RUNS, "unless one above does" if asked else reason
                asked = asked or judged[0] is Verdict.ASKED
            explained.append(ExplainedBackend(name, *judged))
        return Explanation(function.identifier, types, selected, tuple(explained))

    def _ask(
        self,
        candidate: Candidate,
        types: tuple[type, ...],
        call: tuple[tuple[Any, ...], dict[str, Any]] | None,
    ) -> tuple[Verdict, str] | None:
        if candidate.implementation is None or candidate.implementation.should_run is None:
            return None
        if call is None:
            return Verdict.ASKED, f"{candidate.implementation.should_run} decides"
        args, kwargs = call
        reason = candidate.ask(candidate.context(types, args, kwargs), args, kwargs)
        return None if reason is None else (Verdict.DEFERS, reason)

    def _any_decides(self, names: frozenset[str], function: Function, state: DispatchState) -> bool:
        """Whether the types of any of `names` matter for a function, in this state.

        The golden rule: a backend that nobody asked for, and that does not implement the
        function, changes nothing by knowing a type.
        """
        return bool(names) and (
            _any_prioritized(names, state)
            or DEFAULT in names
            or not self._implementing(names, function) <= state.disabled
            or not self._placed_of(names) <= state.disabled
        )

    def _is_settled(self, state: DispatchState, types: tuple[type, ...]) -> bool:
        """Whether the library itself matches, whatever more becomes known of the types.

        Then no backend goes before it that nobody asked for.
        """
        if DEFAULT in state.disabled:
            return False
        matches = [self.matcher.match(cls) for cls in types]
        return all(DEFAULT in each.known for each in matches) and any(
            DEFAULT in each.primary for each in matches
        )

    def _any_is_asked_for(
        self, names: frozenset[str], function: Function, state: DispatchState
    ) -> bool:
        """Whether any of `names` may go before the library where that matches."""
        return bool(names) and (
            _any_prioritized(names, state) or not self._placed_of(names) <= state.disabled
        )

    def _implementing(self, names: frozenset[str], function: Function) -> frozenset[str]:
        """Return those of `names` that implement a function and are active unless disabled."""
        identifier = function.identifier
        found = self._deciding.get((identifier, names))
        if found is None:
            found = names.intersection(self.implementers(identifier)) - self._not_active
            self._deciding[identifier, names] = found
        return found

    def _placed_of(self, names: frozenset[str]) -> frozenset[str]:
        """Return those of `names` that are placed on purpose, and active unless disabled."""
        found = self._deciding.get(("", names))
        if found is None:
            found = self._deciding["", names] = (names & self._placed) - self._not_active
        return found

    def _relevant(
        self, function: Function, state: DispatchState, types: Iterable[type]
    ) -> list[_Relevant]:
        """Return the types that any of the deciding backends knows, and how they match.

        A type counts for those that do not know it, unless only backends know it that were
        merely installed, and that only accept it or are for Python's own floats or lists.
        That is the golden rule again.
        """
        relevant = []
        for cls in types:
            match = self.matcher.match(cls)
            known = match.known
            if not known:
                continue
            if (
                _any_prioritized(known, state)
                or DEFAULT in known
                or not self._placed_of(known) <= state.disabled
                or (
                    not match.is_builtin
                    and not self._implementing(match.primary, function) <= state.disabled
                )
            ):
                relevant.append(_Relevant(cls, match, counts=True))
            elif not self._implementing(known, function) <= state.disabled:
                relevant.append(_Relevant(cls, match, counts=False))
        return relevant

    def _is_asked_for(self, name: str, state: DispatchState) -> bool:
        """Whether anybody wants the backend besides whoever installed it."""
        return name in state.prioritized or name in self._placed

    def _default_matches(self, state: DispatchState, relevant: Sequence[_Relevant]) -> bool:
        return DEFAULT not in state.disabled and _matches(DEFAULT, relevant)

    def _verdict(
        self,
        name: str,
        state: DispatchState,
        relevant: Sequence[_Relevant],
        default_matches: bool,
    ) -> Verdict | None:
        """Return why a backend is no candidate whatever it implements, None if it may be."""
        if name in state.disabled:
            return Verdict.INACTIVE
        if name not in state.prioritized:
            if self.catalog.descriptions[name].requires_opt_in:
                return Verdict.INACTIVE
            # The golden rule: what was only installed takes no call from the library.
            if default_matches and not self._is_asked_for(name, state):
                return Verdict.LATER
        return None if _matches(name, relevant) else Verdict.NO_MATCH

    def _renewal(
        self, function: Function, state: DispatchState
    ) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        def renew(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            self.matcher.forget()
            self.keeper.forget_tables()
            types = self.types(function.extract(args, kwargs), state)
            return self.chain(function, state, types)(*args, **kwargs)

        return renew


_FALLBACK = "nothing else answers"


class _Relevant(NamedTuple):
    """A dispatch type that somebody knows; `counts`: also for those that do not."""

    cls: type
    match: TypeMatch
    counts: bool


def _any_prioritized(names: frozenset[str], state: DispatchState) -> bool:
    return any(name in names and name not in state.disabled for name in state.prioritized)


def _matches(name: str, relevant: Sequence[_Relevant]) -> bool:
    """Whether a backend knows every type that counts, and has one of them as primary."""
    found = False
    for _, match, counts in relevant:
        if name in match.primary:
            found = True
        elif counts and name not in match.known:
            return False
    return found


def _unknown(name: str, relevant: Sequence[_Relevant]) -> list[type]:
    return [each.cls for each in relevant if each.counts and name not in each.match.known]


def _reason(
    verdict: Verdict, name: str, state: DispatchState, relevant: Sequence[_Relevant]
) -> str:
    """Say in words why a backend is no candidate."""
    if verdict is Verdict.INACTIVE:
        disabled = name in state.disabled
        return "it is disabled" if disabled else f"it requires opt-in: prioritize={name!r}"
    if verdict is Verdict.LATER:
        return "the library's own types are its own unless a backend is prioritized"
    if not relevant:
        return "no active backend that implements it knows any of the types"
    unknown = _unknown(name, relevant)
    if unknown:
        return f"it does not know {', '.join(map(type_identifier, unknown))}"
    return "none of the types is a primary type of it"


def _placed_on_purpose(catalog: Catalog) -> frozenset[str]:
    """Return the backends that the library itself brings, or that ``SET_ORDER`` promotes.

    These are before the default on purpose.
    """
    found = {name for name, description in catalog.descriptions.items() if description.in_code}
    reached = {DEFAULT}
    pairs = set(catalog.environment.set_order)
    while pairs:
        step = {first for first, second in pairs if second in reached}
        if not step - reached:
            break
        reached |= step
    return frozenset(found | reached) - {DEFAULT}


def _unasked(candidate: Candidate) -> Candidate:
    """Return a candidate that was asked for by name."""
    implementation = candidate.implementation
    if implementation is not None:
        implementation = replace(implementation, should_run=None)
    return replace(candidate, implementation=implementation, prioritized=True)
