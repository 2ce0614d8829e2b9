"""Cached and uncached calls, explanations and traces against a model of the rules M and C."""

from __future__ import annotations

import abc
import collections.abc
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spatch_core import BackendSystem
from spatch_core.types import Outcome
from tests.installed import installed
from tests.property.order_model import Described, order_model

NAMES = ("a", "b", "c", "d")
CLASSES = (
    *("Own", "OwnSubclass", "Foreign", "ForeignSubclass", "Other", "Registered", "Unknown"),
    *("float", "floatSubclass"),
)
PATTERNS = (
    *("Own", "~Own", "Foreign", "~Foreign", "ForeignSubclass", "Other", "@Shape"),
    *("float", "~float", "@Hashable"),
)
# Patterns that say little of the classes that they mean.
GENERAL = ("float", "~float", "@Hashable")

# Where identifiers lead; new for every example.
HERE = SimpleNamespace()


@dataclass(frozen=True)
class Backend:
    """What is drawn of a backend."""

    name: str
    primary: tuple[str, ...]
    secondary: tuple[str, ...]
    in_code: bool
    requires_opt_in: bool
    implements: bool
    answer: str  # of should_run or of the implementation
    higher_priority_than: tuple[str, ...]
    uses_context: bool

    def fields(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"function": f"{__name__}:HERE.implementations.{self.name}"}
        if self.answer != "plain":
            entry["should_run"] = f"{__name__}:HERE.should_run.{self.name}"
        if self.uses_context:
            entry["uses_context"] = True
        return {
            "name": self.name,
            "primary_types": [written(each) for each in self.primary],
            "secondary_types": [written(each) for each in self.secondary],
            "requires_opt_in": self.requires_opt_in,
            "higher_priority_than": list(self.higher_priority_than),
            "functions": {"lib:f": entry} if self.implements else {},
        }

    def implementation(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented if self.answer == "not implemented" else self.name

    def should_run(self, *args: Any, **kwargs: Any) -> Any:
        return "no" if self.answer == "no" else True


def written(pattern: str) -> str:
    prefix = pattern[0] if pattern[0] in "~@" else ""
    name = pattern.removeprefix(prefix)
    home = {"float": "builtins:", "Hashable": "collections.abc:"}.get(name, f"{__name__}:HERE.")
    return f"{prefix}{home}{name}"


def library(primary: tuple[str, ...], secondary: tuple[str, ...]) -> Backend:
    return Backend("default", primary, secondary, True, False, True, "plain", (), False)


@dataclass
class State:
    """Nested options, as the rules S say."""

    prioritized: tuple[str, ...] = ()
    disabled: frozenset[str] = field(default_factory=frozenset)
    cls: str | None = None

    def inside(self, prioritize: Iterable[str], disable: Iterable[str], cls: str | None) -> State:
        prioritize = tuple(dict.fromkeys(prioritize))
        names = (*prioritize, *(name for name in self.prioritized if name not in prioritize))
        return State(
            tuple(name for name in names if name not in disable),
            (self.disabled - {*prioritize}) | {*disable},
            cls or self.cls,
        )


def model(
    backends: list[Backend], state: State, types: list[type], answers: tuple[str, ...]
) -> str:
    """Say who answers a call; `backends` are in base order, the default among them."""
    default = next(each for each in backends if each.name == "default")
    listed = default.primary + default.secondary
    lists_numbers = bool(listed) and all("float" in each for each in listed)
    active = [
        each
        for each in backends
        if each.name not in state.disabled
        and (not each.requires_opt_in or each.name in state.prioritized)
    ]
    wanted = [each for each in active if each.in_code or each.name in state.prioritized]
    answering = [each for each in active if each.implements]

    def is_forced(cls: type) -> bool:
        return state.cls is not None and cls is getattr(HERE, state.cls)

    def is_at_home(backend: Backend, cls: type) -> bool:
        """Whether the backend is there for the class, and does not merely know it, too."""
        specific = [
            each
            for each in backend.primary
            if lists_numbers or (cls is not float and each not in GENERAL)
        ]
        return means(specific, cls)

    def matches(backend: Backend, types: list[type]) -> bool:
        known = backend.primary + backend.secondary
        return all(means(known, cls) for cls in types) and any(
            means(backend.primary, cls) for cls in types
        )

    known = [
        cls
        for cls in types
        if is_forced(cls)
        or means(default.primary, cls)
        or any(
            means(each.primary + each.secondary, cls) for each in answering if each is not default
        )
    ]
    # Numbers, and what else no backend is there for, do not count where the default does without.
    relevant = [
        cls
        for cls in known
        if is_forced(cls)
        or means(default.primary, cls)
        or any(is_at_home(each, cls) for each in answering)
    ]
    if not matches(default, relevant):
        relevant = known
    matching = [each for each in answering if matches(each, relevant)]
    if default in matching:
        matching = [each for each in matching if each in wanted or each is default]
    first = [each for each in matching if each.name in state.prioritized]
    own = [each for each in matching if each.in_code and each not in first]
    others = [each for each in matching if each not in first and each not in own]
    at_home = [each for each in others if any(is_at_home(each, cls) for cls in relevant)]
    for each in [
        *sorted(first, key=lambda each: rank(each, state)),
        *alone(own, relevant),
        *alone(at_home, relevant),
        *alone([each for each in others if each not in at_home], relevant),
    ]:
        if each is default or each.answer in answers:
            return each.name
    return "default"


def alone(backends: list[Backend], types: list[type]) -> list[Backend]:
    """Order backends among themselves, by the model of the order."""
    nearness = []
    for cls in types:
        at: dict[int, set[str]] = {}
        for each in backends:
            places = [
                cls.__mro__.index(base)
                for pattern in each.primary
                if pattern[0] != "@" and means([pattern], cls)
                for base in [getattr(HERE, pattern.removeprefix("~"))]
            ]
            if places:
                at.setdefault(min(places), set()).add(each.name)
        nearness.append([frozenset(at[place]) for place in sorted(at)])
    described = [
        Described(
            each.name,
            tuple(map(written, each.primary)),
            tuple(map(written, each.secondary)),
            each.higher_priority_than,
            in_code=each.in_code,
        )
        for each in backends
    ]
    names, _ = order_model(described, nearness=nearness)
    return sorted(backends, key=lambda each: names.index(each.name))


def rank(backend: Backend, state: State) -> int:
    names = state.prioritized
    return names.index(backend.name) if backend.name in names else len(names)


def means(patterns: Iterable[str], cls: type) -> bool:
    return any(
        cls is getattr(HERE, pattern, None)
        if pattern[0] not in "~@"
        else issubclass(cls, getattr(HERE, pattern[1:]))
        for pattern in patterns
    )


def make_classes() -> None:
    """Make the classes anew: what is registered stays registered."""
    for name in CLASSES:
        if name == "float":
            HERE.float = float
            continue
        base = getattr(HERE, name.removesuffix("Subclass")) if "Subclass" in name else object
        body = {"__module__": __name__, "__qualname__": f"HERE.{name}"}
        setattr(HERE, name, type(name, (base,), body))
    HERE.Shape = abc.ABCMeta("Shape", (), {})
    HERE.Hashable = collections.abc.Hashable


patterns = st.lists(st.sampled_from(PATTERNS), max_size=3, unique=True).map(tuple)


@st.composite
def backend_lists(draw: st.DrawFn) -> list[Backend]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    return [
        Backend(
            name=name,
            primary=draw(patterns.filter(bool)),
            secondary=draw(patterns),
            in_code=draw(st.booleans()),
            requires_opt_in=draw(st.booleans()),
            implements=draw(st.integers(0, 5)) > 0,
            answer=draw(st.sampled_from(["plain", "plain", "yes", "no", "not implemented"])),
            higher_priority_than=draw(st.sampled_from([(), ("default",)])),
            uses_context=draw(st.booleans()),
        )
        for name in names
    ]


blocks = st.tuples(
    st.lists(st.sampled_from((*NAMES, "default")), max_size=2),
    st.lists(st.sampled_from((*NAMES, "default")), max_size=2),
    st.sampled_from((None, None, *CLASSES[:5], "float")),
)
# Classes (None for None, "" for an omitted argument), and how the two arguments are passed.
calls = st.tuples(
    st.sampled_from((*CLASSES, None, "")),
    st.sampled_from((*CLASSES, None, "")),
    st.sampled_from(["positional", "keyword", "mixed"]),
)
steps = st.lists(st.one_of(calls, calls, calls, st.just("register")), min_size=1, max_size=8)


def arguments(first: str | None, second: str | None, form: str) -> Any:
    given = {
        name: None if cls is None else getattr(HERE, cls)()
        for name, cls in (("x", first), ("y", second))
        if cls != ""
    }
    if form == "keyword" or "x" not in given:
        return (), given
    if form == "positional":
        return tuple(given.values()), {}
    return (given.pop("x"),), given


def dispatch_types(values: Iterable[Any], state: State) -> list[type]:
    types = [type(value) for value in values if value is not None]
    return types if state.cls is None else [*types, getattr(HERE, state.cls)]


@settings(max_examples=200)
@given(
    backend_lists(),
    st.sampled_from([("~Own",), ("~Own",), ("~Own", "float"), ("~Own", "~float"), ("float",), ()]),
    st.sampled_from([(), (), ("Other",), ("float",), ("@Hashable",)]),
    st.lists(st.tuples(blocks, steps), min_size=1, max_size=4),
)
def test_calls_explanations_and_traces_agree_with_the_model(
    drawn: list[Backend],
    primary: tuple[str, ...],
    secondary: tuple[str, ...],
    program: list[Any],
) -> None:
    """C1, C2, C8, M3, M4, P4, P8, S3: first calls, cached ones, `explain` and traces are one."""
    make_classes()
    HERE.implementations = SimpleNamespace(**{each.name: each.implementation for each in drawn})
    HERE.should_run = SimpleNamespace(**{each.name: each.should_run for each in drawn})
    system = BackendSystem(
        "lib.backends",
        "MYLIB",
        [written(each) for each in primary],
        [each.fields() for each in drawn if each.in_code],
        default_secondary_types=[written(each) for each in secondary],
    )

    @system.dispatchable(("x", "y"), module="lib", qualname="f")
    def f(x: Any = None, y: Any = None) -> Any:
        return "default"

    in_code = [each for each in drawn if each.in_code]
    others = [each for each in drawn if not each.in_code]
    with installed("lib.backends", {each.name: each.fields() for each in others}):
        names = list(system.backends)
    backends = [library(primary, secondary), *in_code, *others]

    def check(call: Any, state: State) -> None:
        args, kwargs = arguments(*call)
        types = dispatch_types((*args, *kwargs.values()), state)
        expected = model(backends, state, types, ("plain", "yes"))
        selected = model(backends, state, types, ("plain", "yes", "not implemented"))
        assert f(*args, **kwargs) == f(*args, **kwargs) == expected
        with system.backend_opts(trace=True) as trace:
            assert f(*args, **kwargs) == expected
        called = [event.backend for event in trace if event.outcome is Outcome.CALLED]
        assert (called[0], called[-1]) == (selected, expected)
        explanation = f.explain(*args, **kwargs)
        assert explanation.selected == selected
        assert [each.backend for each in explanation.backends if each.verdict == "runs"] == [
            selected
        ]
        assert f(*args, **kwargs) == expected

    state = State()
    with ExitStack() as stack:
        for (prioritize, disable, cls), script in program:
            prioritize = [name for name in prioritize if name in names]
            # The model has no library that is disabled.
            disable = [name for name in disable if name in names and name != "default"]
            if cls and not any(means(each.primary, getattr(HERE, cls)) for each in backends):
                cls = None
            options = system.backend_opts(
                prioritize, disable, type=getattr(HERE, cls) if cls else None
            )
            stack.enter_context(options)
            state = state.inside(prioritize, disable, cls)
            for step in script:
                if step == "register":
                    HERE.Shape.register(HERE.Registered)
                else:
                    check(step, state)
            assert options.prioritized == state.prioritized
            assert options.backends == tuple(
                each.name
                for each in sorted(
                    backends, key=lambda each: (rank(each, state), names.index(each.name))
                )
                if each.name not in state.disabled
                and (not each.requires_opt_in or each.name in state.prioritized)
            )
