"""Explanations and calls agree, for random backends, policies and arguments."""

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
    """A secondary type of the library."""


class Foreign:
    """A type of backends."""


class Other:
    """Another one."""


class Unknown:
    """A type that nothing knows."""


CLASSES = (Own, Scalar, Foreign, Other, Unknown, int)
ASKED: list[str] = []
ANSWERS = {"yes": True, "no": False, "reason": "too small", "needed": IF_NEEDED}


@st.composite
def backends(draw: Any) -> dict[str, Any]:
    """Return a description without its name."""
    names = st.lists(st.sampled_from(["Own", "Scalar", "Foreign", "Other"]), unique=True)
    kind = draw(st.sampled_from(["absent", "plain", "declines", "every", *ANSWERS]))
    functions: dict[str, Any] = {}

    def implementation(*args: Any) -> Any:
        return NotImplemented if kind == "declines" else "backend"

    entry: dict[str, Any] = {"function": implementation}
    if kind in ANSWERS:

        def should_run(context: Any, *args: Any) -> Any:
            ASKED.append(context.name)
            return ANSWERS[kind]

        entry["should_run"] = should_run
    if kind == "every":
        functions["*"] = entry
    elif kind != "absent":
        functions["lib:f"] = entry
    fields: dict[str, Any] = {
        "primary_types": [f"{HERE}:{each}" for each in draw(names.filter(bool))],
        "secondary_types": [f"{HERE}:{each}" for each in draw(names)],
        "requires_opt_in": draw(st.booleans()),
        "functions": functions,
    }
    if draw(st.booleans()):
        fields |= {"to_default": lambda value: Own(), "from_default": lambda value: "converted"}
    return fields


@given(
    st.lists(backends(), max_size=4),
    st.sampled_from(["default", "warn", "raise", "convert"]),
    st.lists(st.sampled_from(CLASSES), min_size=1, max_size=2),
    st.booleans(),
    st.data(),
)
def test_explain_and_the_call_agree(
    drawn: list[Any], policy: str, classes: list[type], in_code: bool, data: Any
) -> None:
    """V8: also about refusals and conversions; and nobody is asked twice in a call."""
    described = [{"name": f"b{number}", **fields} for number, fields in enumerate(drawn)]
    system = BackendSystem(
        *(None, "FALLBACKLIB", [f"{HERE}:Own"], described if in_code else []),
        default_secondary_types=[f"{HERE}:Scalar"],
        fallback=policy,
    )
    for each in [] if in_code else described:
        system.register(each)
    f = system.dispatchable(("x", "y"), identifier="lib:f")(lambda x, y=None: Own())
    names = [each["name"] for each in described]
    prioritize = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    args = [cls() for cls in classes]
    with warnings.catch_warnings(), system.backend_opts(prioritize=prioritize):
        warnings.simplefilter("ignore")
        explanation = f.explain(*args)
        # What declines can only be known from a call.
        declines = any(
            "lib:f" in each["functions"]
            and "should_run" not in each["functions"]["lib:f"]
            and each["functions"]["lib:f"]["function"]() is NotImplemented
            for each in described
        )
        for _ in range(2):
            ASKED.clear()
            outcome: Any
            try:
                result = f(*args)
            except NoImplementationError as error:
                outcome, considered = "refused", {each.backend for each in error.backends}
            else:
                outcome, considered = "default" if type(result) is Own else result, set()
            assert considered <= {*names}
            assert len(ASKED) == len(set(ASKED))
            if not declines:
                verdicts = {
                    each.backend: str(each.verdict)
                    for each in explanation.backends
                    if each.backend == explanation.selected
                    and str(each.verdict) in ("runs", "would convert")
                }
                if explanation.selected is None:
                    assert outcome == "refused"
                elif explanation.selected == "default":
                    assert outcome == "default"
                elif verdicts[explanation.selected] == "runs":
                    assert outcome == "backend"
                else:
                    assert outcome == "converted"
            if not any(cls in (Foreign, Other, Unknown) for cls in classes):
                assert outcome != "refused"
        with system.backend_opts(trace=True) as trace:
            try:
                f(*args)
            except NoImplementationError:
                assert outcome == "refused"
            else:
                assert [str(each.outcome) for each in trace][-1] in ("called", "converted")
