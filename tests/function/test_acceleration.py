"""The C extension: when it is used, and that it does what the wrapper's Python code does."""

from __future__ import annotations

import gc
import os
import sys
import types
import weakref
from typing import Any, ClassVar

import pytest

import spatch_core
from spatch_core import BackendSystem, ImplementationImportError, _wrapper
from spatch_core._heart.dispatcher import Dispatcher
from spatch_core.testing import run_python

only_accelerated = pytest.mark.skipif(
    not spatch_core.accelerated, reason="the C extension is not there, or not wanted"
)


class Foreign:
    """A backend's type."""


def implementation(*args: Any, **kwargs: Any) -> Any:
    return "first", args, kwargs


def describe(**fields: Any) -> dict[str, Any]:
    return {
        "name": "first",
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:implementation"}},
        **fields,
    }


def default(x: Any = "x", y: Any = "y", *rest: Any, key: Any = "key", **options: Any) -> Any:
    return x, y, rest, key, options


def make(dispatch_args: Any = ("x", "y"), **fields: Any) -> Any:
    system = BackendSystem(None, "MYLIB", backends=[describe(**fields)])
    function: Any = system.dispatchable(dispatch_args, module="lib", qualname="f")(default)
    return system, function


def runs_python(function: Any, *args: Any, **kwargs: Any) -> bool:
    """Whether a call runs the wrapper's Python code."""
    return function.__code__ in codes_of(function, *args, **kwargs)


def asks(function: Any, *args: Any, **kwargs: Any) -> bool:
    """Whether the tables have no entry for a call, so that the dispatcher decides."""
    return Dispatcher.fill.__code__ in codes_of(function, *args, **kwargs)


def codes_of(function: Any, *args: Any, **kwargs: Any) -> list[Any]:
    """Return the Python code objects that a call runs."""
    seen = []

    def watch(frame: types.FrameType, event: str, argument: object) -> None:
        seen.append(frame.f_code)

    sys.setprofile(watch)
    try:
        function(*args, **kwargs)
    finally:
        sys.setprofile(None)
    return seen


def test_whether_it_is_used_can_be_asked() -> None:
    """`spatch_core.accelerated` is a bool, imported on first use."""
    assert type(spatch_core.accelerated) is bool
    assert "accelerated" in dir(spatch_core)


@pytest.mark.parametrize(
    ("value", "is_pure"), [("1", True), ("yes", True), ("0", False), ("", False)]
)
def test_pure_python_on_request(value: str, is_pure: bool) -> None:
    """``SPATCH_CORE_PURE=1`` leaves the extension alone."""
    done = run_python(
        f"""
        import sys
        import spatch_core
        from {__name__.rpartition(".")[2]} import Foreign, make

        _, f = make()
        print(f(1), f(Foreign(), y=2), f())
        print(spatch_core.accelerated, "spatch_core._accelerator" in sys.modules)
        """,
        path=[__file__.rpartition("/")[0]],
        environment={"SPATCH_CORE_PURE": value},
    )
    results, used = done.stdout.splitlines()
    assert results.count("(") == 6
    expected = spatch_core.accelerated and not is_pure
    if is_pure or spatch_core.accelerated:
        assert used == f"{expected} {expected}"


@only_accelerated
def test_calls_go_through_c() -> None:
    """With positional and keyword arguments of any number, and also without a table entry."""
    _, f = make()
    x = Foreign()
    calls: list[Any] = [
        ((x, 1), {}),
        ((x,), {"y": 1}),
        ((), {"x": x, "y": 1}),
        ((x, 1, 2, 3), {"key": 4}),
    ]
    assert not runs_python(f, 1, 1)
    assert asks(f, x, 1)
    for args, kwargs in calls:
        assert not runs_python(f, *args, **kwargs)
        assert not asks(f, *args, **kwargs)
        assert f(*args, **kwargs) == ("first", args, kwargs)
    for args in ((x,), ()):
        assert asks(f, *args)
        assert not asks(f, *args)
    assert f() == default()


@only_accelerated
def test_errors_while_the_dispatcher_decides_are_the_callers() -> None:
    """They keep their type and text, and the next call decides again."""
    _, f = make(functions={"lib:f": {"function": "no_such_module:f"}})
    for _ in range(2):
        with pytest.raises(ImplementationImportError, match="no_such_module"):
            f(Foreign())
        assert f(1) == default(1)


@only_accelerated
def test_calls_go_through_c_again_after_a_trace_and_a_reload() -> None:
    """Also where the function ran the code of its default in the meantime."""
    system, f = make()
    other: Any = system.dispatchable("x", module="lib", qualname="other")(default)
    for function in (f, other):
        function(Foreign())
        with system.backend_opts(trace=True) as trace:
            function(Foreign())
            assert not runs_python(function, Foreign())
            assert len(trace) == 2
    system.reload()
    f(Foreign())
    assert not runs_python(f, Foreign())


