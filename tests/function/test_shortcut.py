"""A function that no backend implements runs the code of its default implementation."""

from __future__ import annotations

import asyncio
import doctest
import functools
import gc
import inspect
import os
import sys
import threading
import traceback
import types
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import BackendSystem, DuplicateFunctionWarning
from spatch_core._dispatch_arguments import Missing
from spatch_core.testing import isolated, run_python, write_distribution

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="only CPython with its global lock exchanges code",
)


CORE = Path(spatch_core.__file__).parents[1]


class Foreign:
    """A backend's type."""


def first(*args: Any, **kwargs: Any) -> str:
    return "first"


def f(x: Any, n: Any = "n", *rest: Any, key: Any = "key", **options: Any) -> Any:
    """Return what it was given."""
    return x, n, rest, key, options


def fail(x: Any) -> None:
    raise LookupError(x)


def warn(x: Any) -> None:
    warnings.warn("look out", UserWarning, stacklevel=2)


def counting(x: Any) -> Any:
    yield x


async def waiting(x: Any) -> Any:
    return x


async def streaming(x: Any) -> Any:
    yield x


def describe(*functions: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": "first",
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {f"lib:{name}": {"function": f"{__name__}:first"} for name in functions},
        **fields,
    }


def make(default: Any = f, dispatch_args: Any = ("x", "n"), *implemented: str) -> Any:
    """Make a library with a backend; returns its system and its function ``lib:f``."""
    system = BackendSystem(None, "MYLIB", backends=[describe(*implemented)])
    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(default)


def is_taken(function: Any) -> bool:
    return function.__code__ is function.__wrapped__.__code__


def collect() -> None:
    for _ in range(3):
        gc.collect()


@pytest.fixture
def no_collection() -> Iterator[None]:
    """No garbage is collected: what is freed is freed at once."""
    collect()
    gc.disable()
    yield
    gc.enable()


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, None), {}),
    ((1,), {"n": 2}),
    ((), {"x": 1}),
    ((1, 2, 3), {"key": 4, "other": 5}),
    ((Foreign(),), {}),
]


@pytest.mark.parametrize("dispatch_args", [None, "x", ("x", "n"), ("n", "key"), []], ids=repr)
def test_it_runs_the_code_of_the_default_after_the_first_call(dispatch_args: Any) -> None:
    """A call of it costs what a call of the default costs."""
    _, function = make(f, dispatch_args)
    assert not is_taken(function)
    for _ in range(2):
        assert [function(*args, **kwargs) for args, kwargs in CALLS] == [
            f(*args, **kwargs) for args, kwargs in CALLS
        ]
        assert is_taken(function)
    assert function.__defaults__ == f.__defaults__
    assert function.__kwdefaults__ == f.__kwdefaults__
    assert function.__globals__ is f.__globals__
    assert function.__name__ == function.__qualname__ == "f"
    assert function.__module__ == "lib"
    assert str(inspect.signature(function)) == str(inspect.signature(f))


