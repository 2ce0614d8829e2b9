"""Options as a decorator, and `freeze`: which state is frozen, into what, and how it travels."""

from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
import sys
import typing
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import DispatchContext, NoImplementationError
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from spatch_core.types import BackendOptions


PACKAGE = Path(spatch_core.__file__).parents[1]


def asyncio_run(function: Any) -> Any:
    return asyncio.run(function())


def test_state_is_frozen_when_decorated(library: Any, work: Any) -> None:
    """S5: the frozen state includes the options in force at the decoration."""
    with library.backend_opts(prioritize="second", disable="first"):
        frozen = library.backend_opts(type=library.Foreign)(
            lambda: (
                library.f(None),
                library.backend_opts().prioritized,
                library.backend_opts().disabled,
            )
        )
    assert frozen() == ("second", ("second",), ("first",))
    with library.backend_opts(prioritize="third", disable="second"):
        assert frozen() == ("second", ("second",), ("first",))


def test_frozen_state_does_not_follow_the_process(folder: Path) -> None:
    """S5: neither `enable_globally` nor the environment changes a frozen state."""
    done = run_python(
        """
        from frozen_library import backend_opts
        from frozen_work import plain
        frozen = backend_opts()(plain)
        backend_opts(prioritize="third").enable_globally()
        print(frozen(), plain())
        """,
        path=[folder, PACKAGE],
        environment={"FROZENLIB_PRIORITIZE": "second"},
    )
    assert done.stdout.split() == ["second", "third"]


def test_above_staticmethod_and_classmethod(options: type[BackendOptions], work: Any) -> None:
    """The decorator above `staticmethod` and `classmethod` works as below them."""

    class Thing:
        @options(prioritize="third")
        @staticmethod
        def static(x: Any) -> Any:
            return work.plain(), x

        @options(prioritize="second")
        @classmethod
        def of_class(cls) -> Any:
            return work.plain(), cls.__name__

    assert Thing.static(3) == Thing().static(3) == ("third", 3)
    assert Thing.of_class() == Thing().of_class() == ("second", "Thing")


@pytest.mark.parametrize(
    "value", [3, "f", None, pytest.param(property(len), id="property")], ids=repr
)
def test_what_cannot_be_called_is_refused(library: Any, value: Any) -> None:
    """A mistake is named where it is made."""
    with pytest.raises(TypeError, match="decorate a function"):
        library.backend_opts()(value)


def test_freeze_adds_nothing_of_what_is_in_force(folder: Path) -> None:
    """S5: what runs later has the options that are given, and no trace that grows for ever."""
    done = run_python(
        """
        from frozen_library import Foreign, backend_opts, f
        from frozen_work import plain

        backend_opts(type=Foreign, trace=True, disable="first").enable_globally()
        def query():
            options = backend_opts()
            return options.prioritized, options.disabled, options.type, options.trace

        with backend_opts(prioritize="second") as outer:
            alone = backend_opts().freeze(query)
            third = backend_opts(["third", "first"], "first").freeze(query)
            assumed = backend_opts(type=Foreign).freeze(f)
        with backend_opts(prioritize="second"):
            assert alone() == ((), (), None, None), alone()
            assert third() == (("third",), ("first",), None, None), third()
            assert backend_opts().freeze(plain)() == "first"
            assert assumed(3) == "first"
            assert f(3) == "second"
        """,
        path=[folder, PACKAGE],
    )
    assert done.returncode == 0


def test_frozen_state_of_this_process_counts(
    folder: Path, library: Any, process: ProcessPoolExecutor
) -> None:
    """S5: not the state that the other process freezes when it imports the module."""
    (folder / "frozen_late.py").write_text(
        "from frozen_library import Foreign, backend_opts, f\n"
        "@backend_opts()\n"
        "def late():\n"
        "    return f(Foreign())\n"
        "@backend_opts()\n"
        "async def later():\n"
        "    return f(Foreign())\n",
        encoding="utf-8",
    )
    with library.backend_opts(disable="first"):
        module = import_module("frozen_late")
    assert module.late() == "second"
    assert process.submit(module.late).result(60) == "second"
    assert process.submit(asyncio_run, module.later).result(60) == "second"


def roundtrip(function: Any) -> Any:
    return pickle.loads(pickle.dumps(function))


def test_trace_of_a_frozen_state(library: Any, work: Any) -> None:
    """S5, S6: a frozen trace goes on recording, into the options' own list."""
    options = library.backend_opts(trace=True)
    frozen = options(work.plain)
    with library.backend_opts(trace=True) as around:
        frozen()
        frozen()
    assert [event.backend for event in options.trace] == ["first", "first"]
    assert around == []


def test_what_watches_the_caller_watches_frozen_functions(library: Any, work: Any) -> None:
    """S5: traces and hooks choose nothing; those of a caller see no function of `freeze`."""
    names: list[str] = []

    def hook(call: Any) -> Any:
        names.append(call.function)
        return call.next(*call.args, **call.kwargs)

    later = library.backend_opts(prioritize="third").freeze(work.plain)
    with library.backend_opts(trace=True, hook=hook, prioritize="second") as trace:
        assert (work.decorated(), later(), asyncio.run(work.coroutine())[0]) == ("third",) * 3
        assert library.f(library.Foreign()) == "second"
    assert [event.backend for event in trace] == [*["third"] * 3, "second"]
    assert names == [event.function for event in trace]
    assert work.decorated() == "third"
    assert len(names) == len(trace) == 4

    class Watching:
        calls = 0

        def __call__(self, call: Any) -> Any:
            self.calls += 1
            return NotImplemented

    outer, inner = Watching(), Watching()
    frozen = library.backend_opts(hook=inner)(work.plain)
    with library.backend_opts(hook=outer):
        frozen()
    assert (inner.calls, outer.calls) == (1, 1)


