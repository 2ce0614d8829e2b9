"""What `explain` says happens, for random systems, options and functions."""

from __future__ import annotations

import warnings
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spatch_core import IF_NEEDED, BackendSystem, NoImplementationError

HERE = __name__


class Own:
    """The library's type."""


class Scalar:
    """Perhaps a secondary type of the library."""


class Foreign:
    """A type of backends."""


class Sub(Foreign):
    """A subclass, which only patterns with ~ mean."""


class Other:
    """Another type of backends."""


CLASSES = (Own, Scalar, Foreign, Sub, Other, int, float)
PATTERNS = [
    *(f"{HERE}:{name}" for name in ("Own", "Scalar", "Foreign", "Sub", "Other")),
    *(f"~{HERE}:Own", f"~{HERE}:Foreign", "builtins:int", "~builtins:float"),
]
POLICIES = st.sampled_from(["default", "warn", "raise", "convert"])
ANSWERS = {"yes": True, "no": False, "reason": "too small", "needed": IF_NEEDED}
EVENTS: list[tuple[str, str]] = []


def some(values: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), unique=True) if values else st.just([])


@st.composite
def backends(draw: Any, number: int) -> dict[str, Any]:
    """Return the description of a backend in code."""
    name = f"b{number}"
    kind = draw(st.sampled_from(["absent", "plain", "declines", "next", *ANSWERS]))
    key = draw(st.sampled_from(["lib:f", "*"]))
    uses_context = kind == "next" or key == "*" or draw(st.booleans())

    def implementation(*args: Any, **kwargs: Any) -> Any:
        EVENTS.append(("ran", name))
        if kind == "next":
            return "next", args[0].call_next(*args[1:], **kwargs)
        return NotImplemented if kind == "declines" else name

    def should_run(*args: Any, **kwargs: Any) -> Any:
        EVENTS.append(("asked", name))
        return ANSWERS[kind]

    def to_default(value: Any) -> Own:
        EVENTS.append(("converted", name))
        return Own()

    entry: dict[str, Any] = {"function": implementation, "uses_context": uses_context}
    if kind in ANSWERS:
        entry["should_run"] = should_run
    fields: dict[str, Any] = {
        "name": name,
        "primary_types": draw(some(PATTERNS).filter(bool)),
        "secondary_types": draw(some(PATTERNS)),
        "requires_opt_in": draw(st.booleans()),
        "functions": {} if kind == "absent" else {key: entry},
    }
    if draw(st.booleans()):
        fields |= {"to_default": to_default, "from_default": lambda value: "back"}
    return fields


def decorate(system: Any, form: str, traits: dict[str, Any]) -> Any:
    """Return a function whose dispatch arguments are given in one of several ways."""

    def f(x: Any, y: Any = None, *, like: Any = None) -> Any:
        EVENTS.append(("ran", "default"))
        return "default"

    dispatch_args: Any = {"names": ("x", "y"), "finder": lambda x, y=None: (x, y)}.get(form)
    if form in ("inside", "like"):
        traits = {**traits, form: "x" if form == "inside" else "like"}
    return system.dispatchable(dispatch_args, identifier="lib:f", **traits)(f)


@given(st.data())
def test_explain_says_what_happens(data: Any) -> None:
    """V1, V4, F7, C1, C3, S6: nothing is asked or run twice; a trace changes nothing."""
    draw = data.draw
    described = [draw(backends(number)) for number in range(draw(st.integers(0, 3)))]
    names = [each["name"] for each in described]
    in_code = draw(st.booleans())
    secondary = draw(st.sampled_from([[], [f"{HERE}:Scalar"]]))
    system = BackendSystem(
        *(None, "EXPLAINEDLIB", [f"{HERE}:Own"], described if in_code else []),
        default_secondary_types=secondary,
        fallback=draw(POLICIES),
    )
    for each in [] if in_code else described:
        system.register(each)
    form = draw(st.sampled_from(["names", "finder", "inside", "like"]))
    traits = st.fixed_dictionaries({}, optional={"fallback": POLICIES, "mutates": st.just("y")})
    f = decorate(system, form, draw(st.one_of(traits, st.just({"compositional": True}))))
    values = [cls() for cls in draw(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=2))]
    args, kwargs = (values[0],), {"y": values[-1]}
    if form == "inside":
        args, kwargs = ([values, (values[0],)],), {}
    elif form == "like":
        args, kwargs = (values[0],), {"like": values[-1]}
    options: dict[str, Any] = {"prioritize": draw(some(names)), "disable": draw(some(names))}
    options["fallback"] = draw(st.none() | POLICIES)
    options["backend"] = draw(st.sampled_from([None, *names]))

    def outcome() -> tuple[Any, list[tuple[str, str]]]:
        EVENTS.clear()
        try:
            result = f(*args, **kwargs)
        except NoImplementationError as error:
            result = str(error)
        return result, [*EVENTS]

    with warnings.catch_warnings(), system.backend_opts(**options):
        warnings.simplefilter("ignore")
        explanation = f.explain(*args, **kwargs)
        first = result, events = outcome()
        assert outcome() == first
        with system.backend_opts(trace=True):
            assert outcome() == first
    foreign = {Foreign, Sub, Other, *([] if secondary else [Scalar])}
    if not foreign & {type(each) for each in values}:
        assert "cannot be called" not in result
    once = [each for each in events if each[0] != "converted"]
    assert len(once) == len(set(once))
    ran = [name for what, name in events if what == "ran"]
    if any(name in names and name != result for name in ran):
        return  # What an implementation declines, or hands on, can only be known from a call.
    converts = any(str(each.verdict) == "would convert" for each in explanation.backends)
    if explanation.selected is None:
        assert ran == []
    elif converts:
        assert ran == ["default"]
    else:
        assert ran == [explanation.selected]