@only_accelerated
def test_any_number_of_dispatch_arguments() -> None:
    """C remembers answers for up to 4, looks up 5 to 16, and leaves more to Python."""
    for count in (0, 1, 2, 4, 5, 16, 17, 40):
        names = [f"a{number}" for number in range(count)]
        _, f = make({name: number for number, name in enumerate(names)})
        for last in (Foreign(), None, 1):
            args = (*range(count - 1), last) if count else (Foreign(),)
            expected = implementation(*args) if count and type(last) is Foreign else default(*args)
            assert [f(*args) for _ in range(3)] == [expected] * 3
        assert runs_python(f, *args) is (count == 0 or count > 16)


@only_accelerated
def test_keywords_that_are_not_interned() -> None:
    """Names are compared by value where their addresses differ."""
    _, f = make({"first_argument": None, "second_argument": None})
    given = {"second_argument": Foreign(), "first_argument": 1}
    options = {str(name.encode(), "ascii"): value for name, value in given.items()}
    for _ in range(3):
        assert f(**options) == ("first", (), given)
    assert not runs_python(f, **options)


@only_accelerated
def test_keywords_of_a_subclass_of_str() -> None:
    """Their `__eq__` decides, as in a Python dictionary."""

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            return False

    _, f = make("x")
    for name in (Name("x"), str(b"x", "ascii")):
        for _ in range(3):
            result = f(**{name: Foreign()})
            assert (result[0] == "first") is (type(name) is str)
    assert runs_python(f, **{Name("x"): Foreign()})


@only_accelerated
def test_endless_recursion_in_c_is_a_recursion_error() -> None:
    """An implementation may be the function itself, or call it without Python code."""
    done = run_python(
        """
        import functools
        from spatch_core import BackendSystem, ImplementationImportError

        class Foreign:
            pass

        functions = {"f": "f", "g": "h", "h": "g", "i": "partial", "j": "call"}
        description = {
            "name": "first",
            "primary_types": ["__main__:Foreign"],
            "functions": {f"lib:{n}": {"function": f"__main__:{i}"} for n, i in functions.items()},
        }
        system = BackendSystem(None, "MYLIB", backends=[description])
        f, g, h, i, j = (
            system.dispatchable("x", module="lib", qualname=name)(lambda x: x) for name in "fghij"
        )
        partial = functools.partial(i)
        call = j.__call__
        for function in (f, g, h, i, j):
            try:
                function(Foreign())
            except RecursionError as error:
                print("maximum recursion depth exceeded" in str(error))
        """
    )
    assert done.stdout.split() == ["True"] * 5


@only_accelerated
def test_states_have_answers_of_their_own() -> None:
    """C remembers an answer for the tables in force."""
    system, f = make()
    x = Foreign()
    for _ in range(3):
        assert f(x, 1)[0] == "first"
        with system.backend_opts(disable="first"):
            assert f(x, 1)[0] is x
            assert f(x, 1)[0] is x
    for _ in range(300):  # each with new tables, at the addresses of freed ones
        with system.backend_opts(type=type("Assumed", (Foreign,), {})):
            assert f(1, 2)[0] == "first"
            assert f(1, 2)[0] == "first"
        assert f(1, 2)[0] == 1
        assert f(1, 2)[0] == 1


@only_accelerated
def test_remembered_answers_keep_nothing_alive() -> None:
    """They end with their classes: a new class may have the same address."""
    _, f = make()
    addresses: set[int] = set()
    reused = 0
    gc.collect()
    gc.freeze()  # collections only traverse objects that are created from now on
    for number in range(400):
        is_foreign = number % 3 == 0
        cls = type("Short", (Foreign,) if is_foreign else (), {})
        reused += id(cls) in addresses
        addresses.add(id(cls))
        for _ in range(3):
            result = f(cls(), 1)
        assert (result[0] == "first") is is_foreign
        reference = weakref.ref(cls)
        del cls, result
        gc.collect()
        assert reference() is None
    gc.unfreeze()
    # AddressSanitizer keeps freed memory from being used again; see tools/sanitize.py.
    assert reused or "asan" in os.environ.get("LD_PRELOAD", "")


@only_accelerated
def test_an_entry_that_is_exchanged_is_called_from_then_on() -> None:
    """The watcher makes the remembered answer stale."""
    system, f = make()
    x = Foreign()
    f(x, 1)
    table = system._dispatcher.keeper.get()[1]
    for answer in ("one", "two", "three"):
        table[Foreign][int] = lambda *args, answer=answer: answer
        assert [f(x, 1), f(x, 1)] == [answer] * 2
    table[Foreign].clear()
    assert f(x, 1)[0] == "first"
    table.clear()
    assert f(x, 1)[0] == "first"
    assert f(x, 1)[0] == "first"


