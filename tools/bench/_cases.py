"""The operations that `overhead.py` measures, all in turn, as a program that writes pyperf's files.

The functions return their arguments, packed: about the least that a useful function does.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from importlib import import_module
from itertools import permutations
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import pyperf

from spatch_core import BackendSystem
from spatch_core.protocols import library_functions, numpy_functions
from spatch_core.testing import write_distribution

HERE = __name__


class Case(NamedTuple):
    """A timed operation: a statement, or a function that returns the seconds of its loops."""

    name: str
    timed: str | Callable[[int], float]
    values: dict[str, Any]
    calls: int = 1


def statement(name: str, code: str, calls: int = 1, **values: Any) -> Case:
    return Case(name, code, values, calls)


# --- a library with backends


class Array:
    """The library's own type."""


class Device:
    """A backend's type."""


TYPES = [type(f"Array{number}", (), {"__module__": HERE}) for number in range(12)]
globals().update({cls.__name__: cls for cls in TYPES})


def one(x: Any) -> Any:
    return (x,)


def two(x: Any, y: Any) -> Any:
    return x, y


def three(x: Any, y: Any, z: Any) -> Any:
    return x, y, z


def any_of(*args: Any) -> Any:
    return args


def declining(x: Any, y: Any) -> Any:
    return NotImplemented


def always(context: Any, *args: Any, **keywords: Any) -> bool:
    return True


def make_array(*args: Any) -> Array:
    return Array()


def make_device(*args: Any) -> Device:
    return Device()


FUNCTIONS: tuple[Any, ...] = (one, two, three)


def copy_of(function: Any) -> Any:
    """Return a new function, because dispatchers set attributes on the functions that they get."""
    return FunctionType(function.__code__, function.__globals__, function.__name__)


def backend(name: str, functions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Describe a backend for `Device`."""
    named = {
        f"bench:{each}": entry if isinstance(entry, dict) else {"function": f"{HERE}:{entry}"}
        for each, entry in functions.items()
    }
    return {"name": name, "primary_types": [f"{HERE}:Device"], "functions": named, **fields}


def make_system(*backends: dict[str, Any], **options: Any) -> Any:
    types = [f"{HERE}:{cls.__name__}" for cls in (Array, *TYPES)]
    return BackendSystem(None, "BENCH", types, backends=backends, **options)


def make_library() -> tuple[Any, dict[str, Any]]:
    """Return a library's system, and its functions by the names of the measurements."""
    names = {"one": one, "two": two, "three": three, "asking": two, "deferring": two}
    asked = {"function": f"{HERE}:any_of", "should_run": f"{HERE}:always"}
    pair = {"to_default": f"{HERE}:make_array", "from_default": f"{HERE}:make_device"}
    system = make_system(
        backend(
            "device",
            {
                **dict.fromkeys([*names, "like", "inside"], "any_of"),
                "asking": asked,
                "deferring": "declining",
            },
            **pair,
        ),
        backend("other", {"deferring": "any_of"}),
    )

    def decorate(name: str, function: Any, *arguments: Any, **traits: Any) -> Any:
        made = system.dispatchable(*arguments, module="bench", qualname=name, **traits)
        return made(copy_of(function))

    functions = {
        name: decorate(name, function, [*"xyz"[: function.__code__.co_argcount]])
        for name, function in {**names, "alone": two}.items()
    }
    for policy in ("raise", "convert"):
        made = lambda x, y: Array()  # noqa: E731  # a default implementation
        functions[policy] = decorate(policy, made, ("x", "y"), fallback=policy)
    like = decorate("like", lambda size, *, like=None: size, like="like")
    inside = decorate("inside", one, inside="x")
    functions["like"] = lambda x, y: like(3, like=x)
    functions["inside"] = lambda x, y: inside([x, y])
    return system, functions


# --- dispatchers, each used as in its own documentation


class Peer(NamedTuple):
    """A dispatcher's functions of one, two and three arguments, and its features."""

    plain: Iterable[Any]
    extra: dict[str, Any]
    """More functions of two arguments, called with a backend's type; ``"alone"`` with the own."""
    own: Callable[[], Any] = Array
    foreign: Callable[[], Any] = Device
    takes_keywords: bool = True
    takes_types: bool = True


def raw() -> Peer:
    return Peer(FUNCTIONS, {})


def bare() -> Peer:
    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **keywords: Any) -> Any:
            return function(*args, **keywords)

        return wrapper

    return Peer(map(wrapped, FUNCTIONS), {})


