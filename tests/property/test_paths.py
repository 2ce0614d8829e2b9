"""Calls through C and calls through Python code do the same, on random libraries."""

from __future__ import annotations

import gc
import sys
import warnings
from abc import ABC
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spatch_core
from spatch_core import BackendSystem
from tests.python_path import python_only

pytestmark = pytest.mark.skipif(
    not spatch_core.accelerated, reason="without the C extension there is one path only"
)


class Own:
    """The library's type."""


class OwnSubclass(Own):
    """A type of the library's users."""


class Foreign:
    """A type of the backends."""


class Subclass(Foreign):
    """A type of the backends' users."""


class Other:
    """A type of some backends."""


class Abstract(ABC):  # noqa: B024  # nothing is asked of who is registered
    """An abstract type with registered classes."""


@Abstract.register
class Registered:
    """A class that is registered for `Abstract`."""


class EqualMeta(type):
    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return 1


class Equal(Foreign, metaclass=EqualMeta):
    """A class that is equal to everything."""


class UnhashableMeta(type):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(cls, other: object) -> bool:
        raise LookupError("not comparable")


class Unhashable(Foreign, metaclass=UnhashableMeta):
    """A class that cannot be a key."""


class OrderedMeta(type):
    def __lt__(cls, other: object) -> bool:
        return True


class Ordered(Foreign, metaclass=OrderedMeta):
    """A class whose metaclass overrides another comparison than ==."""


class MineError(Exception):
    """Raised by implementations."""


class Name(str):
    """A subclass of str for names of keywords."""

    __slots__ = ()


BACKENDS = ("a", "b", "c")
PLANNED = (*BACKENDS, "default")
PATTERNS = [
    f"{prefix}{__name__}:{name}"
    for prefix, name in [
        ("~", "Foreign"),
        ("", "Foreign"),
        ("", "Other"),
        ("~", "Own"),
        ("", "Own"),
        ("@", "Abstract"),
        ("~", "Late"),
        ("", "Equal"),
    ]
] + ["builtins:int"]
FIXED: list[Any] = [
    Own(),
    OwnSubclass(),
    Foreign(),
    Foreign(),
    Subclass(),
    Other(),
    Registered(),
    Equal(),
    Unhashable(),
    Ordered(),
    Foreign,  # a class is an object too
    None,
    1,
    "text",
]
LATE = len(FIXED)
"""The place of an object whose class is replaced by a new one from time to time."""

DEFAULTS = [object(), None, Foreign()]


def find_first(*args: Any, **kwargs: Any) -> Any:
    return args[:1]


def find_keywords(*args: Any, **kwargs: Any) -> Any:
    return kwargs.values()


def find_some(a: Any, *args: Any, **kwargs: Any) -> Any:
    return [a]


FINDERS = {each.__name__: each for each in (find_first, find_keywords, find_some)}

DEEDS = ("nothing", "nothing", "nothing", "call", "reload", "globally", "trace", "forget", "late")


@dataclass(frozen=True)
class Plan:
    """What an implementation does when it is called."""

    deed: str
    answer: str


@dataclass(frozen=True)
class Call:
    """The arguments of a call as places in the values, and the class of their names."""

    args: tuple[int, ...]
    kwargs: tuple[tuple[str, int], ...]
    names: str = "interned"
    times: int = 2

    def keywords(self, values: list[Any]) -> dict[str, Any]:
        make: Any = {
            "interned": str,
            "new": lambda name: str(name.encode(), "ascii"),
            "subclass": Name,
        }[self.names]
        return {make(name): values[place] for name, place in self.kwargs}


@dataclass(frozen=True)
class Recipe:
    """How to make a library and its backends."""

    parameters: str
    dispatch_args: Any
    own: tuple[str, ...]
    descriptions: tuple[tuple[tuple[str, Any], ...], ...]
    defaults: tuple[int, ...]

    @property
    def source(self) -> str:
        return f"def f({self.parameters}):\n    return act('default', locals().copy())\n"