def test_it_has_no_frame_of_its_own() -> None:
    """Tracebacks and warnings are those of the default implementation."""
    _, function = make(fail, "x")
    first = [] if spatch_core.accelerated else ["f"]
    for names in ([*first, "fail"], ["fail"], ["fail"]):
        with pytest.raises(LookupError) as caught:
            function(1)
        assert [each.name for each in traceback.extract_tb(caught.tb)][1:] == names
    _, function = make(warn, "x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(1)
    with pytest.warns(UserWarning, match="look out") as record:
        function(1)
    assert record[0].filename == __file__


def test_wrong_calls_report_the_public_name() -> None:
    """With the message of a plain function of that name."""
    _, function = make(fail, "x")
    with pytest.raises(LookupError):
        function(1)
    with pytest.raises(TypeError, match=r"^f\(\) takes 1 positional argument but 2 were given"):
        function(1, 2)


@pytest.mark.parametrize("implemented", [("f",), ()])
def test_only_what_no_backend_implements(implemented: Any) -> None:
    """A backend that implements it counts although it is not active now."""
    system, function = make(f, "x", *implemented)
    assert function(1)[0] == 1
    assert is_taken(function) is not bool(implemented)
    for options in ({"disable": "first"}, {"prioritize": "default"}, {"type": Foreign}):
        with system.backend_opts(**options):
            expected = "first" if implemented and "type" in options else f(1)
            assert function(1) == expected
    assert is_taken(function) is not bool(implemented)


def closure() -> Any:
    free = 1

    def inner(x: Any) -> Any:
        return x, free

    return inner


@functools.lru_cache
def cached(x: Any) -> Any:
    return x


@functools.wraps(fail)
def wrapping(x: Any) -> Any:
    return x


class Callable:
    __qualname__ = __name__ = "Callable"
    __module__ = "lib"

    def __call__(self, x: Any) -> Any:
        return x

    def method(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("default", "dispatch_args"),
    [
        pytest.param(closure(), "x", id="closure"),
        pytest.param(cached, "x", id="written-in-c"),
        pytest.param(wrapping, "x", id="wraps-another"),
        pytest.param(len, {"obj": 0}, id="builtin"),
        pytest.param(Callable(), "x", id="object"),
        pytest.param(Callable().method, "x", id="bound-method"),
        pytest.param(f, lambda x, *args, **kwargs: [x], id="finder"),
    ],
)
def test_functions_that_always_dispatch(default: Any, dispatch_args: Any) -> None:
    """Their code cannot run in the wrapper."""
    system = BackendSystem(None, "MYLIB")
    function: Any = system.dispatchable(dispatch_args, module="lib", qualname="f")(default)
    code = function.__code__
    for _ in range(3):
        result = function("x")
        assert "x" in result if isinstance(result, tuple) else result in ("x", 1)
        assert function.__code__ is code


@pytest.mark.parametrize("default", [counting, waiting, streaming])
def test_functions_that_suspend(default: Any) -> None:
    """Both codes have one nature; calls that have started go on."""
    _, function = make(default, "x")
    for _ in range(3):
        result = function("x")
        if inspect.isgenerator(result):
            assert list(result) == ["x"]
        elif inspect.iscoroutine(result):
            assert asyncio.run(result) == "x"
        else:
            assert asyncio.run(anext(result)) == "x"
        assert is_taken(function)


def test_functions_whose_globals_are_of_a_subclass_of_dict() -> None:
    """Wrappers do not share such globals."""

    class Namespace(dict):  # type: ignore[type-arg]
        """A namespace as template engines use it."""

    namespace = Namespace(y="global")
    exec("def f(x):\n    return x, y\n", namespace)  # noqa: S102  # in globals of its own
    _, function = make(namespace["f"], "x")
    for _ in range(3):
        assert function(1) == (1, "global")


def test_code_that_a_user_set_stays() -> None:
    """Also when a copy of the function is called, and when the backends change."""
    system, function = make()
    own = types.FunctionType(function.__code__, function.__globals__, "f", function.__defaults__)
    function.__code__ = (lambda *args, **kwargs: "theirs").__code__
    for _ in range(2):
        assert own(1) == f(1)
        assert function(1) == "theirs"
        system.reload()
        assert function(1) == "theirs"


def test_initializers_follow_each_exchange() -> None:
    """CPython specializes the creation of objects for the code of `__init__`."""
    system = BackendSystem(None, "MYLIB")

    @system.dispatchable(("made", "x"), module="lib")  # under its own name it cannot be
    def fill(made: Any, x: Any) -> None:
        made.x = x

    class Made:
        x: int
        __init__ = fill

    def make_many() -> list[Any]:
        made: Any = Made
        return [made(number).x for number in range(100)]

    for _ in range(3):
        assert make_many() == [*range(100)]
        with system.backend_opts(trace=True) as trace:
            assert make_many() == [*range(100)]
            assert len(trace) == 100


def test_a_finder_runs_where_no_backend_implements_the_function() -> None:
    """Its effects and errors do not depend on the installed backends."""

    def find(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x is None:
            raise TypeError("x is needed")
        return [x]

    _, function = make(f, find)
    function(1)
    with pytest.raises(TypeError, match="x is needed"):
        function(None)


def test_a_trace_sees_it() -> None:
    """A trace records calls of it, in its block alone."""
    system, function = make()
    function(1)
    assert is_taken(function)
    with system.backend_opts(trace=True) as trace:
        function(1)
        function(2)
    assert [event.backend for event in trace] == ["default", "default"]
    function(3)
    assert len(trace) == 2


def test_a_task_that_was_started_in_a_trace_is_traced_to_its_end() -> None:
    """Also after the block has ended."""
    system, function = make()
    function(1)

    async def later(go: asyncio.Event) -> None:
        await go.wait()
        function(1)

    async def main() -> list[Any]:
        go = asyncio.Event()
        with system.backend_opts(trace=True) as trace:
            task = asyncio.create_task(later(go))
        collect()
        function(2)
        go.set()
        await task
        return list(trace)

    assert len(asyncio.run(main())) == 1


def test_it_is_back_when_the_last_trace_is_left(no_collection: None) -> None:
    """Tracing leaves nothing behind that costs, though the options are kept."""
    system, function = make()
    function(1)
    kept = system.backend_opts(trace=True)
    for _ in range(2):
        with kept as outer:
            with system.backend_opts(trace=True) as inner:
                function(1)
                assert not is_taken(function)
            assert not is_taken(function)
        assert is_taken(function)
        function(1)
        assert [event.backend for event in inner] == ["default"]
        assert outer == []
        with kept, system.backend_opts(disable="first"):
            function(1)
            assert not is_taken(function)
        assert is_taken(function)
        assert len(outer) == 1
        outer.clear()


def test_it_is_back_when_the_last_thread_has_left_its_trace(no_collection: None) -> None:
    """Each of two threads is observed until its own block has ended."""
    system, function = make()
    function(1)
    options = system.backend_opts(trace=True)
    steps = threading.Barrier(2, timeout=60)

    def work() -> None:
        with options:
            steps.wait()
            steps.wait()
            function(1)

    thread = threading.Thread(target=work)
    thread.start()
    steps.wait()
    with options as trace:
        function(1)
    assert not is_taken(function)
    steps.wait()
    thread.join()
    assert is_taken(function)
    assert len(trace) == 2


def test_it_is_back_when_a_generator_has_left_its_trace(no_collection: None) -> None:
    """A generator that waits in a traced block is observed until it goes on, or is dropped."""
    system, function = make()
    function(1)

    def generate() -> Any:
        with system.backend_opts(trace=True) as trace:
            yield trace
            function(1)
        yield trace

    for leave in (next, types.GeneratorType.close):
        generator = generate()
        trace = next(generator)
        assert not is_taken(function)
        leave(generator)
        assert is_taken(function)
        assert len(trace) == (leave is next)


def test_it_is_back_when_the_last_task_of_a_trace_is_gone(no_collection: None) -> None:
    """A task has a copy of the context in which it was started, and is observed to its end."""
    system, function = make()
    function(1)

    async def later(go: asyncio.Event) -> None:
        await go.wait()
        function(1)

    async def main() -> None:
        go = asyncio.Event()
        with system.backend_opts(trace=True) as trace:
            task = asyncio.create_task(later(go))
        await asyncio.sleep(0)
        assert not is_taken(function)
        go.set()
        await task
        assert len(trace) == 1
        del task
        await asyncio.sleep(0)  # the loop drops the step that it has just run
        assert is_taken(function)

    asyncio.run(main())


def test_it_is_back_when_a_traced_frozen_function_returns(no_collection: None) -> None:
    """A function that traces when called is no reason to dispatch while it is not running."""
    system, function = make()
    function(1)
    options = system.backend_opts(trace=True)

    def plain() -> Any:
        assert not is_taken(function)
        return function(1)

    async def waiting() -> Any:
        await asyncio.sleep(0)
        return plain()

    frozen, frozen_coroutine = options(plain), options(waiting)
    assert is_taken(function)
    assert frozen() == asyncio.run(frozen_coroutine()) == f(1)
    assert is_taken(function)
    assert len(options.trace) == 2
    system.backend_opts.freeze(lambda: function(1))()
    assert is_taken(function)
    with pytest.raises(LookupError):
        options(lambda: fail(1))()
    assert is_taken(function)


def test_it_is_back_when_a_kept_error_of_a_frozen_function_has_left(no_collection: None) -> None:
    """The traceback has the frame of the frozen function, and keeps no observation."""
    system, function = make()
    function(1)
    frozen = system.backend_opts(trace=True)(lambda: fail(1))
    with system.backend_opts(trace=True), pytest.raises(LookupError) as caught:
        frozen()
    assert caught.value.__traceback__ is not None
    assert is_taken(function)


def test_it_is_back_when_an_error_has_left_the_trace(no_collection: None) -> None:
    """Though its traceback refers to what ran in the block."""
    system, function = make(fail, "x")
    other: Any = system.dispatchable("x", module="lib", qualname="other")(warn)
    system.reload()
    with pytest.raises(LookupError) as caught, system.backend_opts(trace=True) as trace:
        function(1)
    assert caught.value.__traceback__ is not None
    assert len(trace) == 1
    assert is_taken(function)
    assert is_taken(other)


def test_it_is_back_when_the_default_is_traced_no_more(no_collection: None) -> None:
    """`enable_globally` observes the process until the default changes."""
    system, function = make()
    function(1)
    with isolated(system):
        function(1)
        assert is_taken(function)
        options = system.backend_opts(trace=True)
        options.enable_globally()
        function(1)
        assert not is_taken(function)
        assert len(options.trace) == 1
    function(1)
    assert is_taken(function)


def test_tables_are_kept_when_a_trace_ends() -> None:
    """What was decided without a trace is as good afterwards."""
    system, function = make(f, "x", "f")
    function(1)
    (_, table) = system._dispatcher.keeper.get()
    before = dict(table)
    with system.backend_opts(trace=True):
        function(1)
        function("text")
    assert system._dispatcher.keeper.get()[1] is table
    assert table == before


def test_a_backend_that_is_installed_later_is_used(tmp_path: Path) -> None:
    """After `reload`, until it is uninstalled."""
    system = BackendSystem("shortcuts.backends", "SHORTCUTS")
    function: Any = system.dispatchable(("x", "n"), module="lib", qualname="f")(f)
    write_distribution(
        tmp_path,
        "shortcut-backend",
        entry_points={"shortcuts.backends": {"late": "shortcut_backend:late.toml"}},
        files={
            "shortcut_backend/__init__.py": "def f(*args, **kwargs):\n    return args, kwargs\n",
            "shortcut_backend/late.toml": f"""
                name = "late"
                primary_types = ["{__name__}:Foreign"]
                [functions."lib:f"]
                function = "shortcut_backend:f"
            """,
        },
    )
    x = Foreign()
    assert function(x) == f(x)
    assert is_taken(function)
    with isolated(system, path=[tmp_path]):
        assert not is_taken(function)
        assert function(x) == ((x,), {})
        assert function(x, n=1) == ((x,), {"n": 1})
    assert function(x) == f(x)
    sys.path.insert(0, str(tmp_path))
    try:
        system.reload()
        assert function(x) == ((x,), {})
    finally:
        sys.path.remove(str(tmp_path))
    system.reload()
    assert function(x) == f(x)
    assert is_taken(function)


def test_a_decision_about_replaced_backends_has_no_effect() -> None:
    """Another thread has discovered the backends again in between."""
    system, function = make()
    function(1)
    caller = system._dispatcher.ensure_loaded()
    system.reload()
    dispatcher = system._dispatcher
    dispatcher.shortcuts.leave_all()
    dispatcher.shortcuts.take(dispatcher.records[0], caller)
    assert not is_taken(function)
    dispatcher.shortcuts.take(dispatcher.records[0], dispatcher.ensure_loaded())
    assert is_taken(function)


def test_calls_among_changes_get_their_arguments_as_given() -> None:
    """While other threads exchange the code, no placeholder reaches the default."""
    system, function = make()
    stop = threading.Event()
    wrong: list[Any] = []

    def exchange() -> None:
        while not stop.is_set():
            with system.backend_opts(trace=True) as trace:
                function(1)
                if [event.backend for event in trace] != ["default"]:
                    wrong.append(trace)

    def call() -> None:
        while not stop.is_set():
            for args, kwargs in CALLS:
                result = function(*args, **kwargs)
                if result != f(*args, **kwargs) or any(type(each) is Missing for each in result):
                    wrong.append(result)

    threads = [threading.Thread(target=target) for target in (exchange, exchange, call, call)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        stop.wait(1.5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not wrong


def test_calls_by_audit_hooks_get_their_arguments_as_given() -> None:
    """A hook runs between two attributes of an exchange, and other threads may run then, too."""
    done = run_python(
        """
        import sys
        from spatch_core import BackendSystem

        system = BackendSystem(None, "MYLIB", ["builtins:int"])

        @system.dispatchable(("x", "n"))
        def f(x, n="n", *rest, key="key", **options):
            return x, n, rest, key, options

        events = []

        def call(event, arguments):
            if event == "object.__setattr__" and arguments[0] is f:
                events.append(arguments[1])
                assert f(1) == (1, "n", (), "key", {})
                assert f(1, n=2) == f(x=1, n=2) == f(n=2, x=1) == (1, 2, (), "key", {})
                assert f(1, 2, 3, key=4, other=5) == (1, 2, (3,), 4, {"other": 5})

        sys.addaudithook(call)
        for _ in range(6):
            f(1)
            with system.backend_opts(trace=True):
                f(1)
        print(len(events))
        """,
        path=[CORE],
    )
    assert int(done.stdout) > 10


def test_calls_that_collect_garbage_get_their_arguments_as_given() -> None:
    """A finalizer exchanges the code while CPython prepares the frame of a call."""
    done = run_python(
        """
        import gc
        from spatch_core import BackendSystem

        system = BackendSystem(None, "MYLIB")

        @system.dispatchable(("x", "n"), module="lib")
        def f(x, n="n", m="m", *rest, key="key", **options):
            return x, n, m, rest, key, options

        class Cycle:
            def __init__(self, options):
                self.options, self.itself = options, self

            def __del__(self):
                self.options.__enter__()
                entered.append(self.options)

        # CPython 3.10 and 3.11 collect in the middle of an allocation; which one it is depends
        # on the threshold.
        numbers, total = tuple(range(60)), 0
        for threshold in range(1, 40):
            for call in (lambda: f(*numbers), lambda: f(1, n=2, other=3)):
                gc.disable()
                gc.collect()
                expected, entered = call(), []
                Cycle(system.backend_opts(trace=True))
                gc.set_threshold(threshold)
                gc.enable()
                result = call()
                gc.disable()
                assert result == expected, result
                total += len(entered)
                for options in entered:
                    options.__exit__(None, None, None)
        print(total)
        """,
        path=[CORE],
    )
    assert int(done.stdout) > 0


def test_traces_that_end_in_a_garbage_collection() -> None:
    """CPython 3.10 collects while it makes a frame, which is for the code of before."""
    done = run_python(
        """
        import gc
        from spatch_core import BackendSystem

        system = BackendSystem(None, "MYLIB")

        @system.dispatchable(("x", "n"), module="lib")
        def f(x, n=None):
            a = b = c = d = e = x
            return n() if n is not None else (a, b, c, d, e)

        class Cycle:
            def __init__(self):
                self.itself = self

            def __del__(self):
                options.__exit__(None, None, None)

        # So deep that no frame is left that could be used again.
        def call_deep(depth, then):
            return then() if depth == 0 else call_deep(depth - 1, then)

        def attack():
            gc.disable()
            gc.collect()
            Cycle()
            gc.set_threshold(threshold)
            gc.enable()
            results.append(f(7))
            gc.disable()

        results = []
        for threshold in range(1, 60):
            options = system.backend_opts(trace=True)
            options.__enter__()
            f(1, lambda: call_deep(500, attack))
            gc.collect()
        print(results == [(7,) * 5] * 59)
        """,
        path=[CORE],
    )
    assert done.stdout.split() == ["True"]


def test_a_trace_that_an_audit_hook_starts_in_an_exchange_sees_calls() -> None:
    """The shortcut that was about to be taken is left again."""
    done = run_python(
        """
        import sys
        from spatch_core import BackendSystem

        system = BackendSystem(None, "MYLIB")

        @system.dispatchable("x", module="lib")
        def f(x):
            return x

        options = system.backend_opts(trace=True)
        started = []

        def start(event, arguments):
            is_exchange = event == "object.__setattr__" and arguments[0] is f
            if is_exchange and arguments[2] is f.__wrapped__.__code__ and not started:
                started.append(True)
                options.__enter__()

        sys.addaudithook(start)
        system.reload()
        f(1)
        print(len(started), len(options.trace))
        """,
        path=[CORE],
    )
    assert done.stdout.split() == ["1", "1"]


def test_changes_of_the_default_implementation_are_seen_after_a_reload() -> None:
    """Tools that change code or default values change those of `__wrapped__`."""
    system, function = make(types.FunctionType(f.__code__, f.__globals__, "f", ("old",)))
    default = function.__wrapped__
    assert function(1, key=3)[1] == "old"
    assert is_taken(function)
    default.__defaults__ = ("new",)
    system.reload()
    assert function(1, key=3)[1] == "new"
    default.__code__ = (lambda x, key, n: (n, key)).__code__
    system.reload()
    for _ in range(2):
        assert function(1, key=3) == ("new", 3)
    assert is_taken(function)


def test_tracing_in_the_child_of_a_fork() -> None:
    """Also if another thread of the parent held the lock when it forked."""
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork here")
    done = run_python(
        """
        import os, threading, warnings
        from spatch_core import BackendSystem
        from spatch_core._function.library_shortcuts import exchanging

        system = BackendSystem(None, "MYLIB")

        @system.dispatchable("x", module="lib")
        def f(x):
            return x

        f(1)
        held, go = threading.Event(), threading.Event()

        def hold():
            exchanging.run(lambda: (held.set(), go.wait()))

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        warnings.simplefilter("ignore")  # about a fork with threads
        child = os.fork()
        if not child:
            with system.backend_opts(trace=True) as trace:
                f(1)
            os._exit(len(trace))
        go.set()
        thread.join()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        timeout=60,
    )
    assert done.stdout.split() == ["1"]


@pytest.mark.parametrize("should_run", [{}, {"should_run": f"{__name__}:first"}], ids=["", "asks"])
def test_a_library_without_references_is_freed(should_run: Any) -> None:
    """Code objects, which the garbage collector does not traverse, do not keep it alive."""

    def use() -> list[Any]:
        entry = {"function": f"{__name__}:first", **should_run}
        system = BackendSystem(None, "MYLIB", backends=[describe(functions={"lib:g": entry})])
        functions: list[Any] = [
            system.dispatchable(("x", "n"), module="lib", qualname=name)(f) for name in "fg"
        ]
        for function in functions:
            function(1)
            function(Foreign())
            with system.backend_opts(trace=True):
                function(Foreign())
            function.invoke(backend="default")(1)
        return [weakref.ref(each) for each in (system, *functions)]

    references = use()
    collect()
    assert [reference() for reference in references] == [None] * 3


def test_doctest_finds_its_examples() -> None:
    """It compares `__globals__` to tell functions of the module from imported ones."""
    module = types.ModuleType("lib")
    exec(  # noqa: S102  # a module of its own
        'def f(x):\n    """Return it.\n\n    >>> f(1)\n    1\n    """\n    return x\n',
        module.__dict__,
    )
    system = BackendSystem(None, "MYLIB")
    module.f = system.dispatchable("x")(module.f)  # type: ignore[attr-defined]
    for _ in range(2):
        found = doctest.DocTestFinder().find(module, "lib", module=module)
        assert [len(each.examples) for each in found if each.name == "lib.f"] == [1]
        module.f(1)


@pytest.mark.parametrize("code", ["s.f(1)", "s.f(1); s.g(s.f)", "s.h(3)"])
def test_a_module_that_is_thrown_away_is_freed(code: str) -> None:
    """Although the code of its functions leads to their default implementations."""
    namespace: dict[str, Any] = {"__name__": "thrown_away", "BackendSystem": BackendSystem}
    exec(  # noqa: S102  # a module of its own
        "system = BackendSystem(None, 'MYLIB', backends=["
        f"{describe('g')!r}, dict({describe()!r}, name='other', functions={{"
        f"'thrown_away:h': {{'function': '{__name__}:first'}}}})])\n"
        "@system.dispatchable('x')\n"
        "def f(x): return x\n"
        "@system.dispatchable('x', module='lib')\n"
        "def g(x): return f(x)\n"
        "@system.dispatchable('x')\n"
        "def h(x): return 1 if x == 0 else h(x - 1)\n",
        namespace,
    )
    exec(code, {"s": types.SimpleNamespace(**namespace)})  # noqa: S102  # as above
    references = [weakref.ref(namespace[name]) for name in ("system", "f", "g", "h")]
    del namespace
    collect()
    assert [reference() for reference in references] == [None] * 4


def test_a_recursive_function_inside_a_function_is_freed() -> None:
    """Although its closure refers to its wrapper."""

    def use() -> Any:
        system = BackendSystem(None, "MYLIB", backends=[describe("f")])

        @system.dispatchable("x", module="lib", qualname="f")
        def countdown(x: Any) -> Any:
            return 0 if x == 0 else countdown(x - 1)

        assert countdown(3) == 0
        return weakref.ref(countdown)

    reference = use()
    collect()
    assert reference() is None


def test_a_function_that_is_guarded_is_freed() -> None:
    """Although a guard, which watches for registrations, refers to the library."""

    def use() -> Any:
        entry = {"lib:f": {"function": f"{__name__}:first"}}
        fields = {"primary_types": ["@numbers:Number"], "functions": entry}
        system = BackendSystem(None, "MYLIB", backends=[{"name": "abstract", **fields}])
        function: Any = system.dispatchable("x", module="lib", qualname="f")(warn)
        assert function(1j) == "first"
        return weakref.ref(system)

    reference = use()
    collect()
    assert reference() is None


def test_a_hot_reloader_gets_code_that_dispatches() -> None:
    """It decorates again, and gives the old function the code of the new one."""
    system, function = make()
    function(1)
    with pytest.warns(DuplicateFunctionWarning):
        newer = system.dispatchable("x", module="lib", qualname="f")(warn)
    assert not is_taken(newer)
    function.__code__, function.__defaults__ = newer.__code__, newer.__defaults__
    function.__kwdefaults__ = newer.__kwdefaults__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with system.backend_opts(trace=True) as trace:
            function(1)
    assert len(trace) == 1


def test_code_can_be_hashed() -> None:
    """Debuggers, IPython and profilers use code objects as keys."""
    _, function = make(f, "x", "f")
    assert {function.__code__: 1}[function.__code__] == 1
    assert function.__code__ == function.__code__
    assert isinstance(hash(make(f, None, "f")[1].__code__), int)


def test_a_module_that_runs_in_a_subclass_of_dict() -> None:
    """Some frameworks run modules in their own mappings."""

    class Namespace(dict[str, Any]):
        pass

    namespace = Namespace(system=BackendSystem(None, "MYLIB"), helper=5)
    exec("@system.dispatchable('x', module='lib')\ndef f(x): return x + helper", namespace)  # noqa: S102  # how else
    assert [namespace["f"](1) for _ in range(3)] == [6, 6, 6]


def test_discovery_takes_all_shortcuts() -> None:
    """Only the first call of a process has one frame more than later calls.

    (With backends in code, that of a function that is added later has it, too.)
    """
    system = BackendSystem(None, "MYLIB")
    function: Any = system.dispatchable("x", module="lib", qualname="f")(warn)
    other: Any = system.dispatchable("x", module="lib", qualname="other")(warn)
    system.reload()
    late: Any = system.dispatchable("x", module="lib", qualname="late")(warn)
    for each in (function, other, late):
        assert is_taken(each)
        with pytest.warns(UserWarning, match="look out") as record:
            each(1)
        assert record[0].filename == __file__
