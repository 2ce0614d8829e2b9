"""The C extension: leaks, threads, forks, the end of the interpreter."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from textwrap import dedent
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core._parameters import missing
from spatch_core.testing import run_python

IS_SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
"""Whether AddressSanitizer delays the reuse of freed memory; see tools/sanitize.py."""

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="only CPython with its global lock has the C extension",
)


class Foreign:
    """A type of both backends."""


class Second(Foreign):
    """A type of the second backend alone."""


class Unhashable(type):
    __hash__ = None  # type: ignore[assignment]


class Odd(Foreign, metaclass=Unhashable):
    """A class that cannot be a key."""


class MineError(Exception):
    """Raised by implementations."""


deeds: list[Callable[[], object]] = []
"""A callable that an implementation calls before it answers; at most one."""


def answer_first(*args: Any, **kwargs: Any) -> Any:
    if deeds:
        deeds[0]()
    return "first", args, kwargs


def answer_second(*args: Any, **kwargs: Any) -> Any:
    return "second", args, kwargs


def fail(*args: Any, **kwargs: Any) -> Any:
    raise MineError


def defer(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def is_wanted(context: Any, *args: Any, **kwargs: Any) -> Any:
    return True


def default(x: Any = "x", y: Any = "y", *rest: Any, **options: Any) -> Any:
    return "default", (x, y, *rest), options


def describe(name: str, functions: dict[str, str], **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {
            f"lib:{function}": {"function": f"{__name__}:{implementation}", **fields}
            for function, implementation in functions.items()
        },
    }


def make() -> tuple[BackendSystem, dict[str, Any]]:
    """Make a library of six functions, of which no backend implements the last."""
    first = describe("first", {"f": "answer_first", "failing": "fail", "deferring": "defer"})
    asking = describe("first", {"asking": "answer_first"}, should_run=f"{__name__}:is_wanted")
    first["functions"] |= asking["functions"]
    second = describe("second", dict.fromkeys(["f", "deferring"], "answer_second"))
    nobody = describe("nobody", {"alone": "defer"})
    nobody["primary_types"] = ["nowhere:Type"]
    system = BackendSystem(None, "STRESS", backends=[first, second, nobody])
    names = ("f", "failing", "deferring", "asking", "alone", "plain")
    return system, {
        name: system.dispatchable(("x", "y"), module="lib", qualname=name)(default)
        for name in names
    }


def resident_memory() -> int:
    """Return the resident memory of the process in bytes; 0 where it is not known."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def collect() -> None:
    for _ in range(3):
        gc.collect()


@pytest.fixture(autouse=True)
def undone() -> Any:
    """Remove deeds, and keep collections from traversing the objects of other tests."""
    collect()
    gc.freeze()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that options override earlier ones
        yield
    deeds.clear()
    gc.unfreeze()