def partial() -> Peer:
    return Peer(map(functools.partial, FUNCTIONS), {})


def spatch() -> Peer:
    _, found = make_library()

    def refused(x: Any, y: Any) -> None:
        try:  # faster than contextlib.suppress
            found["raise"](x, y)
        except TypeError:
            return

    more = ("asking", "deferring", "alone", "like", "inside")
    extra = {"other": found["two"], "refused": refused, "converted": found["convert"]}
    plain = [found[name] for name in ("one", "two", "three")]
    return Peer(plain, {**extra, **{name: found[name] for name in more}})


class Overriding:
    """A type with NumPy's protocol."""

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        return any_of(*args, **keywords)


def numpy() -> Peer:
    """The types of the arguments have no ``__array_function__``."""
    try:
        overrides = import_module("numpy._core.overrides")
    except ModuleNotFoundError:
        overrides = import_module("numpy.core.overrides")  # NumPy 1
    relevant = (lambda x: (x,), lambda x, y: (x, y), lambda x, y, z: (x, y, z))
    made = [
        overrides.array_function_dispatch(each, verify=False)(copy_of(function))
        for each, function in zip(relevant, FUNCTIONS, strict=True)
    ]
    return Peer(made, {"other": made[1]}, foreign=Overriding)


def numpy_arrays() -> Peer:
    zeros = functools.partial(import_module("numpy").zeros, 3)
    return numpy()._replace(extra={}, own=zeros, takes_types=False)


def uarray() -> Peer:
    module = import_module("uarray")
    mark = module.Dispatchable
    extractors = (
        lambda x: (mark(x, Array),),
        lambda x, y: (mark(x, Array), mark(y, Array)),
        lambda x, y, z: (mark(x, Array), mark(y, Array), mark(z, Array)),
    )

    class Backend:
        __ua_domain__ = "bench.other"

        @staticmethod
        def __ua_function__(method: Any, args: Any, keywords: Any) -> Any:
            return any_of(*args, **keywords)

    def make(extract: Any, default: Any, domain: str = "bench") -> Any:
        return module.generate_multimethod(
            extract, lambda args, keywords, values: (values, {}), domain, default=default
        )

    module.set_global_backend(Backend)
    other = make(extractors[1], two, "bench.other")
    return Peer(map(make, extractors, FUNCTIONS), {"other": other})


def registering(register: Callable[[Any, type], Any], *, takes_keywords: bool = True) -> Peer:
    for cls in (Array, *TYPES):
        for each in FUNCTIONS:
            register(each, cls)
    made = [register(each, Device) for each in FUNCTIONS]
    return Peer(made, {"other": made[1]}, takes_keywords=takes_keywords)


def singledispatch() -> Peer:
    generic = {each: functools.singledispatch(copy_of(each)) for each in FUNCTIONS}

    def register(function: Any, cls: type) -> Any:
        generic[function].register(cls)(copy_of(function))
        return generic[function]

    return registering(register)


def plum() -> Peer:
    dispatch = import_module("plum").Dispatcher()

    def register(function: Any, cls: type) -> Any:
        method = copy_of(function)
        method.__annotations__ = dict.fromkeys("xyz"[: function.__code__.co_argcount], cls)
        return dispatch(method)

    return registering(register, takes_keywords=False)


def multipledispatch() -> Peer:
    dispatch = import_module("multipledispatch").dispatch
    namespace: dict[str, Any] = {}

    def register(function: Any, cls: type) -> Any:
        types = [cls] * function.__code__.co_argcount
        return dispatch(*types, namespace=namespace)(copy_of(function))

    return registering(register, takes_keywords=False)


PEERS = (raw, bare, partial, spatch)
OTHERS = (numpy, numpy_arrays, uarray, singledispatch, plum, multipledispatch)
"""Their calls are the same with the C extension and without, and in all versions."""


