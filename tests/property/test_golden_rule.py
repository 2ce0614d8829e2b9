"""The golden rule for random libraries: what newcomers that are merely installed may change."""

from __future__ import annotations

import abc
import warnings
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spatch_core import BackendSystem
from tests.installed import installed


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
CLASSES: list[Any] = [Own, OwnSub, Foreign, ForeignSub, Number, float]
OWN_PATTERNS = [f"{prefix}{__name__}:{name}" for name in ("Own", "OwnSub") for prefix in ("", "~")]
GENERAL = ["~builtins:float", "~builtins:object", "@collections.abc:Hashable", "builtins:float"]
PATTERNS = [
    *OWN_PATTERNS,
    *(f"{prefix}{__name__}:{name}" for name in ("Foreign", "ForeignSub") for prefix in ("", "~")),
    f"@{__name__}:Shape",
    *GENERAL,
]
OWN, OLD, NEW = ["m", "n", "o"], ["f", "g"], ["a", "h", "z"]
GROUP = "golden.backends"


def answer(context: Any, *args: Any) -> Any:
    return context.name


def some(values: list[str], least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), unique=True, min_size=least, max_size=3)


@st.composite
def backends(draw: st.DrawFn, names: list[str], patterns: list[str], named: list[str]) -> Any:
    """Descriptions by name; each may name any of these others in its priorities."""
    found = {}
    for name in draw(some(names)):
        others = [each for each in named if each != name]
        higher = draw(some(others))
        function = {"function": f"{__name__}:answer", "uses_context": True}
        found[name] = {
            "name": name,
            "primary_types": draw(some(patterns, 1)),
            "secondary_types": draw(some(patterns)),
            "requires_opt_in": draw(st.integers(0, 3)) == 0,
            "higher_priority_than": higher,
            "lower_priority_than": [each for each in draw(some(others)) if each not in higher],
            "functions": {"lib:f": function} if draw(st.integers(0, 4)) else {},
        }
    return found


def answers(own: Any, others: Any, prioritized: list[str]) -> dict[Any, Any]:
    """Return who answers each call, and why."""
    system = BackendSystem(GROUP, "GOLDEN", [f"~{__name__}:Own"], own.values())
    f: Any = system.dispatchable(("x", "y"), identifier="lib:f")(lambda x, y=None: "default")
    found = {}
    with warnings.catch_warnings(), installed(GROUP, others):
        warnings.simplefilter("ignore")
        prioritized = [name for name in prioritized if name in {*system.backends}]
        with system.backend_opts(prioritize=prioritized):
            for call in [*product(CLASSES), *product(CLASSES, CLASSES)]:
                args = [cls() for cls in call]
                explanation = f.explain(*args)
                assert f(*args) == explanation.selected
                (reason,) = [
                    each.reason
                    for each in explanation.backends
                    if each.backend == explanation.selected
                ]
                found[call] = explanation.selected, reason
    return found


prioritized = st.lists(st.sampled_from(["default", *OWN, *OLD]), unique=True, max_size=2)
known = ["default", *OWN, *OLD]
own, old = backends(OWN, PATTERNS, known), backends(OLD, PATTERNS, known)


@settings(max_examples=40)
@given(own, old, backends(NEW, PATTERNS, [*known, *NEW]), prioritized)
def test_backends_that_are_no_candidates_have_no_say(
    own: Any, old: Any, new: Any, prioritized: list[str]
) -> None:
    """C1, C2, P1, P6: newcomers that require opt-in, or lack the function, change no call."""
    for each in new.values():
        each["requires_opt_in"] |= bool(each["functions"])
    before = answers(own, old, prioritized)
    assert answers(own, {**old, **new}, prioritized) == before


@settings(max_examples=40)
@given(own, old, backends(NEW, [*OWN_PATTERNS, *GENERAL], [*known, *NEW]), prioritized)
def test_newcomers_take_no_call_that_the_library_answered(
    own: Any, old: Any, new: Any, prioritized: list[str]
) -> None:
    """C2, M4, P6: nor those of prioritized backends; whatever types and priorities they have."""
    before = answers(own, old, prioritized)
    after = answers(own, {**old, **new}, prioritized)
    for call, (name, reason) in before.items():
        is_chosen = name == "default" or name in own or name in prioritized
        # Where the library's own types decide; elsewhere others that only newcomers know count.
        kinds = {cls.__mro__[-2] for cls in call}
        is_promised = len({*call}) == 1 or (Own in kinds and Foreign not in kinds)
        if is_chosen and is_promised and reason != "no backend takes the call":
            assert after[call][0] == name, call