class Workload:
    """Ways to call functions, none of which may leak."""

    def __init__(self) -> None:
        self.system, self.functions = make()
        self.x, self.y, self.odd = Foreign(), object(), Odd()
        self.reference: Any = None

    def hit(self, count: int) -> None:
        f, x, y = self.functions["f"], self.x, self.y
        for _ in repeat(None, count):
            f(x, y)
            f(y, x)
            f(y, y)
            f(x)
            f()

    def keyword(self, count: int) -> None:
        f, x, y = self.functions["f"], self.x, self.y
        for _ in repeat(None, count):
            f(x, y=y)
            f(y=x, x=y)
            f(x, y, 1, key=2)

    def names(self, count: int) -> None:
        f, x = self.functions["f"], self.x
        for _ in repeat(None, count):
            f(**{str(b"x", "ascii"): x, str(b"key", "ascii"): x})

    def asked(self, count: int) -> None:
        f, x = self.functions["asking"], self.x
        for _ in repeat(None, count):
            f(x, key=x)

    def failing(self, count: int) -> None:
        f, x, y = self.functions["failing"], self.x, self.y
        for _ in repeat(None, count):
            with suppress(MineError):
                f(x, y)
            with suppress(TypeError):
                f(y, y, x=y)

    def deferring(self, count: int) -> None:
        f, x, y = self.functions["deferring"], self.x, self.y
        g = self.functions["alone"]
        for _ in repeat(None, count):
            f(x, y)
            f(x, key=y)
            g(x)

    def missing_entries(self, count: int) -> None:
        f, x, y = self.functions["f"], self.x, self.y
        for _ in repeat(None, count):
            self.system._dispatcher.keeper.forget_tables()
            f(x, y)
            f(x, y=y)
            f(self.odd, y)

    def states(self, count: int) -> None:
        f, x = self.functions["f"], self.x
        for _ in repeat(None, count):
            with self.system.backend_opts(prioritize="second"):
                f(x)
            with self.system.backend_opts(type=Second):
                f(1, x)

    def plain(self, count: int) -> None:
        f, x = self.functions["plain"], self.x
        for _ in repeat(None, count):
            f(x)
            with self.system.backend_opts(trace=True):
                f(x)

    def invalidating(self, count: int) -> None:
        """Remove the tables, the state or the backends during a call."""
        f, x = self.functions["f"], self.x
        opts = self.system.backend_opts

        def trace() -> None:
            with opts(trace=True):
                self.functions["plain"](x)

        def drop() -> None:
            for table in self.system._dispatcher.keeper.get()[1:]:
                table.clear()

        def globally() -> None:
            opts(prioritize="first").enable_globally()

        ways = [trace, drop, globally, self.system._dispatcher.keeper.forget_tables]
        for number in range(count):
            deeds[:] = [self.system.reload if number % 50 == 0 else ways[number % len(ways)]]
            f(x, x)
            f(x, y=x)
            self.functions["asking"](x)  # only the table refers to the callable
            deeds.clear()

    def classes(self, count: int) -> None:
        """Call with short-lived classes, and drop some of them during the call."""
        f = self.functions["f"]
        for number in range(count):
            cls: Any = type("Short", (Foreign,) if number % 2 else (), {})
            f(cls(), cls())
            self.reference = weakref.ref(cls)

            def drop() -> None:
                nonlocal cls
                del cls
                self.system._dispatcher.keeper.forget_tables()

            deeds[:] = [drop]
            f(cls(), 1)
            deeds.clear()
        collect()
        assert self.reference() is None

    def wrappers(self, count: int) -> None:
        """Drop a function and its library during a call."""
        for _ in range(count):
            functions = make()[1]
            functions["f"](self.x)
            deeds[:] = [functions.clear]
            functions["f"](self.x, y=1)
            deeds.clear()
        collect()

    def counts(self) -> list[int]:
        """Return the reference counts of all objects that calls use."""
        involved: list[Any] = [
            *(each for f in self.functions.values() for each in (f, f.__wrapped__)),
            *(self.functions[name].__code__ for name in ("f", "failing", "deferring", "asking")),
            *(answer_first, answer_second, fail, defer, default, is_wanted, missing),
            *(self.x, self.y, self.odd, Foreign, Second, Odd, MineError),
            *(self.system, self.system._dispatcher.keeper, self.system._dispatcher.keeper.variable),
            self.system._dispatcher,
            *(sys.intern(name) for name in ("x", "y", "key", "deferred")),
            *(NotImplemented, None, ()),
        ]
        return [*map(sys.getrefcount, involved)]


WORK: dict[str, int] = {
    "hit": 160_000,
    "keyword": 70_000,
    "names": 20_000,
    "asked": 20_000,
    "failing": 40_000,
    "deferring": 10_000,
    "missing_entries": 2_000,
    "states": 2_000,
    "plain": 1_000,
    "invalidating": 1_000,
    "classes": 1_000,
    "wrappers": 100,
}
"""Repetitions of each way: more than a million calls in all, mostly quick ones."""


@pytest.mark.parametrize("kind", WORK)
def test_calls_leak_nothing(kind: str) -> None:
    """Neither references nor memory, whether they return or raise."""
    work = Workload()
    run: Callable[[int], None] = getattr(work, kind)
    # Fill all caches.
    run(300 if WORK[kind] > 300 else 20)
    run(300 if WORK[kind] > 300 else 20)
    collect()
    counts, blocks, memory = work.counts(), sys.getallocatedblocks(), resident_memory()
    run(WORK[kind])
    collect()
    found = sys.getallocatedblocks() - blocks, resident_memory() - memory
    grown = [after - before for before, after in zip(counts, work.counts(), strict=True)]
    # The state in force and its caches own a few references more or less.
    assert max(map(abs, grown)) < 8, grown
    # Interpreters keep free lists.
    assert found[0] < 500
    assert found[1] < (8 << 20 if not IS_SANITIZED else 512 << 20)