@only_accelerated
def test_an_entry_that_is_removed_during_its_own_call() -> None:
    """The call owns a reference to the implementation."""
    system, f = make()
    x = Foreign()
    for by_keyword in (False, True):
        f(x, y=1)
        tables = system._dispatcher.keeper.get()

        def entry(*args: Any, tables: Any = tables, **kwargs: Any) -> Any:
            tables[1].clear()
            return NotImplemented

        tables[1][Foreign][int] = entry
        reference = weakref.ref(entry)
        del entry
        expected: Any = ("first", (x,), {"y": 1}) if by_keyword else ("first", (x, 1), {})
        assert (f(x, y=1) if by_keyword else f(x, 1)) == expected
        assert reference() is None


@only_accelerated
def test_a_class_whose_metaclass_overrides_comparing_is_never_looked_up() -> None:
    """Comparing such classes runs Python code."""

    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            return True

        def __hash__(cls) -> int:
            return 1

    class Odd(Foreign, metaclass=Meta):
        pass

    _, f = make("x")
    for _ in range(3):
        assert f(Odd())[0] == "first"
    assert asks(f, Odd())


@only_accelerated
def test_a_function_whose_code_was_exchanged_runs_it() -> None:
    """Mocks and profilers exchange code; a copy of the function works like the function."""
    _, f = make()
    x = Foreign()
    f(x, 1)
    copy = types.FunctionType(f.__code__, f.__globals__, "copy", f.__defaults__, f.__closure__)
    for _ in range(2):
        assert copy(x, 1) == ("first", (x, 1), {})
    code = f.__code__
    f.__code__ = code.replace(co_name="other")
    assert f(x, 1)[0] == "first"
    assert runs_python(f, x, 1)
    f.__code__ = code
    assert not runs_python(f, x, 1)
    assert f(x, 1)[0] == "first"


@only_accelerated
def test_code_that_is_exchanged_in_the_middle_of_a_call() -> None:
    """The call goes on with the data that it began with."""
    described = describe(functions={"lib:f": {"function": f"{__name__}:exchange_code"}})
    second = describe(name="second")
    x = Foreign()
    for by_keyword in (False, True):
        system = BackendSystem(None, "MYLIB", backends=[described, second])
        f: Any = system.dispatchable(("x", "y"), module="lib", qualname="f")(lambda x, y: None)
        args: tuple[Any, ...] = (x,) if by_keyword else (x, f)
        kwargs = {"y": f} if by_keyword else {}
        assert f(*args, **kwargs) == ("first", args, kwargs)
        f.code = f.__code__.replace()
        assert f(*args, **kwargs) == ("first", args, kwargs)
        assert runs_python(f, *args, **kwargs)


def exchange_code(*args: Any, **kwargs: Any) -> Any:
    """Give the function among the arguments other code."""
    for each in (*args, *kwargs.values()):
        if type(each) is types.FunctionType and "code" in each.__dict__:
            each.__code__ = each.__dict__.pop("code")
    return NotImplemented


@only_accelerated
def test_wrong_data_are_refused() -> None:
    """With an error that names the mistake."""
    from contextvars import ContextVar

    from spatch_core._accelerator import Tables

    variable: Any = ContextVar("variable")
    make_tables: Any = Tables
    wrong: Any
    for wrong, error in (
        ((0, (0,), ("x",)), ValueError),
        ((1, (0,), ()), ValueError),
        ((1, ("x",), ("x",)), TypeError),
        ((1, (0,), (1,)), TypeError),
        ((2**80, (0,), ("x",)), OverflowError),
    ):
        with pytest.raises(error):
            make_tables(variable, None, *wrong, None)
    with pytest.raises(TypeError):
        make_tables(None, None, 1, (0,), ("x",), None)


@only_accelerated
def test_tables_are_those_in_force() -> None:
    """The Python code of a wrapper calls them."""
    system, f = make()
    (tables,) = (
        each.cell_contents
        for each in f.__closure__
        if type(each.cell_contents).__name__ == "Tables"
    )
    keeper = system._dispatcher.keeper
    assert tables() is keeper.get()
    with system.backend_opts("first"):
        assert tables() is keeper.get()
    with pytest.raises(TypeError, match="takes no arguments"):
        tables(1)
    with pytest.raises(TypeError, match="takes no arguments"):
        tables(x=1)