@dataclass
class Twin:
    """One of two equal libraries: calls of one go through C, of the other through Python."""

    recipe: Recipe
    is_slow: bool
    plans: dict[str, Plan]
    asks: dict[str, Any]
    inner: Call
    seen: list[Any] = field(default_factory=list)
    traces: list[Any] = field(default_factory=list)
    spares: list[Any] = field(default_factory=list)
    depth: int = 0

    def __post_init__(self) -> None:
        recipe = self.recipe
        namespace: dict[str, Any] = {"__name__": "lib", "act": act}
        namespace |= {f"DEFAULT{n}": DEFAULTS[place] for n, place in enumerate(recipe.defaults)}
        exec(recipe.source, namespace)  # noqa: S102  # a function of any signature
        self.system = BackendSystem(
            None, "TWIN", recipe.own, [dict(each) for each in recipe.descriptions]
        )
        dispatch_args = recipe.dispatch_args
        if isinstance(dispatch_args, str) and dispatch_args in FINDERS:
            dispatch_args = FINDERS[dispatch_args]
        self.function: Any = self.system.dispatchable(dispatch_args, module="lib", qualname="f")(
            namespace["f"]
        )
        if self.is_slow:
            self.function = python_only(self.function)
        self.blocks = ExitStack()

    def call(self, call: Call, values: list[Any]) -> Any:
        """Make a call, and record its result or error."""
        self.depth += 1
        self.seen.append(("called", self.depth))
        try:
            result = self.function(*(values[n] for n in call.args), **call.keywords(values))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is compared
            outcome: Any = "raised", *describe(error)
        else:
            outcome = "returned", key(result)
        finally:
            self.depth -= 1
        self.seen.append(outcome)
        return outcome

    def do(self, deed: str, values: list[Any]) -> None:
        """Do something that an implementation may do during a call."""
        opts = self.system.backend_opts
        if deed == "reload":
            self.system.reload()
        elif deed == "globally":
            opts(prioritize="b", disable="a").enable_globally()
        elif deed == "forget":
            self.system._dispatcher.keeper.forget_tables()
        elif deed == "late":
            values[LATE] = self.spares.pop() if self.spares else None
        if self.depth > 2:
            return
        if deed == "trace":
            with opts(trace=True) as trace:
                self.call(self.inner, values)
            self.seen.append(events(trace))
        elif deed == "call":
            self.call(self.inner, values)


@dataclass
class Stage:
    """The twin that calls now, for the implementations, which both share."""

    twin: Any = None
    values: list[Any] = field(default_factory=list)


stage = Stage()


def make_late(bases: tuple[type, ...] = (Foreign,)) -> Any:
    return type("Late", bases, {"__module__": __name__})()


def key(value: object) -> Any:
    """Return a key that compares by identity, and containers by their items."""
    if type(value) is tuple or type(value) is list:
        return tuple(map(key, value))
    if type(value) is dict:
        return tuple((str(name), key(each)) for name, each in value.items())
    return value if type(value) is str else (type(value).__qualname__, id(value))


def describe(error: BaseException | None) -> tuple[Any, ...]:
    if error is None:
        return ()
    links = error.__cause__, error.__context__
    return (type(error), str(error), *map(describe, links))


def events(trace: Any) -> list[Any]:
    return [(str(event), key(event.types)) for event in trace]


def act(who: str, *received: Any, context: Any = None) -> Any:
    """Act as an implementation: record the arguments, and follow the plan."""
    twin = stage.twin
    twin.seen.append((who, context and context_key(context), key(received)))
    plan = twin.plans[who]
    twin.do(plan.deed, stage.values)
    if plan.answer == "raise":
        raise MineError(who)
    return NotImplemented if plan.answer == "defer" else ("answer", who)


def context_key(context: Any) -> Any:
    return (
        context.name,
        context.prioritized,
        context.function,
        key(context.types),
        key(context.dispatch_args),
    )


def run_a(*args: Any, **kwargs: Any) -> Any:
    return act("a", args, kwargs)


def run_b(*args: Any, **kwargs: Any) -> Any:
    return act("b", args, kwargs)


def run_c(*args: Any, **kwargs: Any) -> Any:
    return act("c", args, kwargs)


def informed_a(context: Any, *args: Any, **kwargs: Any) -> Any:
    return act("a", args, kwargs, context=context)


def informed_b(context: Any, *args: Any, **kwargs: Any) -> Any:
    return act("b", args, kwargs, context=context)


def informed_c(context: Any, *args: Any, **kwargs: Any) -> Any:
    return act("c", args, kwargs, context=context)