def test_many_threads_get_right_answers() -> None:
    """While others change states, reload, trace, collect, and create classes and libraries."""
    system, functions = make()
    f, deferring, plain = (functions[name] for name in ("f", "deferring", "plain"))
    opts = system.backend_opts
    stop = threading.Event()
    wrong: list[Any] = []
    done: list[int] = []

    def check(function: Any, who: Any, *args: Any, **kwargs: Any) -> None:
        result = function(*args, **kwargs)
        name, *received = result
        expected = [args, kwargs]
        if name == "default":
            expected = list(default(*args, **kwargs)[1:])
        if name not in who or received != expected:
            wrong.append((function, who, args, kwargs, result))

    def call() -> None:
        x, y = Foreign(), object()
        check(f, ("first", "second"), x, y)
        check(f, ("first", "second"), x, y=y)
        check(f, ("default",), y)
        check(deferring, ("second",), x, y, key=y)
        check(plain, ("default",), x)

    def change() -> None:
        x = Second()
        for _ in range(20):
            with opts(prioritize="second"):
                check(f, ("second",), x, 1)
                with opts(disable="second"):
                    check(f, ("first",), x, 1)
                check(f, ("second",), y=x)
            with opts(type=Second, prioritize="first"):
                check(f, ("first",), 1, 2)

    def trace() -> None:
        with opts(trace=True, prioritize="first") as trace:
            check(f, ("first",), Foreign())
            check(plain, ("default",), 1)
        backends = [event.backend for event in trace]
        if backends != ["first", "default"]:
            wrong.append(backends)

    def make_default() -> None:
        for name in ("first", "second"):
            opts(prioritize=name).enable_globally()
            check(f, ("first", "second"), Foreign())

    def make_classes() -> None:
        for number in range(50):
            is_known = random.random() < 0.5
            cls = type(f"Class{number}", (Foreign,) if is_known else (), {})
            for _ in range(3):
                check(f, ("first", "second") if is_known else ("default",), cls())

    def make_libraries() -> None:
        own, others = make()
        with own.backend_opts(prioritize="second"):
            check(others["f"], ("second",), Foreign())
        check(others["f"], ("first",), Foreign(), y=1)
        check(others["plain"], ("default",), Foreign())

    def repeated(task: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            number = 0
            try:
                while not stop.is_set():
                    task()
                    number += 1
            except BaseException as error:
                wrong.append(error)
                raise
            finally:
                done.append(number)

        return run

    tasks: list[Callable[[], object]] = [
        call,
        call,
        call,
        change,
        trace,
        make_default,
        make_classes,
        make_libraries,
        system.reload,
        gc.collect,
    ]
    threads = [threading.Thread(target=repeated(task)) for task in tasks]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        stop.wait(5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not wrong, wrong[:3]
    assert len(done) == len(tasks)
    assert all(done)


LIBRARY = """
    import os, sys, threading
    from spatch_core import BackendSystem

    class Foreign:
        pass

    def g(*args, **kwargs):
        return "g"

    def late(*args, **kwargs):
        return NotImplemented

    def entry(name):
        return {"function": f"__main__:{name}"}

    def describe(name, **functions):
        functions = {f"__main__:{f}": entry(i) for f, i in functions.items()}
        return {"name": name, "primary_types": ["__main__:Foreign"], "functions": functions}

    system = BackendSystem(
        None, "L", backends=[describe("a", f="g", h="late"), describe("b", h="g")]
    )

    @system.dispatchable("x")
    def f(x, n=None):
        return x

    @system.dispatchable("x")
    def h(x):
        return x

    @system.dispatchable("x")
    def alone(x):
        return x

    def use(f=f, h=h, alone=alone, x=Foreign()):
        answers = [f(1), f(x), f(x=x), f(x, n=1), h(x), h(1), alone(1)]
        return "right" if answers == [1, "g", "g", "g", "g", 1, 1] else repr(answers)

    assert [use() for _ in range(3)] == ["right"] * 3
"""


def run_library(code: str) -> list[str]:
    return run_python(dedent(LIBRARY) + dedent(code), timeout=60).stdout.splitlines()


LAST = """
    import atexit, builtins, contextvars

    class Last:
        def __init__(self, use=use, forget=system._dispatcher.keeper.forget_tables, write=os.write):
            self.use, self.forget, self.write = use, forget, write

        def __call__(self):
            self.write(1, f"called {self.use()}\\n".encode())

        def __del__(self):
            try:
                answers = {self.use(), self.use()}
            except Exception as error:
                # An error is right where parts of the library are gone; a crash is not.
                answers = {type(error)}
            self.write(1, f"gone {','.join(map(str, answers))}\\n".encode())
            self.forget()

    # Code refers to tables, and the last garbage collection does not traverse code.
    atexit.register(system._dispatcher.keeper.forget_tables)
"""


@pytest.mark.parametrize(
    "code",
    [
        "last = Last()",
        "sys.last_of_all = Last()",
        "builtins.last_of_all = Last()",
        "contextvars.ContextVar('variable').set(Last())",
        "local = threading.local(); local.last = Last()",
        "last = Last(); last.self = last",
        "f.last = Last()",
        "hasattr(os, 'register_at_fork') and os.register_at_fork(before=Last())",
    ],
)
def test_calls_at_the_end_of_the_interpreter(code: str) -> None:
    """By exit functions, and by finalizers of objects in modules, threads, `sys` or functions.

    Where the library goes at the same time a call may fail, but that is all.
    """
    printed = run_library(LAST + "    atexit.register(Last())\n    " + code)
    assert printed[:2] == ["called right", "gone right"]
    assert all(line.startswith("gone ") for line in printed[2:])


def test_threads_that_still_call_when_the_interpreter_ends() -> None:
    """Daemon threads may be stopped at any instruction."""
    printed = run_library(
        """
        started = threading.Barrier(4)

        def call():
            started.wait()
            while True:
                use()

        def reload():
            started.wait()
            while True:
                system.reload()
                with system.backend_opts(trace=True):
                    alone(1)

        for target in (call, call, reload):
            threading.Thread(target=target, daemon=True).start()
        started.wait()
        print(use())
        """
    )
    assert printed == ["right"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_calls_in_the_child_of_a_fork() -> None:
    """A child reloads and changes options without an effect on the parent."""
    printed = run_library(
        """
        import warnings

        children = []
        for number in range(3):
            child = os.fork()
            if not child:
                assert use() == "right"
                system.reload()
                with system.backend_opts(disable="a"):
                    assert f(Foreign()).__class__ is Foreign
                with system.backend_opts(trace=True) as trace:
                    alone(1)
                    f(Foreign())
                assert len(trace) == 2
                os._exit(0 if [use() for _ in range(100)] == ["right"] * 100 else 1)
            children.append(child)
        print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children], use())
        """
    )
    assert printed == ["[0, 0, 0] right"]


SUBINTERPRETERS = """
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    code = text + "import spatch_core; print(spatch_core.accelerated, use(), flush=True)"
    for kind in ("isolated", "legacy"):
        if sys.version_info >= (3, 13):
            each = interpreters.create(kind)
            failed = interpreters.exec(each, code)
            assert failed is None, failed.formatted
        else:
            each = interpreters.create(isolated=kind == "isolated")
            interpreters.run_string(each, code)
        interpreters.destroy(each)
    import spatch_core
    print(spatch_core.accelerated, use(), use())
"""


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="CPython 3.12 was the first with a C path to leave alone"
)
def test_other_interpreters_of_the_process_use_pure_python() -> None:
    """With a lock of their own or not; the main interpreter keeps using C."""
    module = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(module, reason="interpreters cannot be made from Python here")
    # Each interpreter runs it as its own `__main__`.
    text = dedent(LIBRARY)
    printed = run_python(text + f"\ntext = {text!r}\n" + dedent(SUBINTERPRETERS), timeout=60)
    accelerated = spatch_core.accelerated
    assert printed.stdout.splitlines() == [
        "False right",
        "False right",
        f"{accelerated} right right",
    ]
