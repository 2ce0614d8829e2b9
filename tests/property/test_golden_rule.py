"""The golden rule for random libraries: what newcomers that are merely installed may change."""

from __future__ import annotations

import abc
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spatch_core import BackendSystem
from spatch_core._description.description import Description, Implementation
from spatch_core._discovery.catalog import Catalog
from spatch_core._discovery.environment import read_environment
from spatch_core._order.ordering import base_order, order_all
from spatch_core._resolution.dry_run import explain
from spatch_core._resolution.golden_rule import Standing
from spatch_core._resolution.resolver import Resolver
from spatch_core._state import DispatchState
from spatch_core._type_patterns import TypePattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HERE = __name__


class Own:
    """A type of the library."""


class OwnSub(Own):
    """A subclass of it."""


class Foreign:
    """A type of backends."""


class ForeignSub(Foreign):
    """A subclass of it."""


class Number(float):
    """Known through ``float`` alone, like ``numpy.float64``."""


class Shape(abc.ABC):  # noqa: B024  # abstract by name
    """An abstract base class of no standard library."""


Shape.register(ForeignSub)
CLASSES: list[type] = [Own, OwnSub, Foreign, ForeignSub, Number, float]
GENERAL = ["~builtins:float", "~builtins:object", "@collections.abc:Hashable", "builtins:float"]
PATTERNS = [
    *(f"{prefix}{HERE}:{cls.__name__}" for cls in CLASSES[:4] for prefix in ("", "~")),
    f"@{HERE}:Shape",
    *GENERAL,
]
OWN, OLD, NEW = ["m", "n", "o"], ["f", "g"], ["a", "h", "z"]


class Library(NamedTuple):
    """What is drawn."""

    before: list[Description]
    newcomers: list[Description]
    set_order: str


@st.composite
def described(
    draw: st.DrawFn, name: str, patterns: Sequence[str], in_code: bool, others: Sequence[str]
) -> Description:
    types = st.lists(st.sampled_from(patterns), unique=True, max_size=3)
    named = st.lists(st.sampled_from([each for each in others if each != name]), max_size=3)
    higher = draw(named)
    lower = [each for each in draw(named) if each not in higher]
    functions = {"lib:f": Implementation("m:f")} if draw(st.integers(0, 4)) else {}
    return Description(
        name,
        tuple(map(TypePattern, draw(types.filter(bool)))),
        tuple(map(TypePattern, draw(types))),
        requires_opt_in=draw(st.integers(0, 3)) == 0,
        higher_priority_than=tuple(dict.fromkeys(higher)),
        lower_priority_than=tuple(dict.fromkeys(lower)),
        functions=functions,
        in_code=in_code,
    )


@st.composite
def libraries(draw: st.DrawFn, newcomer_patterns: Sequence[str] = PATTERNS) -> Library:
    """A library with backends of its own and installed ones, and newcomers with any edges."""
    default = Description(
        "default", (TypePattern(draw(st.sampled_from(PATTERNS[:5]))),), in_code=True
    )
    own = draw(st.lists(st.sampled_from(OWN), unique=True, max_size=3))
    old = draw(st.lists(st.sampled_from(OLD), unique=True, max_size=2))
    new = draw(st.lists(st.sampled_from(NEW), unique=True, min_size=1, max_size=3))
    known = ["default", *OWN, *OLD]
    before = [
        default,
        *(draw(described(name, PATTERNS, True, known)) for name in own),
        *(draw(described(name, PATTERNS, False, known)) for name in old),
    ]
    newcomers = [draw(described(name, newcomer_patterns, False, [*known, *NEW])) for name in new]
    order = draw(st.permutations(known))
    size = draw(st.integers(0, 3))
    return Library(before, newcomers, ">".join(order[:size]) if size > 1 else "")


@st.composite
def states(draw: st.DrawFn) -> DispatchState:
    names = st.lists(st.sampled_from(["default", *OWN, *OLD]), unique=True, max_size=2)
    disabled = frozenset(draw(names))
    return DispatchState(tuple(each for each in draw(names) if each not in disabled), disabled)


types_of_calls = st.lists(st.sampled_from(CLASSES), unique=True, min_size=1, max_size=2).map(tuple)


class Keeper:
    def forget_tables(self) -> None:
        pass


def resolver(descriptions: Iterable[Description], set_order: str) -> Resolver:
    descriptions = list(descriptions)
    environment = read_environment("LIB", {"LIB_SET_ORDER": set_order})
    by_name = {each.name: each for each in descriptions}
    order = order_all(descriptions, environment.set_order)
    catalog = Catalog(
        environment,
        {name: by_name[name] for name in order.names},
        order,
        tuple(base_order(descriptions)),
    )
    assert set(catalog.descriptions) == set(by_name)
    keeper: Any = Keeper()
    return Resolver(catalog, keeper)


