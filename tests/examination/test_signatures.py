"""The rules about signatures agree with real calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from itertools import product
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from spatch_core.examination.functions import mismatches

KINDS = [
    Parameter.POSITIONAL_ONLY,
    Parameter.POSITIONAL_OR_KEYWORD,
    Parameter.VAR_POSITIONAL,
    Parameter.KEYWORD_ONLY,
    Parameter.VAR_KEYWORD,
]
NAMED = (KINDS[0], KINDS[1], KINDS[3])
REST = {Parameter.VAR_POSITIONAL: "args", Parameter.VAR_KEYWORD: "kwargs"}


@st.composite
def signatures(draw: st.DrawFn, like: Signature | None = None) -> Signature:
    """Any signature of a few parameters, or one similar to `like`."""
    parameters: list[Parameter] = []
    names = draw(st.permutations(["x", "y", "n", "m"]))[: draw(st.integers(0, 3))]
    if like is not None:
        parameters = [each for each in like.parameters.values() if draw(st.integers(0, 5))]
        used = [each.name for each in parameters]
        names = [name for name in names[:1] if name not in used]
    for name in names:
        empty: Any = Parameter.empty
        default = draw(st.sampled_from([None, empty]))
        parameters.append(Parameter(name, draw(st.sampled_from(NAMED)), default=default))
    taken = {each.kind for each in parameters}
    for kind, name in REST.items():
        if kind not in taken and not draw(st.integers(0, 2)):
            parameters.append(Parameter(name, kind))
    parameters.sort(key=lambda each: each.kind)
    optional = False
    for position, each in enumerate(parameters):
        if each.kind <= Parameter.POSITIONAL_OR_KEYWORD:
            optional = optional or each.default is None
            parameters[position] = each.replace(default=None if optional else each.empty)
    return Signature(parameters)


def calls(default: Signature, more: int) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield all ways to call a function, with the names of its parameters as arguments.

    With up to `more` further arguments by position, and one by a keyword that is no parameter's
    name, where the function takes them.
    """
    named = [each for each in default.parameters.values() if each.kind in NAMED]
    has_args, has_kwargs = (name in default.parameters for name in REST.values())
    for ways in product(("position", "keyword", ""), repeat=len(named)):
        args = [each.name for each, way in zip(named, ways, strict=True) if way == "position"]
        given = [each.name for each, way in zip(named, ways, strict=True) if way == "keyword"]
        for number, extra in product(range(more * has_args + 1), range(has_kwargs + 1)):
            further = [f"further {n}" for n in range(number)]
            kwargs = {name: name for name in [*given, *["unheard_of"] * extra]}
            try:
                bound = function(default)(*args, *further, **kwargs)
            except TypeError:
                continue
            # An argument left out in between would shift the others.
            if all(bound[name] == name for name in (*args, *given)):
                yield [*args, *further], kwargs


def goes_wrong(
    default: Signature, implementation: Signature, args: list[str], kwargs: dict[str, str]
) -> bool:
    """Whether a call does not bind, or passes an argument to the parameter of another one."""
    try:
        bound = function(implementation)(*args, **kwargs)
    except TypeError:
        return True
    theirs = {each.name for each in default.parameters.values() if each.kind in NAMED}
    own = {
        each.name
        for each in implementation.parameters.values()
        if each.kind in NAMED and bound[each.name] != "context"
    }
    for there, value in bound.items():
        if there in REST.values():
            if own & theirs & {*value}:
                return True
        elif value in theirs and value != there and (there in theirs or value in own):
            return True
    return False


def function(signature: Signature) -> Callable[..., dict[str, Any]]:
    """Make a real function, because `Signature.bind` is not always right."""
    made: Callable[..., dict[str, Any]] = eval(f"lambda {str(signature)[1:-1]}: locals()")  # noqa: S307
    return made


@settings(max_examples=400)
@given(st.data(), st.booleans())
def test_a_signature_fits_exactly_if_it_takes_every_call(
    data: st.DataObject, context: bool
) -> None:
    """The rules compare parameters one by one; real calls confirm them."""
    default = data.draw(signatures(), "library")
    implementation = data.draw(signatures() | signatures(default), "implementation")
    more = len(implementation.parameters) + 1
    first = ["context"] if context else []

    faults = mismatches(default, implementation, context)

    wrong = [
        (args, kwargs)
        for args, kwargs in calls(default, more)
        if goes_wrong(default, implementation, [*first, *args], kwargs)
    ]
    event("does not fit" if faults else "fits")
    assert bool(faults) == bool(wrong), (str(default), str(implementation), faults, wrong[:3])