class Callable:
    """An implementation that is an object."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return act("a", args, kwargs)


callable_a = Callable()


def should_run(context: Any, *args: Any, **kwargs: Any) -> Any:
    twin = stage.twin
    twin.seen.append(("asked", context_key(context), key(args), key(kwargs)))
    answer = twin.asks[context.name]
    if answer == "raise":
        raise MineError("asked")
    if answer == "forget":
        twin.do("forget", stage.values)
        return True
    return answer


IMPLEMENTATIONS = {
    "a": ("run_a", "informed_a", "callable_a", "absent"),
    "b": ("run_b", "informed_b"),
    "c": ("run_c", "informed_c"),
}

names = st.sampled_from("abcdef")
places = st.integers(0, LATE)


@st.composite
def signatures(draw: Any) -> tuple[str, list[str], list[str], list[str]]:
    """Draw parameters: their text, and the names by kind."""
    counts = [draw(st.integers(0, 2)) for _ in range(3)]
    letters = iter("abcdefg")
    kinds = [[next(letters) for _ in range(count)] for count in counts]
    only_positional, either, only_keyword = kinds
    positional = [*only_positional, *either]
    first_default = draw(st.integers(0, len(positional)))
    number = iter(range(9))
    parts = [
        f"{name}=DEFAULT{next(number)}" if place >= first_default else name
        for place, name in enumerate(positional)
    ]
    if only_positional:
        parts.insert(len(only_positional), "/")
    has_rest = draw(st.booleans())
    if has_rest or only_keyword:
        parts.append("*rest" if has_rest else "*")
    parts += [
        f"{name}=DEFAULT{next(number)}" if draw(st.booleans()) else name for name in only_keyword
    ]
    if not has_rest and not only_keyword and parts[-1:] == ["*"]:
        parts.pop()
    if draw(st.booleans()):
        parts.append("**options")
    return ", ".join(parts), only_positional, either, only_keyword


@st.composite
def descriptions(draw: Any, name: str) -> tuple[tuple[str, Any], ...]:
    patterns = draw(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3, unique=True))
    fields: dict[str, Any] = {
        "name": name,
        "primary_types": patterns,
        "secondary_types": draw(st.lists(st.sampled_from(PATTERNS), max_size=2, unique=True)),
        "requires_opt_in": draw(st.integers(0, 4)) == 0,
        "functions": {},
    }
    if draw(st.integers(0, 7)):
        chosen = draw(st.sampled_from(IMPLEMENTATIONS[name]))
        entry = {"function": f"{__name__}:{chosen}", "uses_context": chosen.startswith("inf")}
        if draw(st.integers(0, 2)) == 0:
            entry["should_run"] = f"{__name__}:should_run"
        fields["functions"] = {"lib:f": entry}
    return tuple(fields.items())


@st.composite
def calls(
    draw: Any, only_positional: list[str], either: list[str], only_keyword: list[str]
) -> Call:
    """Draw a call; three of four give each parameter at most once."""
    if draw(st.integers(0, 3)):
        given = len(only_positional) + draw(st.integers(0, len(either)))
        chosen = [*only_positional, *either][given:] + only_keyword
    else:
        given = draw(st.integers(0, 5))
        chosen = draw(st.lists(names, max_size=3, unique=True))
    return Call(
        tuple(draw(places) for _ in range(given)),
        tuple((name, draw(places)) for name in chosen),
        draw(st.sampled_from(["interned", "interned", "new", "subclass"])),
        draw(st.integers(2, 4)),
    )


plans = st.builds(
    Plan,
    st.sampled_from(DEEDS),
    st.sampled_from(["answer", "answer", "answer", "defer", "defer", "raise"]),
)
asks = st.sampled_from([True, True, False, "not now", 1, "raise", "forget"])


@st.composite
def scenarios(draw: Any) -> tuple[Recipe, dict[str, Plan], dict[str, Any], Call, list[Any]]:
    """Draw a library, the plans of its implementations, and the steps of a scenario."""
    text, only_positional, either, only_keyword = draw(signatures())
    positional = [*only_positional, *either]
    known = [*positional, *only_keyword]
    kind = draw(st.sampled_from(["names", "names", "names", "name", "places", "all", "finder"]))
    dispatch_args: Any = None
    if kind == "names" and known:
        dispatch_args = tuple(draw(st.lists(st.sampled_from(known), max_size=6, unique=True)))
    elif kind == "name" and known:
        dispatch_args = draw(st.sampled_from(known))
    elif kind == "places":
        spots = st.one_of(st.none(), st.integers(0, 5))
        dispatch_args = draw(st.dictionaries(names, spots, max_size=5))
    elif kind == "finder":
        dispatch_args = draw(st.sampled_from([*FINDERS]))
    recipe = Recipe(
        text,
        dispatch_args,
        tuple(draw(st.lists(st.sampled_from(PATTERNS), max_size=2, unique=True))),
        tuple(draw(descriptions(name)) for name in BACKENDS[: draw(st.integers(1, 3))]),
        tuple(draw(st.integers(0, len(DEFAULTS) - 1)) for _ in range(6)),
    )
    present = BACKENDS[: len(recipe.descriptions)]
    call = calls(only_positional, either, only_keyword)
    block = st.fixed_dictionaries(
        {},
        optional={
            "prioritize": st.sampled_from([*present, "default"]),
            "disable": st.sampled_from(present),
            "type": st.sampled_from([Own, Foreign, Subclass, Registered, Other]),
            "trace": st.booleans(),
        },
    )
    changes = st.one_of(
        st.tuples(st.just("enter"), block),
        st.tuples(st.just("globally"), block),
        st.tuples(
            st.sampled_from(["leave", "reload", "forget", "collect", "late", "own", "register"]),
            st.none(),
        ),
        st.tuples(st.just("plans"), st.fixed_dictionaries(dict.fromkeys(PLANNED, plans))),
        st.tuples(st.just("asks"), st.fixed_dictionaries(dict.fromkeys(BACKENDS, asks))),
    )
    steps = []
    for _ in range(draw(st.integers(1, 5))):
        steps += [draw(call), draw(call), draw(changes), draw(call)]
    return (
        recipe,
        {name: draw(plans) for name in PLANNED},
        {name: draw(asks) for name in BACKENDS},
        draw(call),
        steps,
    )


def attempt(deed: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return deed(*args, **kwargs), ()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is compared
        return None, describe(error)


def follow(twin: Twin, step: Any, values: list[Any]) -> Any:
    """Let one twin take a step; return everything observable."""
    stage.twin, stage.values = twin, list(values)
    twin.seen.clear()
    if isinstance(step, Call):
        for _ in range(step.times):
            twin.call(step, stage.values)
        return list(twin.seen)
    kind, value = step
    if kind == "enter":
        options, error = attempt(twin.system.backend_opts, **value)
        if options is not None:
            twin.blocks.enter_context(options)
            twin.traces.append(options)
        return error
    if kind == "leave":
        twin.blocks.close()
    elif kind == "globally":
        options, error = attempt(twin.system.backend_opts, **{**value, "trace": False})
        if options is not None:
            options.enable_globally()
        return error
    elif kind == "reload":
        twin.system.reload()
    elif kind == "collect":
        gc.collect()
    elif kind == "forget":
        twin.system._dispatcher.keeper.forget_tables()
    elif kind in ("plans", "asks"):
        getattr(twin, kind).update(value)
    return None


@pytest.fixture
def quick_collections() -> Iterator[None]:
    """Let full collections only traverse objects that are created from now on."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("quick_collections")