def test_the_environments_trace_shows_frozen_functions(folder: Path) -> None:
    """S8: also in the process that gets one."""
    done = run_python(
        """
        import pickle
        from frozen_library import backend_opts
        from frozen_work import decorated, plain
        backend_opts(prioritize="second")(plain)()
        pickle.loads(pickle.dumps(decorated))()
        """,
        path=[folder, PACKAGE],
        environment={"FROZENLIB_TRACE": "1"},
    )
    assert [line.split()[2] for line in done.stderr.splitlines()] == ["second", "third"]


class Unknown:
    """A type that no backend knows."""


def test_decorators_add_up(library: Any, work: Any) -> None:
    """S5: as nested blocks do, the inner options first; also when it is pickled."""
    options = library.backend_opts
    both = options(prioritize="second", fallback="raise")(options("third", "second")(work.plain))
    seen = options("second")(options("third")(lambda: options().prioritized))
    assert (both(), seen()) == ("third", ("third", "second"))
    assert both.__wrapped__ is work.plain
    assert pickle.loads(pickle.dumps(both))() == "third"
    with pytest.raises(NoImplementationError):
        options(fallback="raise")(options("second")(library.f))(Unknown())


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


functions = {
    "decorated": decorated,
    "method": Work().method,
    "lambda": backend_opts(prioritize="second")(lambda: f(Foreign())),
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
        **dict.fromkeys(("coroutine", "decorated"), "third"),
        **dict.fromkeys(("lambda", "method"), "second"),
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


@pytest.mark.parametrize("name", ["generator", "async_generator"])
@pytest.mark.parametrize("wrap", [lambda function: function, functools.partial])
def test_generator_functions_are_refused(library: Any, work: Any, name: str, wrap: Any) -> None:
    """S5: their bodies would run outside of the options."""
    function = wrap(getattr(work, name))
    for decorate in (library.backend_opts(prioritize="third"), library.backend_opts().freeze):
        with pytest.raises(TypeError, match=rf"{name}.* generator function.*Decorate the function"):
            decorate(function)


def test_coroutine_functions(library: Any, work: Any) -> None:
    """S5: a coroutine runs under the options from its first step to its last."""

    async def main() -> Any:
        with library.backend_opts(prioritize="second"):
            one = work.coroutine()
        other = asyncio.create_task(work.coroutine())
        await asyncio.sleep(0)
        between = library.f(library.Foreign())
        return await one, between, await other, library.f(library.Foreign())

    assert asyncio.run(main()) == (["third"] * 2, "first", ["third"] * 2, "first")
    assert inspect.iscoroutinefunction(work.coroutine)
    if sys.version_info < (3, 14):  # deprecated since
        assert asyncio.iscoroutinefunction(work.coroutine)
    assert work.coroutine.__doc__ == "Wait, and call the library."
    assert str(inspect.signature(work.coroutine)) == "(x=1)"


# What is evaluated with each object as `value`, and what is printed.
USES = {
    "system": ("value.group, value.environ_prefix", "(None, 'FROZENLIB')"),
    "options": (
        "value.prioritized, value.disabled, value.type, value.trace",
        "(('second',), ('first',), <class 'frozen_library.Foreign'>, [])",
    ),
    "no options": ("value.prioritized, value.trace", "((), None)"),
    "frozen": ("value(3)", "second"),
    "decorated": ("value()", "third"),
    "coroutine": ("asyncio.run(value())", "['third', 'third']"),
    "backend": ("value(3)", "second"),
    "type": ("value(3)", "first"),
    "context": (
        "(value.name, value.types, value.prioritized)",
        "('first', (<class 'int'>,), False)",
    ),
}


@pytest.fixture(scope="module")
def objects(library: Any, work: Any) -> dict[str, Any]:
    """One object of each kind that can be pickled."""
    options = library.backend_opts
    return {
        "system": library.system,
        "options": options("second", "first", library.Foreign, trace=True),
        "no options": options(),
        "frozen": options(prioritize="second", type=library.Foreign)(library.f),
        "decorated": work.decorated,
        "coroutine": work.coroutine,
        "backend": library.f.invoke(backend="second"),
        "type": library.f.invoke(type=library.Foreign),
        "context": DispatchContext((int,), (1,), "first", False, "lib:f"),
    }


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_load_in_another_process(
    folder: Path, objects: dict[str, Any], protocol: int
) -> None:
    """S5: each kind does there what it does here."""
    lines = "".join(
        f"value = pickle.loads({pickle.dumps(objects[name], protocol)!r})\nprint(({use}))\n"
        for name, (use, _) in USES.items()
    )
    done = run_python(f"import asyncio, pickle\n{lines}", path=[folder, PACKAGE])
    assert done.stdout.splitlines() == [result for _, result in USES.values()]


def test_a_system_that_is_not_there_is_named(library: Any) -> None:
    """S5: the module is there, and its system has another prefix now."""
    data = pickle.dumps(library.backend_opts())
    assert pickle.loads(data).prioritized == ()
    with pytest.raises(LookupError, match=r"'frozen_library' makes no .* 'FROZENLIX'"):
        pickle.loads(data.replace(b"FROZENLIB", b"FROZENLIX"))