# --- calls


def calls(peers: Iterable[Callable[[], Peer]]) -> Iterator[Case]:
    """Yield the calls of each dispatcher that is installed."""
    for make in peers:
        name = make.__name__
        try:
            peer = make()
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
            make_argument = peer.own if form == "alone" else peer.foreign
            a, b = make_argument(), make_argument()
            yield statement(f"{name}/{form}", "f(a, b)", f=function, a=a, b=b)


def around() -> Iterator[Case]:
    """Yield operations that are rarer than calls: options, new states, decorating, ordering."""
    system, functions = make_library()
    opts = system.backend_opts
    variable: ContextVar[object] = ContextVar("variable", default=None)
    set_and_reset = "token = variable.set(value)\nvariable.reset(token)"
    yield statement("variable", set_and_reset, variable=variable, value=object())
    yield statement("block/new", "with opts(prioritize='device'): pass", opts=opts)
    yield statement("block/reused", "with block: pass", block=opts(prioritize="device"))
    g, x, y = functions["two"], Array(), Array()
    block = opts(hook=lambda call: call.next(*call.args, **call.kwargs))
    yield Case("hook/through", functools.partial(in_block, block, g, x, y), {})
    yield statement("hook/plain", "g(x, y)", g=g, x=x, y=y)
    yield from methods()
    yield from protocols()
    yield Case("state/100", functools.partial(new_states, 100, 10), {})
    yield Case("state/1000", functools.partial(new_states, 1000, 10), {})
    yield Case("decorate", decorate, {})
    yield Case("order/1", functools.partial(order, 1), {})
    yield Case("order/100", functools.partial(order, 100), {})


def in_block(block: Any, function: Any, x: Any, y: Any, loops: int) -> float:
    with block:
        function(x, y)  # makes the entry of the table
        start = time.perf_counter()
        for _ in range(loops):
            function(x, y)
        return time.perf_counter() - start


def methods() -> Iterator[Case]:
    """Yield calls of methods, and of types that override functions by a library's protocol."""
    system = make_system(backend("device", {"method": "any_of"}))

    class Methods(Array):
        @system.dispatchable("x", module="bench", qualname="method")  # type: ignore[untyped-decorator]
        def method(self, x: Any) -> Any:
            return (x,)

        def bare(self, x: Any) -> Any:
            return (x,)

    a = Methods()
    yield statement("method/dispatched", "a.method(x)", a=a, x=a)
    yield statement("method/raw", "a.bare(x)", a=a, x=a)
    own = make_system(protocol="__bench_function__")

    class Own(library_functions(own)):  # type: ignore[misc]  # a class made at run time
        def as_subclass(self, cls: Any) -> Any:
            return cls()

    class Subclass(Own):
        """Keeps the generic implementation."""

    class Overrides:
        @classmethod
        def __bench_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return args

    f = own.dispatchable("x", module="bench", qualname="protocol")(lambda x: Own())
    yield statement("protocol/own", "f(x)", f=f, x=Overrides())
    yield statement("protocol/subclass", "f(x)", f=f, x=Subclass())


def mean(a: Any) -> Any:
    """Return the argument, about the least that an implementation can do."""
    return a


def add(a: Any, b: Any) -> Any:
    return a


def protocols() -> Iterator[Case]:
    """Yield NumPy's functions and operators on duck arrays, by a backend and by a dictionary."""
    np: Any = import_module("numpy")
    system = make_system()
    bases = numpy_functions(system), np.lib.mixins.NDArrayOperatorsMixin
    served: Any = type("Served", bases, {"__module__": HERE})
    functions = {"numpy:mean": {"function": mean}, "numpy:add": {"function": add}}
    system.register({"name": "duck", "primary_types": [f"{HERE}:Served"], "functions": functions})
    handled: dict[Any, Any] = {np.mean: mean, np.add: add}

    class ByHand(np.lib.mixins.NDArrayOperatorsMixin):  # type: ignore[misc]
        """The idiom of NumPy's own documentation."""

        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            if func not in handled or not all(issubclass(each, ByHand) for each in types):
                return NotImplemented
            return handled[func](*args, **kwargs)

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
            if method != "__call__" or ufunc not in handled:
                return NotImplemented
            if not all(isinstance(each, (ByHand, np.ndarray)) for each in inputs):
                return NotImplemented
            return handled[ufunc](*inputs, **kwargs)

    for name, array in (("backend", served()), ("by hand", ByHand())):
        yield statement(f"protocol/mean {name}", "mean(a)", mean=np.mean, a=array)
        yield statement(f"protocol/add {name}", "a + a", a=array)
    find, types = system.lookup, (served,)
    yield statement("protocol/lookup", "find('numpy:mean', types)", find=find, types=types)


