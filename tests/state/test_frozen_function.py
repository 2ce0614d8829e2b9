"""A frozen function runs under its state, looks like the function, and travels to processes."""

from __future__ import annotations

import functools
import inspect
import pickle
import typing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from spatch_core.types import BackendOptions

PACKAGE = Path(spatch_core.__file__).parents[1]


def roundtrip(function: Any) -> Any:
    return pickle.loads(pickle.dumps(function))


def test_decorated_function_runs_under_the_options(library: Any, work: Any) -> None:
    """S5: the state around the call is restored after it."""
    assert work.decorated() == "third"
    assert work.plain() == "first"
    assert library.backend_opts(prioritize="second")(work.plain)() == "second"
    with library.backend_opts(prioritize="second"):
        assert work.decorated() == "third"
        assert work.plain() == "second"


def test_exception_restores_the_state(library: Any, options: type[BackendOptions]) -> None:
    """S5, S3: an exception leaves the state as well."""

    @options(prioritize="third")
    def fail() -> None:
        raise LookupError(library.f(library.Foreign()))

    with pytest.raises(LookupError, match="third"):
        fail()
    assert options().prioritized == ()


def test_trace_of_a_frozen_state(library: Any, work: Any) -> None:
    """S5, S6: a frozen trace goes on recording, into the options' own list."""
    options = library.backend_opts(trace=True)
    frozen = options(work.plain)
    with library.backend_opts(trace=True) as around:
        frozen()
        frozen()
    assert [event.backend for event in options.trace] == ["first", "first"]
    assert around == []


def test_methods_bind(work: Any) -> None:
    """S5: methods, static methods and class methods."""
    thing = work.Work(7)
    assert thing.method(2) == ("third", 7, 2)
    assert thing.method() == work.Work.method(thing) == ("third", 7, 1)
    assert work.Work.static(3) == thing.static(3) == ("second", 3)
    assert work.Work.of_class() == thing.of_class() == ("third", "Work")
    assert inspect.signature(thing.method) == inspect.signature(lambda x=1: None)
    assert list(inspect.signature(work.Work.method).parameters) == ["self", "x"]


def test_bound_methods_objects_and_partials(library: Any, work: Any) -> None:
    """S5, C4: any callable, with its arguments exactly as given."""
    options = library.backend_opts(prioritize="third")
    thing = work.Work(7)
    assert options(thing)(1) == ("third", 7, 1)
    assert options(thing.method)(x=2) == ("third", 7, 2)
    assert options(functools.partial(thing, 5))() == ("third", 7, 5)
    assert options(len)([1, 2]) == 2
    assert options(library.f)(library.Foreign()) == "third"


def test_looks_like_the_function(work: Any) -> None:
    """Name, docstring, signature and annotations are the function's."""
    frozen = work.decorated
    assert frozen.__name__ == frozen.__qualname__ == "decorated"
    assert frozen.__module__ == "frozen_work"
    assert frozen.__doc__ == inspect.getdoc(frozen) == "Call the library under options."
    assert str(inspect.signature(frozen)) == "(x: 'int' = 1, *rest, key: 'str' = '') -> 'str'"
    assert typing.get_type_hints(frozen) == {"x": int, "key": str, "return": str}
    assert frozen.__wrapped__() == "first"
    assert inspect.unwrap(frozen) is frozen.__wrapped__
    assert callable(frozen)
    assert "decorated" in repr(frozen)


def test_pickled_state_is_the_frozen_one(library: Any, work: Any) -> None:
    """S5: every part of the state travels but the trace."""
    with library.backend_opts(prioritize="second", type=library.Foreign):
        options = library.backend_opts(disable="first", trace=True)
        frozen = options(library.f)
    again = roundtrip(frozen)
    assert again(None) == "second"
    assert options.trace == []
    assert frozen(None) == "second"
    assert len(options.trace) == 1


