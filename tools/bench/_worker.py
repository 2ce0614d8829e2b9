"""Times calls in a separate process: one round for each line that it reads.

python -m bench._worker calls --peers raw,spatch
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice, permutations
from timeit import Timer
from types import FunctionType
from typing import Any

from bench._library import (
    DEVICE_TWO,
    OWN_TYPES,
    TYPES,
    Array,
    describe,
    make_library,
    make_methods,
    make_system,
    one,
    two,
)
from bench._peers import PEERS
from bench._protocols import by_hand, served

# The processor time, if it is precise enough: it excludes other processes.
clock = time.perf_counter if sys.platform == "win32" else time.process_time

BURSTS = 3


@dataclass(frozen=True)
class Case:
    """A timed operation: `time(loops)` returns the seconds of the loops, each of some calls."""

    name: str
    time: Callable[[int], float]
    calls: int = 1


def statement(name: str, code: str, calls: int = 1, **namespace: Any) -> Case:
    return Case(name, Timer(code, timer=clock, globals=namespace).timeit, calls)


def calls(names: list[str]) -> Iterator[Case]:
    """Yield every dispatcher's calls; ``raw/two`` is the bare function's of two arguments."""
    for name in names:
        try:
            peer = PEERS[name].make()
        except ModuleNotFoundError:
            continue
        f, g, h = peer.plain
        a, b, c = (peer.own() for _ in range(3))
        yield statement(f"{name}/one", "f(a)", f=f, a=a)
        yield statement(f"{name}/two", "g(a, b)", g=g, a=a, b=b)
        yield statement(f"{name}/three", "h(a, b, c)", h=h, a=a, b=b, c=c)
        if peer.takes_keywords:
            yield statement(f"{name}/keyword", "g(a, y=b)", g=g, a=a, b=b)
        if peer.takes_types:
            for form, types in (("12 types", TYPES), ("one type", [Array] * len(TYPES))):
                values = [cls() for cls in types]
                loop = "for x in values: g(x, x)"
                yield statement(f"{name}/{form}", loop, len(types), g=g, values=values)
        for form, function in peer.extra.items():
            make = peer.own if form == "alone" else peer.foreign
            yield statement(f"{name}/{form}", "f(a, b)", f=function, a=make(), b=make())


def around(names: list[str]) -> Iterator[Case]:
    """Yield operations that are rarer than calls: options, new states, decorating, ordering."""
    opts = make_library()[0].backend_opts
    variable: ContextVar[object] = ContextVar("variable", default=None)
    set_and_reset = "token = variable.set(value)\nvariable.reset(token)"
    yield statement("variable", set_and_reset, variable=variable, value=object())
    yield statement("block/new", "with opts(prioritize='device'): pass", opts=opts)
    yield statement("block/reused", "with block: pass", block=opts(prioritize="device"))
    yield from hooked()
    yield from methods()
    yield from protocols()
    yield Case("state/100", _new_states(100, 10))
    yield Case("state/1000", _new_states(1000, 10))
    yield Case("state/all 100", _new_states(100, 100))
    yield Case("decorate", _decorate)
    yield Case("order/1", _order(1))
    yield Case("order/100", _order(100))


def hooked() -> Iterator[Case]:
    """Yield calls that a hook passes on, calls after its block, and the same without hooks."""
    system, functions = make_library()
    opts: Any = system.backend_opts
    x, y = Array(), Array()

    def forward(call: Any) -> Any:
        return call.next(*call.args, **call.kwargs)

    try:
        block = opts(hook=forward)
    except TypeError:  # an earlier version
        return
    passed = Timer("g(x, y)", timer=clock, globals={"g": functions["two"], "x": x, "y": y}).timeit

    def through(loops: int) -> float:
        with block:
            return passed(loops)

    through(1)
    yield Case("hook/through", through)
    yield Case("hook/plain", passed)
    alone = functions["alone"]
    with block:
        alone(x, y)
    alone(x, y)
    yield statement("hook/after", "g(x, y)", g=alone, x=x, y=y)
    yield statement("hook/raw", "g(x, y)", g=two, x=x, y=y)


def methods() -> Iterator[Case]:
    """Yield calls of methods, and of types that override functions by a protocol."""
    found = make_methods()
    a = found["array"]
    yield statement("method/dispatched", "a.method(x)", a=a, x=a)
    yield statement("method/raw", "a.bare(x)", a=a, x=a)
    if "function" in found:  # no earlier version
        f, own, subclass = found["function"], found["own"], found["subclass"]
        yield statement("protocol/own", "f(x)", f=f, x=own)
        yield statement("protocol/subclass", "f(x)", f=f, x=subclass)


def protocols() -> Iterator[Case]:
    """Yield NumPy's functions and operators on duck arrays, by a backend and by a dictionary."""
    try:
        np = import_module("numpy")
        duck, system = served(np)
        system.lookup("numpy:mean", (type(duck),))
    except ImportError:  # also an earlier version
        return
    for name, array in (("backend", duck), ("by hand", by_hand(np))):
        yield statement(f"protocol/mean {name}", "mean(a)", mean=np.mean, a=array)
        yield statement(f"protocol/add {name}", "a + a", a=array)
    find, types = system.lookup, (type(duck),)
    yield statement("protocol/nothing", "pass")
    yield statement("protocol/lookup", "find('numpy:mean', types)", find=find, types=types)