def new_states(total: int, implementing: int, loops: int) -> float:
    """Time new states with a first call in each; the first backends implement the function."""
    names = [f"backend{number}" for number in range(total)]
    described = [
        backend(name, {"two" if number < implementing else "else": "any_of"})
        for number, name in enumerate(names)
    ]
    system = make_system(*described)
    function = system.dispatchable(("x", "y"), module="bench", qualname="two")(copy_of(two))
    opts, x, y = system.backend_opts, Device(), Device()
    for name in names[:implementing]:
        function.invoke(backend=name)(x, y)  # imports the implementation
    chosen = [pair for pair, _ in zip(permutations(names, 2), range(loops), strict=False)]
    start = time.perf_counter()
    for pair in chosen:
        with opts(prioritize=pair):
            function(x, y)
    return (time.perf_counter() - start) * loops / len(chosen)


def decorate(loops: int) -> float:
    """Time decorating functions of shapes that were seen before."""
    system = make_system()
    made = [copy_of(two if number % 2 else one) for number in range(loops + 2)]
    start = 0.0
    for number, function in enumerate(made):
        if number == 2:
            start = time.perf_counter()
        arguments = ("x", "y") if number % 2 else "x"
        system.dispatchable(arguments, module="bench", qualname=f"f{number}")(function)
    return time.perf_counter() - start


def order(functions: int, loops: int) -> float:
    """Time reading, checking and ordering 200 backends of some functions each."""
    implementations = {f"lib:f{each}": {"function": f"b:f{each}"} for each in range(functions)}
    backends: list[dict[str, Any]] = []
    for number in range(200):
        own = f"{'~' if number % 3 else ''}gpu{number % 40}:Array"
        described = {"name": f"b{number}", "primary_types": [own], "functions": implementations}
        if number % 4 == 0:
            described["secondary_types"] = ["numpy:ndarray"]
        elif number % 4 == 2:
            described["primary_types"] = ["numpy:ndarray"]
            described["lower_priority_than"] = ["default"]
        backends.append(described)
    systems = [make_system(*backends) for _ in range(loops)]
    start = time.perf_counter()
    for system in systems:
        assert len(system.backends) == len(backends) + 1
    return time.perf_counter() - start


# --- fresh processes, which see nothing but spatch_core and the distributions that are written here

# Without the environment it was made in; its own site-packages has little more than pip.
PYTHON = getattr(sys, "_base_executable", None) or sys.executable
START = "import time\nstart = time.perf_counter()\n"
STOP = "print(time.perf_counter() - start)\n"
LIBRARY = """
from spatch_core import BackendSystem
system = BackendSystem("bench.backends", "BENCH", ["builtins:float"])
for number in range({functions}):
    @system.dispatchable(("x", "y"), module="bench", qualname=f"function{{number}}")
    def function(x, y=None): return x
"""
ALONE = "from importlib.metadata import entry_points\nentry_points(group='bench.backends')\n"
TEMPORARY = tempfile.TemporaryDirectory(prefix="overhead-")


def fresh() -> Iterator[Case]:
    """Yield imports, discovery and the first call of a process."""

    def case(name: str, timed: str, before: str = "", *installed: int) -> Case:
        text = f"{before}{START}{timed}{STOP}"
        return Case(name, functools.partial(processes, text, installed), {})

    library = LIBRARY.format(functions=1)
    yield case("import", "import spatch_core\n")
    yield case("library", library)
    yield case("50/alone", ALONE, "", 50, 3, 20)
    yield case("50/discovered", "assert len(system.backends) == 4\n", library, 50, 3, 20)
    many = LIBRARY.format(functions=100)
    yield case("first call", "function(1.0, 2.0)\n", many, 100, 100, 100)


