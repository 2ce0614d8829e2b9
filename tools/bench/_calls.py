"""Times calls, or lets valgrind count their instructions; run in a process of its own.

python -m bench._calls --rounds 20 --burst 0.0005 --seed 1
valgrind --tool=callgrind --dump-before=getppid python -m bench._calls --count
"""

from __future__ import annotations

import argparse
import gc
import json
import os
from typing import TYPE_CHECKING, Any

from bench._library import TYPES, Array, Device
from bench._peers import dispatchers
from bench._sampling import Case, sample

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT_LOOP = 500
LONG_LOOP = 1500


def cases() -> Iterator[Case]:
    """Yield every dispatcher's calls; ``raw/two`` is the bare function's of two arguments."""
    for name, dispatcher in dispatchers().items():
        yield from _cases(name, dispatcher)


def _cases(name: str, dispatcher: Any) -> Iterator[Case]:
    def case(form: str, statement: str, function: Any, cls: type = Array) -> Case:
        a, b, c = dispatcher.values(cls)
        namespace = {"f": function, "a": a, "b": b, "c": c}
        return Case(f"{name}/{form}", statement, namespace)

    yield case("one", "f(a)", dispatcher.one)
    yield case("two", "f(a, b)", dispatcher.two)
    yield case("three", "f(a, b, c)", dispatcher.three)
    if dispatcher.takes_keywords:
        yield case("keyword", "f(a, y=b)", dispatcher.two)
    if dispatcher.takes_types:
        for form, types in (("12 types", TYPES), ("one type", [Array] * len(TYPES))):
            namespace = {"f": dispatcher.two, "values": [cls() for cls in types]}
            yield Case(f"{name}/{form}", "for x in values: f(x, x)", namespace, len(TYPES))
    for form in ("other", "asking"):
        function = getattr(dispatcher, form, None)
        if function is not None:
            yield case(form, "f(a, b)", function, Device)
    if hasattr(dispatcher, "alone"):
        yield case("alone", "f(a, b)", dispatcher.alone)


def count() -> tuple[list[str], list[int]]:
    """Run two loops of each case, each between two calls of ``getppid``.

    What the loops differ in are the calls: the rest of what they do is the same.

    Returns
    -------
    names : list of str
        The cases.
    calls : list of int
        How many calls each makes in one turn of the loop.
    """
    done = []
    for case in cases():
        timer = case.timer()
        timer.timeit(SHORT_LOOP)
        gc.collect()  # or it would start in the short loop: timeit puts it off
        os.getppid()
        timer.timeit(SHORT_LOOP // case.calls)
        os.getppid()
        timer.timeit(LONG_LOOP // case.calls)
        os.getppid()
        done.append(case)
    return [case.name for case in done], [case.calls for case in done]


def main() -> None:
    import spatch_core

    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--burst", type=float, default=0.0005)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    answer: Any = (
        count() if options.count else sample(cases(), options.rounds, options.burst, options.seed)
    )
    print(json.dumps([bool(getattr(spatch_core, "accelerated", False)), answer]))


if __name__ == "__main__":
    main()