class Call(NamedTuple):
    """What a resolver says of a call."""

    names: list[str]
    answers_first: list[str]  # the candidates that the library or the user has chosen
    counting: list[type]
    default_matches: bool


def ask(resolver: Resolver, state: DispatchState, types: tuple[type, ...]) -> Call:
    """Ask for the candidates, and make sure that an explanation shows the same."""
    function: Any = make_function()
    state = state.replace(
        prioritized=tuple(n for n in state.prioritized if n in resolver.catalog.descriptions)
    )
    walk = resolver.walk(function, state, types)
    names = [each.backend for each in resolver.candidates(function, state, walk)]
    shown = [
        each.backend
        for each in explain(resolver, function, state, types, None).backends
        if each.verdict.value in ("runs", "comes later")
        and not each.reason.startswith("the default keeps")
    ]
    assert shown[: len(names)] == names
    rule = resolver._rule
    chosen = [
        name
        for name in names
        if name != "default" and rule.standing(name, state) is not Standing.INSTALLED
    ]
    return Call(names, chosen, [each.cls for each in walk.counting], walk.default_matches)


def make_function() -> Any:
    system = BackendSystem(None, "GOLDEN")
    system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
    return system._dispatcher.records[0].function


def both(
    library: Library, state: DispatchState, types: tuple[type, ...]
) -> tuple[Call, Call, Resolver]:
    before = resolver(library.before, library.set_order)
    after = resolver([*library.before, *library.newcomers], library.set_order)
    return ask(before, state, types), ask(after, state, types), after


@settings(max_examples=150)
@given(libraries(), states(), types_of_calls)
def test_calls_that_the_library_answered_have_the_same_candidates(
    library: Library, state: DispatchState, types: tuple[type, ...]
) -> None:
    """C2, M8, P9: whatever is installed besides, prioritized backends among the candidates."""
    before, after, installed = both(library, state, types)
    # The limit of the rule: a type that only newcomers know counts, as they are there for it.
    # Elsewhere they need but know it.
    for cls in types:
        match = installed.matcher.match(cls)
        counts_for = match.specific if before.default_matches else match.known
        assume(cls in before.counting or not counts_for & set(NEW))
    if before.default_matches:
        assert after.names == before.names
    own = before.answers_first
    assert before.names[: len(own)] == after.names[: len(own)] == own


@settings(max_examples=150)
@given(libraries(), states(), types_of_calls)
def test_backends_that_are_no_candidates_have_no_say(
    library: Library, state: DispatchState, types: tuple[type, ...]
) -> None:
    """C1, C2, P1, P9: newcomers that require opt-in, or lack the function, change no call."""
    silent = [
        replace(each, requires_opt_in=True) if each.functions else each
        for each in library.newcomers
    ]
    before, after, _ = both(library._replace(newcomers=silent), state, types)
    assert after.names == before.names


@settings(max_examples=150)
@given(libraries(GENERAL), states(), types_of_calls)
def test_general_patterns_take_no_call_of_the_library(
    library: Library, state: DispatchState, types: tuple[type, ...]
) -> None:
    """C2, M8: a class known through ``~builtins:float`` rides along as a float does."""
    bold = [
        replace(
            each,
            requires_opt_in=False,
            functions={"lib:f": Implementation("m:f")},
            higher_priority_than=("default", *OWN, *OLD),
            lower_priority_than=(),
        )
        for each in library.newcomers
    ]
    before, after, installed = both(library._replace(newcomers=bold), state, types)
    if before.default_matches:
        assert after.names == before.names
    elif not all(cls in before.counting for cls in types):
        return  # more types count
    stated = {each.split(">")[0] for each in [library.set_order]}
    candidates = before.names if before.default_matches else before.names[:-1]
    specific = [
        name
        for name in candidates
        if name in before.answers_first
        or name in stated
        or any(name in installed.matcher.match(cls).specific for cls in types)
    ]
    assert before.names[: len(specific)] == after.names[: len(specific)] == specific


@given(libraries(), states(), types_of_calls)
def test_the_order_of_a_call_is_free_of_what_is_shown(
    library: Library, state: DispatchState, types: tuple[type, ...]
) -> None:
    """P1, P9: the catalog has every backend, however their declared edges contradict."""
    everything = [*library.before, *library.newcomers]
    order = order_all(everything)
    assert sorted(order.names) == sorted(each.name for each in everything)
    position = {name: number for number, name in enumerate(order.names)}
    assert all(position[edge.before] < position[edge.after] for edge in order.edges())
    # Without those that are no candidates, the candidates have the same order.
    one = ask(resolver(everything, ""), state, types)
    others = [each for each in everything if each.name in {*one.names, "default"}]
    alone = ask(resolver(others, ""), state, types)
    assume(alone.counting == one.counting)
    assert alone.names == one.names