def _new_states(total: int, implementing: int) -> Callable[[int], float]:
    """Time new states with a first call in each; the first backends implement the function."""
    names = [f"backend{number}" for number in range(total)]
    backends = []
    for number, name in enumerate(names):
        implemented = "bench:two" if number < implementing else "bench:else"
        backends.append(describe(name, {implemented: {"function": DEVICE_TWO}}, OWN_TYPES[:1]))
    system = make_system(backends)
    function: Any = system.dispatchable(("x", "y"), module="bench", qualname="two")(two)
    opts = system.backend_opts
    x, y = Array(), Array()
    for name in names[:implementing]:
        function.invoke(backend=name)(x, y)  # imports the implementation
    pairs = permutations(names, 2)

    def run(loops: int) -> float:
        chosen = list(islice(pairs, loops))
        assert len(chosen) == loops
        start = clock()
        for pair in chosen:
            with opts(prioritize=pair):
                function(x, y)
        return clock() - start

    return run


def _decorate(loops: int) -> float:
    """Time decorating functions of shapes that were seen before."""
    system = make_system([])

    def decorate(number: int, function: Any) -> None:
        arguments = ("x", "y") if number % 2 else "x"
        system.dispatchable(arguments, module="bench", qualname=f"f{number}")(function)

    made = [_copy(two if number % 2 else one) for number in range(loops + 2)]
    for number in range(2):
        decorate(number, made.pop(0))
    start = clock()
    for number, function in enumerate(made):
        decorate(number, function)
    return clock() - start


def _order(functions: int) -> Callable[[int], float]:
    """Time reading, checking and ordering 200 backends of some functions each."""
    names = range(functions)
    implementations = {f"lib:function{each}": {"function": f"b:f{each}"} for each in names}
    backends: list[dict[str, Any]] = []
    for number in range(200):
        own = f"{'~' if number % 3 else ''}gpu{number % 40}:Array"
        described = describe(f"backend{number}", implementations, [own])
        if number % 4 == 0:
            described["secondary_types"] = ["numpy:ndarray"]
        elif number % 4 == 2:
            described["primary_types"] = ["numpy:ndarray"]
            described["lower_priority_than"] = ["default"]
        backends.append(described)

    def run(loops: int) -> float:
        systems = [make_system(backends) for _ in range(loops)]
        start = clock()
        for system in systems:
            assert len(system.backends) == len(backends) + 1
        return clock() - start

    return run


def _copy(function: Any) -> Any:
    return FunctionType(function.__code__, function.__globals__, function.__name__)


def calibrate(case: Case, burst: float) -> int:
    """Return a number of loops that take at least `burst` seconds; this warms the case up."""
    loops = 1
    while min(case.time(loops), case.time(loops)) < burst:  # the first call may take long
        loops *= 2
    return loops


def time_rounds(cases: Iterator[Case], burst: float, seed: int) -> None:
    """Time each case once for each line that is read, in a new order each time.

    A sample is the best of three bursts; the seconds of one call are printed as JSON.
    """
    prepared = [(case, calibrate(case, burst)) for case in cases]
    shuffle = random.Random(seed).shuffle
    # Found among the loaded modules, because versions differ in the names of their own modules.
    files = [str(getattr(sys.modules[name], "__file__", "")) for name in list(sys.modules)]
    suffixes = tuple(EXTENSION_SUFFIXES)
    accelerated = any("spatch_core" in each and each.endswith(suffixes) for each in files)
    print(json.dumps(accelerated), flush=True)
    for _ in sys.stdin:
        shuffle(prepared)
        samples = {}
        for case, loops in prepared:
            best = min(case.time(loops) for _ in range(BURSTS))
            samples[case.name] = best / loops / case.calls
        print(json.dumps(samples), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("group", choices=["calls", "around"])
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--burst", type=float, default=0.0005)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cases = {"calls": calls, "around": around}[options.group](options.peers.split(","))
    time_rounds(cases, options.burst, options.seed)


if __name__ == "__main__":
    main()