@only_accelerated
def test_a_variable_without_tables_is_left_to_python() -> None:
    """C checks the type of everything that it reads from the variable."""
    from contextvars import ContextVar

    from spatch_core._accelerator import Tables

    class Filling:
        seen: ClassVar[set[Any]] = set()

        @classmethod
        def fill(cls, *call: Any) -> Any:
            cls.seen.add(call)
            return lambda x: ("filled", x)

    variable: ContextVar[Any] = ContextVar("variable")
    tables: Any = Tables(variable, Filling, 1, (0,), ("x",), None)

    def wrapper(x: Any) -> Any:
        return "python" if tables else None, x

    accelerate: Any = _wrapper.accelerate
    accelerate(wrapper)
    for value in (None, (), [], [0], [0, None], [0, [1]], [0, {}], [0, {float: None}]):
        variable.set(value)
        expected = "filled" if isinstance(value, list) else "python"
        assert wrapper(1) == (expected, 1)
        assert wrapper("text") == (expected, "text")
    assert Filling.seen == {(1, (1,)), (1, ("text",))}
    variable.set([0, {int: lambda x: ("c", x)}])
    assert wrapper(1) == ("c", 1)
    for each in (len, Foreign, None):
        accelerate(each)


@only_accelerated
@pytest.mark.parametrize("form", ["position", "keyword"])
def test_recursion_is_as_deep_as_in_python(form: str) -> None:
    """Deep recursion does not use up the C stack."""
    done = run_python(
        f"""
        import sys
        from spatch_core import BackendSystem
        from spatch_core import _wrapper

        fields = {{"name": "b", "primary_types": ["builtins:str"]}}
        functions = {{"lib:f": {{"function": "__main__:late"}}}}
        system = BackendSystem(None, "MYLIB", backends=[{{**fields, "functions": functions}}])

        def late(x):
            return "late"

        @system.dispatchable("x", module="lib", qualname="f")
        def f(x):
            if x == 0:
                return 0
            return 1 + ({"f(x - 1)" if form == "position" else "f(x=x - 1)"})

        sys.setrecursionlimit(100_000)
        print([f(20_000) for _ in range(3)], f("x"))
        calls = []
        sys.setprofile(lambda frame, event, argument: calls.append(frame.f_code))
        f(1)
        sys.setprofile(None)
        print(f.__code__ in calls)
        """,
        timeout=120,
    )
    assert done.stdout.splitlines() == ["[20000, 20000, 20000] late", "False"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="CPython uses the C stack for such calls")
@pytest.mark.parametrize("size", [64, 128, 1024])
@pytest.mark.parametrize("way", ["plain", "keyword", "asks", "context", "defer", "trace"])
def test_deep_recursion_in_threads_with_small_stacks(way: str, size: int) -> None:
    """A function that calls itself works as deeply as it does undecorated, or nearly so."""
    done = run_python(
        f"""
        import threading
        from spatch_core import BackendSystem

        class Foreign:
            pass

        def plain(x, n):
            return 0 if n == 0 else 1 + f(x, n - 1)

        def keyword(x, n):
            return 0 if n == 0 else 1 + f(x, n=n - 1)

        def context(context, x, n):
            return plain(x, n)

        def defer(x, n):
            return NotImplemented

        def should_run(context, x, n):
            return True

        way, depth = {way!r}, 90
        entry = {{"function": "__main__:" + (way if way in globals() else "plain")}}
        if way == "asks":
            entry["should_run"] = "__main__:should_run"
        if way == "context":
            entry["uses_context"] = True
        system = BackendSystem(None, "MYLIB", backends=[dict(
            name="first", primary_types=["__main__:Foreign"], functions={{"lib:f": entry}}
        )])
        f = system.dispatchable("x", module="lib", qualname="f")(plain)
        f(Foreign(), 1)
        results = []

        def work():
            for _ in range(3):
                with system.backend_opts(trace=way == "trace"):
                    results.append(f(Foreign(), depth))
                    try:
                        f(Foreign(), 10**6)
                    except RecursionError:
                        results.append("too deep")

        threading.stack_size({size} * 1024)
        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        print(results == [depth, "too deep"] * 6)
        """
    )
    assert done.stdout.split() == ["True"]


@only_accelerated
def test_threads_that_wait_in_calls_leave_others_fast() -> None:
    """The number of calls under way is no depth."""
    done = run_python(
        f"""
        import sys, threading
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_acceleration import Foreign, describe, make, runs_python
        from spatch_core import BackendSystem

        go, inside = threading.Event(), threading.Semaphore(0)

        def wait(x, y):
            inside.release()
            go.wait()

        waiting = describe(functions={{"lib:f": {{"function": "__main__:wait"}}}})
        blocking = BackendSystem(None, "MYLIB", backends=[waiting]).dispatchable(
            ("x", "y"), module="lib", qualname="f"
        )(lambda x, y: None)
        _, f = make()
        f(Foreign(), 1)
        threads = [threading.Thread(target=blocking, args=(Foreign(), 1)) for _ in range(50)]
        for thread in threads:
            thread.start()
            inside.acquire()
        print(runs_python(f, Foreign(), 1))
        go.set()
        """
    )
    assert done.stdout.split() == ["False"]