def processes(text: str, installed: tuple[int, ...], loops: int) -> float:
    """Run a program in processes; return the seconds that these print, in all."""
    package = Path(str(import_module("spatch_core").__file__)).parents[1]
    path = [package, *([install(*installed)] if installed else [])]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [PYTHON, "-s", *(["-S"] if installed else []), "-c", text]
    return sum(
        float(subprocess.run(command, env=variables, stdout=subprocess.PIPE, check=True).stdout)
        for _ in range(loops)
    )


@functools.cache
def install(count: int, backends: int, functions: int) -> Path:
    """Write distributions; the first ones have backends, every fifth of the others a command."""
    folder = Path(TEMPORARY.name) / f"{count}-{backends}"
    for number in range(count):
        package = f"package_{number}"
        files = {f"{package}/__init__.py": ""}
        entry_points = {}
        if number < backends:
            entry_points["bench.backends"] = {f"backend{number}": f"{package}:backend.toml"}
            files[f"{package}/backend.toml"] = description(number, package, functions)
        elif number % 5 == 0:
            entry_points["console_scripts"] = {package: f"{package}:main"}
        write_distribution(folder, package, entry_points=entry_points, files=files)
    return folder


def description(number: int, package: str, functions: int) -> str:
    lines = [f'name = "backend{number}"', f'primary_types = ["{package}.arrays:Array"]']
    for each in range(functions):
        lines += [
            f'[functions."bench:function{each}"]',
            f'function = "{package}.functions:function{each}"',
            f'should_run = "{package}.functions:should_run"',
            f"additional_docs = {json.dumps(f'Runs function {each} elsewhere.')}",
        ]
    return "\n".join(lines)


def cases(*, own: bool) -> Iterator[Case]:
    """Yield all operations; of the dispatchers, only those of this project if they are `own`."""
    yield from calls(PEERS if own else (*PEERS, *OTHERS))
    yield from around()
    yield from fresh()


SLICE, SHARE = 0.0005, 0.4
"""Seconds of one slice of an operation, and of all of them with their preparations."""


class Timed:
    """An operation, and its values in seconds: each is the mean of a slice's loops."""

    def __init__(self, case: Case) -> None:
        self.name = case.name
        self.calls = case.calls
        timed = case.timed
        if isinstance(timed, str):
            timed = timeit.Timer(timed, globals=case.values).timeit
        self.time = timed
        self.values: list[float] = []
        self.spent = 0.0
        self.loops = 1
        self.time(1)  # fills the tables of the functions that it calls
        while self.time(self.loops) < SLICE:
            self.loops *= 2

    def measure(self) -> bool:
        """Measure a slice; return whether there is time for another one."""
        start = time.perf_counter()
        self.values.append(self.time(self.loops) / self.loops / self.calls)
        self.spent += time.perf_counter() - start
        return self.spent < SHARE or len(self.values) < 3

    def benchmark(self) -> pyperf.Benchmark:
        metadata = {
            "name": self.name,
            "loops": self.loops,
            "inner_loops": self.calls,
            "accelerated": str(import_module("spatch_core").accelerated),
        }
        return pyperf.Benchmark([pyperf.Run(self.values, metadata=metadata)])


def main() -> None:
    """Measure slices of all operations in turn: what disturbs the machine meets them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="of pyperf, to which the values are added")
    parser.add_argument("--own", action="store_true", help="leave out other dispatchers")
    parser.add_argument("--only", default="", help="how the names of operations begin")
    options = parser.parse_args()
    measured = [
        Timed(case) for case in cases(own=options.own) if case.name.startswith(options.only)
    ]
    waiting = measured
    while waiting:
        waiting = [each for each in waiting if each.measure()]
    pyperf.add_runs(options.file, pyperf.BenchmarkSuite([each.benchmark() for each in measured]))


if __name__ == "__main__":
    main()