@settings(
    derandomize=True,
    max_examples=300,
    deadline=None,
    # One fixture serves all examples.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(scenarios())
def test_both_paths_do_the_same(scenario: Any) -> None:
    """Results, errors, traces and what implementations receive are the same in both."""
    recipe, first_plans, first_asks, inner, steps = scenario
    twins = [
        Twin(recipe, is_slow, dict(first_plans), dict(first_asks), inner)
        for is_slow in (False, True)
    ]
    values = [*FIXED, make_late()]
    with warnings.catch_warnings(), twins[0].blocks, twins[1].blocks:
        warnings.simplefilter("ignore")
        for step in steps:
            if step == ("late", None):
                values[LATE] = make_late()
            elif step == ("own", None):
                values[LATE] = make_late((Own,))
            elif step == ("register", None):
                Abstract.register(type(values[LATE]))
            spares = [make_late() for _ in range(3)]
            for twin in twins:
                twin.spares = spares.copy()
            first, second = (follow(twin, step, values) for twin in twins)
            assert first == second
            recorded = [
                [None if each.trace is None else events(each.trace) for each in twin.traces]
                for twin in twins
            ]
            assert recorded[0] == recorded[1]


def test_the_two_paths_differ() -> None:
    """Only one of the twins runs the Python code of its wrapper."""

    recipe = Recipe(
        "a",
        "a",
        (),
        (
            (
                ("name", "a"),
                ("primary_types", [f"{__name__}:Foreign"]),
                ("functions", {"lib:f": {"function": f"{__name__}:run_a"}}),
            ),
        ),
        (),
    )
    plans = {"a": Plan("nothing", "answer")}
    call = Call((2,), ())
    for is_slow in (False, True):
        twin = Twin(recipe, is_slow, plans, {}, call)
        assert follow(twin, call, FIXED) == follow(twin, call, FIXED)
        seen = []
        sys.setprofile(lambda frame, event, argument: seen.append(frame.f_code))  # noqa: B023
        try:
            twin.function(FIXED[2])
        finally:
            sys.setprofile(None)
        assert (twin.function.__code__ in seen) is is_slow
