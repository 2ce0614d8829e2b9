"""Times what happens less often than calls: options, new states, ordering, decorating.

Run in a process of its own, as ``python -m bench._setup``; prints the samples as JSON.
"""

from __future__ import annotations

import argparse
import json
from contextvars import ContextVar
from itertools import islice, permutations
from random import Random
from types import FunctionType
from typing import TYPE_CHECKING, Any

from bench._library import DEVICE_TWO, OWN_TYPES, Array, Library, describe, make_system, one, two
from bench._sampling import Case, Samples, clock, sample

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATES = 20
_FUNCTIONS = 100


def options(rounds: int, burst: float) -> Samples:
    """Time blocks of options against what they cannot do without."""
    library = Library()
    opts = library.system.backend_opts
    variable: ContextVar[object] = ContextVar("variable", default=None)
    cases = [
        Case(
            "variable",
            "token = variable.set(value)\nvariable.reset(token)",
            {"variable": variable, "value": object()},
        ),
        Case("block/new", "with opts(prioritize='device'): pass", {"opts": opts}),
        Case("block/reused", "with block: pass", {"block": opts(prioritize="device")}),
    ]
    return sample(cases, rounds, burst)


def states(rounds: int) -> Samples:
    """Time blocks nobody has seen before, each with one call in it."""
    measured = {
        "state/100": _new_states(100, 10),
        "state/1000": _new_states(1000, 10),
        "state/all 100": _new_states(100, 100),
    }
    return {
        name: list(column)
        for name, column in zip(
            measured,
            zip(*(tuple(map(next, measured.values())) for _ in range(rounds)), strict=True),
            strict=True,
        )
    }


def _new_states(total: int, implementing: int) -> Iterator[float]:
    """Yield seconds for a new state and a first call; the first backends implement it."""
    implementation = {"function": DEVICE_TWO}
    system = make_system(
        [
            describe(
                f"backend{number}",
                {"bench:two" if number < implementing else "bench:else": implementation},
                OWN_TYPES[:1],
            )
            for number in range(total)
        ]
    )
    function: Any = system.dispatchable(("x", "y"), module="bench", qualname="two")(two)
    opts = system.backend_opts
    x, y = Array(), Array()
    names = [f"backend{number}" for number in range(total)]
    for name in names[:implementing]:
        function.invoke(backend=name)(x, y)  # imports what it is
    pairs = permutations(names, 2)
    while True:
        chosen = list(islice(pairs, _STATES))
        start = clock()
        for pair in chosen:
            with opts(prioritize=pair):
                function(x, y)
        yield (clock() - start) / _STATES


def order(rounds: int) -> Samples:
    """Time putting 1,000 backends with 100 functions each in order, and all that comes before."""
    from spatch_core._order.ordering import order_backends

    fields = list(_many_backends())
    start = clock()
    resolver = make_system(fields).resolver()
    samples: Samples = {"build": [clock() - start], "order": []}
    descriptions = list(resolver.catalog.descriptions.values())
    Random(0).shuffle(descriptions)
    assert len(descriptions) == len(fields) + 1
    for _ in range(rounds):
        start = clock()
        order_backends(descriptions)
        samples["order"].append(clock() - start)
    return samples


def _many_backends() -> Iterator[dict[str, Any]]:
    """Yield backends such as there may be: on types of their own, shared ones, with edges."""
    functions = {f"lib.part:function{each}": {"function": f"b:f{each}"} for each in range(100)}
    for number in range(1000):
        name = f"backend{number}"
        own = f"{'~' if number % 3 else ''}gpu{number % 200}:Array"
        if number % 2:
            yield describe(name, functions, [own])
        elif number % 4:
            yield {**describe(name, functions, [own]), "secondary_types": ["numpy:ndarray"]}
        else:
            edges = {"lower_priority_than": ["default"]} if number % 8 else {}
            yield {**describe(name, functions, ["numpy:ndarray"]), **edges}


def decorating(rounds: int) -> Samples:
    """Time decorating a function of a shape that was seen before."""
    samples: Samples = {"decorate": []}
    for _ in range(rounds):
        system = make_system([])
        made: list[Any] = [_copy(two if each % 2 else one) for each in range(_FUNCTIONS)]
        for function in made[:2]:
            system.dispatchable(list("xy")[: function.__code__.co_argcount])(function)
        start = clock()
        for number, function in enumerate(made):
            arguments = ("x", "y") if number % 2 else "x"
            system.dispatchable(arguments, module="bench", qualname=f"f{number}")(function)
        samples["decorate"].append((clock() - start) / _FUNCTIONS)
    return samples


def _copy(function: Any) -> Any:
    return FunctionType(function.__code__, function.__globals__, function.__name__)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--burst", type=float, default=0.0005)
    options_ = parser.parse_args()
    rounds = options_.rounds
    answer = {
        **options(rounds, options_.burst),
        **states(rounds),
        **decorating(rounds),
        **order(rounds),  # last, because it leaves much for the garbage collector
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