def test_runs_in_another_process(library: Any, work: Any, process: ProcessPoolExecutor) -> None:
    """S5: it runs under the same options in another process."""
    assert process.submit(work.plain).result(60) == "first"
    assert process.submit(work.decorated).result(60) == "third"
    assert process.submit(work.twice).result(60) == ("third", ())
    with library.backend_opts(prioritize="second", disable="first"):
        frozen = library.backend_opts()(work.plain)
        inner = library.backend_opts(prioritize="third")(work.plain)
    assert process.submit(frozen).result(60) == "second"
    assert process.submit(inner).result(60) == "third"
    assert process.submit(work.plain).result(60) == "first"


@pytest.mark.parametrize(
    ("name", "block", "reason"),
    [
        ("thirt", None, "no backend is named 'thirt'"),
        ("third", "third", "it is blocked by the environment variable FROZENLIB_BLOCK"),
    ],
    ids=["not installed", "blocked"],
)
def test_a_backend_that_cannot_be_used_there_is_explained(
    folder: Path, library: Any, name: str, block: str | None, reason: str
) -> None:
    """S5: where the function is called."""
    data = pickle.dumps(library.backend_opts(prioritize="third")(library.f))
    done = run_python(
        f"""
        import pickle
        from spatch_core import UnknownBackendError
        function = pickle.loads({data.replace(b"third", name.encode())!r})
        try:
            function(3)
        except UnknownBackendError as error:
            print(error)
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        """,
        path=[folder, PACKAGE],
        environment={"FROZENLIB_BLOCK": block},
    )
    assert reason in done.stdout


SCRIPT = """
import asyncio
import sys

import cloudpickle
from frozen_library import Foreign, backend_opts, f


@backend_opts(prioritize="third")
def decorated():
    return f(Foreign())


@backend_opts(prioritize="third")
async def coroutine():
    return f(Foreign())


class Work:
    @backend_opts(prioritize="second")
    def method(self):
        return f(Foreign())


def plain():
    return f(Foreign())


def make():
    @backend_opts(prioritize="third")
    def inside():
        return f(Foreign())
    return inside


functions = {
    "decorated": decorated,
    "method": Work().method,
    "expression": backend_opts(prioritize="second")(plain),
    "lambda": backend_opts(prioritize="second")(lambda: f(Foreign())),
    "local": make(),
    "coroutine": lambda: asyncio.run(coroutine()),
}
for name, function in functions.items():
    with open(f"{sys.path[1]}/{name}.pickle", "wb") as file:
        cloudpickle.dump(function, file)
"""


def test_functions_of_a_script_travel_by_value(folder: Path) -> None:
    """S5: a Dask worker, which has another `__main__`, runs a script's functions."""
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    run_python(SCRIPT, path=[folder, PACKAGE])
    done = run_python(
        """
        import pathlib, pickle, sys
        for file in sorted(pathlib.Path(sys.path[1]).glob("*.pickle")):
            print(file.stem, pickle.loads(file.read_bytes())())
        """,
        path=[folder, PACKAGE],
    )
    assert dict(line.split() for line in done.stdout.splitlines()) == {
        **dict.fromkeys(("coroutine", "decorated", "local"), "third"),
        **dict.fromkeys(("expression", "lambda", "method"), "second"),
    }


def test_script_that_starts_processes(folder: Path) -> None:
    """S5: functions of a script travel to the processes that the script starts."""
    done = run_python(
        """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        from frozen_library import Foreign, backend_opts, f
        from spatch_core import BackendSystem

        other = BackendSystem(None, "OTHERLIB")

        @backend_opts(prioritize="third")
        def decorated(number):
            return f(Foreign())

        @backend_opts(prioritize="second")
        @other.backend_opts()
        def of_two_libraries(number):
            return f(Foreign())

        class Work:
            @backend_opts(prioritize="second")
            def method(self, number):
                return f(Foreign())

        if __name__ == "__main__":
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                for function in (decorated, Work().method, decorated, of_two_libraries):
                    print(pool.submit(function, 1).result(60))
        """,
        path=[folder, PACKAGE],
    )
    assert done.stdout.split() == ["third", "second", "third", "second"]
