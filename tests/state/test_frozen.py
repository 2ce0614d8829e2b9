"""Options as a decorator: the state is frozen, and travels to other processes."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import multiprocessing
import pickle
import sys
import threading
import types
import typing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import UnknownBackendError
from spatch_core.testing import run_python

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

    from spatch_core._state.options import BackendOptions

PACKAGE = Path(spatch_core.__file__).parents[1]

# A library and functions of a user, in files that other processes can import.
LIBRARY = """
from spatch_core import BackendSystem


class Foreign:
    pass


def first(x, **options):
    return "first"


def second(x, **options):
    return "second"


def third(x, **options):
    return "third"


system = BackendSystem(
    None,
    "FROZENLIB",
    backends=[
        {
            "name": name,
            "primary_types": [f"{__name__}:Foreign"],
            "requires_opt_in": name == "third",
            "functions": {f"{__name__}:f": {"function": f"{__name__}:{name}"}},
        }
        for name in ("first", "second", "third")
    ],
)
backend_opts = system.backend_opts


@system.dispatchable("x")
def f(x, **options):
    return "default"
"""

WORK = '''
import asyncio

from frozen_library import Foreign, backend_opts, f


def plain(x=None, *rest, **options):
    """Call the library."""
    return f(Foreign())


@backend_opts(prioritize="third")
def decorated(x: "int" = 1, *rest, key: "str" = "") -> "str":
    """Call the library under options."""
    return f(Foreign())


@backend_opts(disable="first")
@backend_opts(prioritize="third")
def twice():
    return f(Foreign()), backend_opts().disabled


class Work:
    def __init__(self, value=0):
        self.value = value

    @backend_opts(prioritize="third")
    def method(self, x=1):
        return f(Foreign()), self.value, x

    @staticmethod
    @backend_opts(prioritize="second")
    def static(x):
        return f(Foreign()), x

    @classmethod
    @backend_opts(prioritize="third")
    def of_class(cls):
        return f(Foreign()), cls.__name__

    def __call__(self, x):
        return f(Foreign()), self.value, x


@backend_opts(prioritize="third")
async def coroutine(x=1):
    """Wait, and call the library."""
    found = [f(Foreign())]
    await asyncio.sleep(0)
    return [*found, f(Foreign())]


async def plain_coroutine(x=1):
    await asyncio.sleep(0)
    return f(Foreign())


class Waiting:
    async def __call__(self):
        await asyncio.sleep(0)
        return f(Foreign())


def generator(x=1):
    yield f(Foreign())
    sent = yield f(Foreign())
    try:
        yield sent, f(Foreign())
    except KeyError as error:
        yield error, f(Foreign())
    return f(Foreign())


async def async_generator(x=1):
    await asyncio.sleep(0)
    yield f(Foreign())
    sent = yield f(Foreign())
    try:
        await asyncio.sleep(0)
        yield sent, f(Foreign())
    except KeyError as error:
        await asyncio.sleep(0)
        yield error, f(Foreign())
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on `sys.path` with both modules."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "frozen_library.py").write_text(LIBRARY, encoding="utf-8")
    (folder / "frozen_work.py").write_text(WORK, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
    for name in ("frozen_library", "frozen_work", "frozen_late"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def library(folder: Path) -> Any:
    return import_module("frozen_library")


@pytest.fixture(scope="module")
def options(library: Any) -> type[BackendOptions]:
    found: type[BackendOptions] = library.backend_opts
    return found


@pytest.fixture(scope="module")
def work(library: Any) -> Any:
    return import_module("frozen_work")


@pytest.fixture(scope="module")
def process(work: Any) -> Iterator[ProcessPoolExecutor]:
    """A fresh process, which finds the same modules."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield pool


# ---------------------------------------------------------------------------------------
# Frozen


def test_decorated_function_runs_under_the_options(library: Any, work: Any) -> None:
    """S8: a decorator; what is in force around the call is back after it."""
    assert work.decorated() == "third"
    assert work.plain() == "first"
    assert library.backend_opts(prioritize="second")(work.plain)() == "second"
    with library.backend_opts(prioritize="second"):
        assert work.decorated() == "third"
        assert work.plain() == "second"


def test_state_is_frozen_when_decorated(library: Any, work: Any) -> None:
    """S8: it freezes the state now, with what was in force around the decoration."""
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


def test_options_that_say_nothing_freeze_too(library: Any, work: Any) -> None:
    """S8: `@backend_opts()` freezes what is in force, here the default."""
    frozen = library.backend_opts()(work.plain)
    with library.backend_opts(prioritize="third"):
        assert frozen() == "first"


def test_frozen_state_does_not_follow_the_process(folder: Path) -> None:
    """S8: what is frozen is not reached by `enable_globally`, nor by the environment."""
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


def test_exception_restores_the_state(library: Any, options: type[BackendOptions]) -> None:
    """S8, S3: an exception leaves the state as well."""

    @options(prioritize="third")
    def fail() -> None:
        raise LookupError(library.f(library.Foreign()))

    with pytest.raises(LookupError, match="third"):
        fail()
    assert options().prioritized == ()


def test_inner_blocks_and_recursion(library: Any, options: type[BackendOptions]) -> None:
    """S8, S4: nesting adds inside a frozen function too, and recursion unwinds."""

    @options(prioritize="second")
    def recurse(depth: int) -> list[Any]:
        with options(prioritize="third"):
            inner = recurse(depth - 1) if depth else []
            assert options().prioritized == ("third", "second")
        return [library.f(library.Foreign()), *inner]

    assert recurse(2) == ["second"] * 3
    assert options().prioritized == ()


def test_inner_decorator_wins(work: Any) -> None:
    """The decorator nearest to the function froze the state that the function sees."""
    assert work.twice() == ("third", ())


def test_trace_of_a_frozen_state(library: Any, work: Any) -> None:
    """S8, S10: a frozen trace goes on recording, into the options' own list."""
    options = library.backend_opts(trace=True)
    frozen = options(work.plain)
    with library.backend_opts(trace=True) as around:
        frozen()
        frozen()
    assert [event.backend for event in options.trace] == ["first", "first"]
    assert around == []


def test_threads_share_a_frozen_function(options: type[BackendOptions], work: Any) -> None:
    """S8, S2: each thread enters and leaves for itself."""
    barrier = threading.Barrier(2, timeout=60)

    @options(prioritize="third")
    def meet() -> Any:
        barrier.wait()
        found = work.plain()
        barrier.wait()
        return found

    def run(name: str) -> Any:
        with options(prioritize=name):
            return meet(), work.plain()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(run, ["first", "second"])) == [
            ("third", "first"),
            ("third", "second"),
        ]


# ---------------------------------------------------------------------------------------
# What can be decorated


def test_methods_bind(work: Any) -> None:
    """S8: methods, static methods and class methods."""
    thing = work.Work(7)
    assert thing.method(2) == ("third", 7, 2)
    assert thing.method() == work.Work.method(thing) == ("third", 7, 1)
    assert work.Work.static(3) == thing.static(3) == ("second", 3)
    assert work.Work.of_class() == thing.of_class() == ("third", "Work")
    assert inspect.signature(thing.method) == inspect.signature(lambda x=1: None)
    assert list(inspect.signature(work.Work.method).parameters) == ["self", "x"]


def test_bound_methods_objects_and_partials(library: Any, work: Any) -> None:
    """S8, C5: any callable, with its arguments exactly as given."""
    options = library.backend_opts(prioritize="third")
    thing = work.Work(7)
    assert options(thing)(1) == ("third", 7, 1)
    assert options(thing.method)(x=2) == ("third", 7, 2)
    assert options(functools.partial(thing, 5))() == ("third", 7, 5)
    assert options(len)([1, 2]) == 2
    assert options(library.f)(library.Foreign()) == "third"


def test_arguments_as_given(options: type[BackendOptions]) -> None:
    """Whatever the parameters are called, `self` among them."""

    @options()
    def record(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    assert record(1, 2, x=3) == ((1, 2), {"x": 3})
    assert record(self=1, function=2, args=3) == ((), {"self": 1, "function": 2, "args": 3})


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


@pytest.mark.parametrize("wrap", [lambda function: function, functools.partial])
def test_generator_functions(library: Any, work: Any, wrap: Any) -> None:
    """S8: The options are in force inside of each step, and never between two."""
    frozen: Any = library.backend_opts(prioritize="third")(wrap(work.generator))
    assert inspect.isgeneratorfunction(frozen)
    x = library.Foreign()
    generator: Any
    for generator in (frozen(), pickle.loads(pickle.dumps(frozen))()):
        assert isinstance(generator, types.GeneratorType)
        for _ in range(2):
            assert next(generator) == "third"
            assert library.f(x) == "first"
        with library.backend_opts(prioritize="second"):
            assert generator.send("sent") == ("sent", "third")
            assert library.f(x) == "second"
            error = KeyError("x")
            assert generator.throw(error) == (error, "third")
        with pytest.raises(StopIteration, match="third"):
            next(generator)
        assert library.f(x) == "first"


@pytest.mark.parametrize("wrap", [lambda function: function, functools.partial])
def test_asynchronous_generator_functions(library: Any, work: Any, wrap: Any) -> None:
    """S8: The same, where each step may await."""
    frozen: Any = library.backend_opts(prioritize="third")(wrap(work.async_generator))
    assert inspect.isasyncgenfunction(frozen)
    x = library.Foreign()

    async def main(generator: Any) -> None:
        assert isinstance(generator, types.AsyncGeneratorType)
        for _ in range(2):
            assert await generator.__anext__() == "third"
            assert library.f(x) == "first"
        with library.backend_opts(prioritize="second"):
            assert await generator.asend("sent") == ("sent", "third")
            assert library.f(x) == "second"
            error = KeyError("x")
            assert await generator.athrow(error) == (error, "third")
        with pytest.raises(StopAsyncIteration):
            await generator.__anext__()
        assert library.f(x) == "first"

    for each in (frozen, pickle.loads(pickle.dumps(frozen))):
        asyncio.run(main(each()))


def test_generators_of_one_function_do_not_meet(library: Any, work: Any) -> None:
    """S8: Steps of several generators in turn, in blocks that end in another order."""
    frozen = {
        name: library.backend_opts(prioritize=name)(work.generator)
        for name in ("first", "second", "third")
    }
    running = {name: function() for name, function in frozen.items()}
    for _ in range(3):
        for name, generator in running.items():
            with library.backend_opts(disable="third"):
                assert name in str(next(generator))


def test_blocks_inside_of_frozen_generators_last_until_they_end(library: Any) -> None:
    """S8: Also across a ``yield``, unseen by the consumer."""
    x = library.Foreign()

    @library.backend_opts(prioritize="third")  # type: ignore[untyped-decorator]  # of any kind
    def generate() -> Any:
        with library.backend_opts(prioritize="second"):
            yield library.f(x)
            yield library.f(x)
        yield library.f(x)

    generator = generate()
    seen = []
    for found in generator:
        seen.append(found)
        assert library.f(x) == "first"
    assert seen == ["second", "second", "third"]


def test_frozen_generators_that_end_early(library: Any) -> None:
    """S8: Closing runs under the options, too; an error leaves nothing in force."""
    x = library.Foreign()
    ended = []

    def work(fails: bool = False) -> Any:
        try:
            yield 1
            if fails:
                raise LookupError
        finally:
            ended.append(library.f(x))

    frozen: Any = library.backend_opts(prioritize="third")(work)
    generator = frozen()
    next(generator)
    generator.close()
    generator = frozen()
    next(generator)
    del generator
    with pytest.raises(LookupError):
        list(frozen(fails=True))
    assert ended == ["third"] * 3
    assert library.f(x) == "first"


def test_frozen_coroutine_that_is_driven_by_hand(library: Any, work: Any) -> None:
    """S8: Nothing is in force between two steps, though no task isolates them."""
    x = library.Foreign()
    coroutine = work.coroutine()
    coroutine.send(None)
    assert library.f(x) == "first"
    with pytest.raises(StopIteration) as caught:
        coroutine.send(None)
    assert caught.value.value == ["third"] * 2
    coroutine = work.coroutine()
    coroutine.send(None)
    coroutine.close()
    assert library.f(x) == "first"


def test_an_inner_trace_sees_the_steps_of_a_frozen_generator(library: Any) -> None:
    """S8, S10: While it waits, the process is observed, and other calls are not recorded."""
    x = library.Foreign()
    options = library.backend_opts(trace=True)

    @options  # type: ignore[untyped-decorator]  # of any kind
    def generate() -> Any:
        yield library.f(x)
        yield library.f(x)

    generator = generate()
    next(generator)
    library.f(x)
    assert len(options.trace) == 1
    next(generator)
    assert len(options.trace) == 2


def test_coroutine_functions(library: Any, work: Any) -> None:
    """S8: a coroutine runs under the options from its first step to its last."""

    async def main() -> Any:
        with library.backend_opts(prioritize="second"):
            one = work.coroutine()
        other = asyncio.create_task(work.coroutine())
        await asyncio.sleep(0)
        between = library.f(library.Foreign())
        return await one, between, await other, library.f(library.Foreign())

    assert asyncio.run(main()) == (["third"] * 2, "first", ["third"] * 2, "first")
    assert inspect.iscoroutinefunction(work.coroutine)
    assert asyncio.iscoroutinefunction(work.coroutine)
    assert work.coroutine.__doc__ == "Wait, and call the library."
    assert str(inspect.signature(work.coroutine)) == "(x=1)"


def test_coroutine_that_fails(library: Any, options: type[BackendOptions]) -> None:
    """S8, S3: an exception or a cancellation leaves the state."""

    @options(prioritize="third")
    async def fail(wait: bool) -> None:
        if wait:
            await asyncio.Event().wait()
        raise LookupError(library.f(library.Foreign()))

    async def main() -> Any:
        with pytest.raises(LookupError, match="third"):
            await fail(False)
        task = asyncio.create_task(fail(True))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return library.f(library.Foreign())

    assert asyncio.run(main()) == "first"


def test_coroutine_functions_in_disguise(library: Any, work: Any) -> None:
    """What returns a coroutine runs under the options as well, or is refused."""
    for function in (functools.partial(work.plain_coroutine, 1), work.Waiting()):
        try:
            frozen = library.backend_opts(prioritize="third")(function)
            assert asyncio.run(frozen()) == "third"
        except TypeError:
            continue


# ---------------------------------------------------------------------------------------
# What it looks like


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


def test_frozen_dispatchable_explains_what_it_does(library: Any) -> None:
    """What `explain` says of a frozen dispatchable, if it says anything, is what happens."""
    frozen = library.backend_opts(prioritize="third")(library.f)
    x = library.Foreign()
    assert frozen(x) == "third"
    if hasattr(frozen, "explain"):
        assert frozen.explain(x).selected == "third"
        assert frozen.invoke(type=library.Foreign)(None) == "third"


def test_copies_run_under_the_same_options(work: Any) -> None:
    """A frozen function can be copied, alone or inside something."""
    assert copy.copy(work.decorated)() == "third"
    assert copy.deepcopy([work.decorated])[0]() == "third"


def test_can_be_decorated_further(library: Any, work: Any) -> None:
    """`functools` takes a frozen function like any other."""

    @functools.wraps(work.decorated)
    def wrapper() -> Any:
        return [work.decorated()]

    assert wrapper() == ["third"]
    assert functools.lru_cache(work.decorated)() == "third"
    assert functools.partial(work.decorated, 1)() == "third"
    assert {work.decorated: 1}[work.decorated] == 1


# ---------------------------------------------------------------------------------------
# Other processes


def call(function: Any, *args: Any) -> Any:
    return function(*args)


def roundtrip(function: Any) -> Any:
    return pickle.loads(pickle.dumps(function))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_with_every_protocol(work: Any, protocol: int) -> None:
    """S9: the wrapped function can be pickled."""
    assert pickle.loads(pickle.dumps(work.decorated, protocol))() == "third"


def test_pickled_state_is_the_frozen_one(library: Any, work: Any) -> None:
    """S9: every part of the state travels but the trace."""
    with library.backend_opts(prioritize="second", type=library.Foreign):
        options = library.backend_opts(disable="first", trace=True)
        frozen = options(library.f)
    again = roundtrip(frozen)
    assert again(None) == "second"
    assert options.trace == []
    assert frozen(None) == "second"
    assert len(options.trace) == 1


def test_runs_in_another_process(library: Any, work: Any, process: ProcessPoolExecutor) -> None:
    """S9: it runs under the same options in another process."""
    assert process.submit(work.plain).result(60) == "first"
    assert process.submit(work.decorated).result(60) == "third"
    assert process.submit(work.twice).result(60) == ("third", ())
    with library.backend_opts(prioritize="second", disable="first"):
        frozen = library.backend_opts()(work.plain)
        inner = library.backend_opts(prioritize="third")(work.plain)
    assert process.submit(frozen).result(60) == "second"
    assert process.submit(inner).result(60) == "third"
    assert process.submit(work.plain).result(60) == "first"


def test_methods_run_in_another_process(
    library: Any, work: Any, process: ProcessPoolExecutor
) -> None:
    """S9: bound methods, static and class methods, objects and partials."""
    thing = work.Work(7)
    options = library.backend_opts(prioritize="second")
    assert process.submit(thing.method, 2).result(60) == ("third", 7, 2)
    assert process.submit(work.Work.method, thing).result(60) == ("third", 7, 1)
    assert process.submit(work.Work.static, 3).result(60) == ("second", 3)
    assert process.submit(work.Work.of_class).result(60) == ("third", "Work")
    assert process.submit(options(thing), 4).result(60) == ("second", 7, 4)
    assert process.submit(options(functools.partial(thing, 5))).result(60) == ("second", 7, 5)
    assert process.submit(options(library.f), library.Foreign()).result(60) == "second"


def test_coroutines_run_in_another_process(
    library: Any, work: Any, process: ProcessPoolExecutor
) -> None:
    """S9: coroutine functions travel like functions, under the frozen state."""
    assert process.submit(asyncio_run, work.coroutine).result(60) == ["third", "third"]
    with library.backend_opts(prioritize="second"):
        frozen = library.backend_opts(disable="first")(work.plain_coroutine)
    assert asyncio.run(frozen()) == "second"
    assert process.submit(asyncio_run, frozen).result(60) == "second"


def test_frozen_state_of_this_process_counts(
    folder: Path, library: Any, process: ProcessPoolExecutor
) -> None:
    """S9: not the state that the other process freezes when it imports the module."""
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


def asyncio_run(function: Any) -> Any:
    return asyncio.run(function())


def test_freeze_adds_nothing_of_what_is_in_force(folder: Path) -> None:
    """What runs later has the options that are given, and no trace that grows for ever."""
    done = run_python(
        """
        from frozen_library import Foreign, backend_opts, f
        from frozen_work import plain

        backend_opts(type=Foreign, trace=True, disable="first").enable_globally()
        def query():
            options = backend_opts()
            return options.prioritized, options.disabled, options.type, options.trace

        with backend_opts(prioritize="second") as outer:
            alone = backend_opts.freeze(query)
            third = backend_opts.freeze(query, prioritize=["third", "first"], disable="first")
            assumed = backend_opts.freeze(f, type=Foreign)
        with backend_opts(prioritize="second"):
            assert alone() == ((), (), None, None), alone()
            assert third() == (("third",), ("first",), None, None), third()
            assert backend_opts.freeze(plain)() == "first"
            assert assumed(3) == "first"
            assert f(3) == "second"
        """,
        path=[folder, PACKAGE],
    )
    assert done.returncode == 0


def test_freeze_on_options_freezes_these(folder: Path) -> None:
    """S8: as the same options given to `backend_opts.freeze`; more of them go first, as inside."""
    done = run_python(
        """
        from frozen_library import Foreign, backend_opts, f
        from frozen_work import plain

        def query():
            options = backend_opts()
            return options.prioritized, options.disabled, options.type, options.trace

        options = backend_opts("second", disable="first", type=Foreign)
        with backend_opts(prioritize="third"):
            frozen = options.freeze(query)
            more = options.freeze(query, prioritize="first")
        assert frozen() == (("second",), ("first",), Foreign, None), frozen()
        assert more() == (("first", "second"), (), Foreign, None), more()
        assert backend_opts("second").freeze(plain)() == "second"
        assert f(3) == "default"

        traced = backend_opts(trace=True)
        traced.freeze(plain)()
        with traced as trace:
            assert [event.backend for event in trace] == ["first"], trace
        """,
        path=[folder, PACKAGE],
    )
    assert done.returncode == 0


def test_freeze_has_one_signature(library: Any, work: Any) -> None:
    """Tools see a method, on the class and on options."""
    options = library.backend_opts("third")
    for method in (library.backend_opts.freeze, options.freeze):
        assert list(inspect.signature(method).parameters) == [
            *("function", "prioritize", "disable", "type")
        ]
        assert "under these options" in method.__doc__


def test_freeze_checks_what_it_is_given(library: Any, work: Any) -> None:
    with pytest.raises(UnknownBackendError, match="mean 'third'"):
        library.backend_opts.freeze(work.plain, prioritize="thirt")
    with pytest.raises(spatch_core.UnknownTypeError):
        library.backend_opts.freeze(work.plain, type=bytes)


def test_frozen_with_freeze_runs_in_another_process(
    library: Any, work: Any, process: ProcessPoolExecutor
) -> None:
    frozen = library.backend_opts.freeze(work.plain, prioritize="third")
    assert process.submit(call, frozen).result(60) == "third"


def test_backend_that_is_not_installed_there_is_explained(folder: Path, library: Any) -> None:
    """The nearest name would be a bad guess: the one that was meant is somewhere else."""
    data = pickle.dumps(library.backend_opts(prioritize="third")(library.f))
    done = run_python(
        f"""
        import pickle
        from frozen_library import f
        from spatch_core import UnknownBackendError
        function = pickle.loads({data.replace(b"third", b"thirt")!r})
        try:
            function(3)
        except UnknownBackendError as error:
            print(error)
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        """,
        path=[folder, PACKAGE],
    )
    assert done.stdout == (
        "backend 'thirt' cannot be used: it is not installed for this process, which was sent "
        "'f' with options that prioritize it; installed: default, first, second, third\n"
    )


def test_backend_that_is_blocked_there_is_explained(folder: Path, library: Any) -> None:
    """The variable is set where the function was sent to, and not where it comes from."""
    data = pickle.dumps(library.backend_opts(prioritize="third")(library.f))
    done = run_python(
        f"""
        import pickle
        from spatch_core import UnknownBackendError
        try:
            pickle.loads({data!r})(3)
        except UnknownBackendError as error:
            print(error)
        """,
        path=[folder, PACKAGE],
        environment={"FROZENLIB_BLOCK": "third"},
    )
    assert done.stdout == (
        "backend 'third' cannot be used: it is blocked by the environment variable "
        "FROZENLIB_BLOCK, in this process, which was sent 'f' with options that prioritize it\n"
    )


def test_backend_that_is_missing_there_is_named_when_called(folder: Path, library: Any) -> None:
    """A process without the backend loads the function, and says what is missing."""
    data = pickle.dumps(library.backend_opts(prioritize="third")(library.f))
    code = f"""
        import pickle
        from spatch_core import UnknownBackendError
        function = pickle.loads({data!r})
        try:
            function(3)
        except UnknownBackendError as error:
            print(error)
    """
    done = run_python(code, path=[folder, PACKAGE], environment={"FROZENLIB_BLOCK": "third"})
    assert "'third'" in done.stdout
    assert "FROZENLIB_BLOCK" in done.stdout


def test_missing_backend_is_no_state_left_behind(
    library: Any, work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frozen function that cannot run leaves the state as it was."""
    data = pickle.dumps(work.decorated)
    monkeypatch.setenv("FROZENLIB_BLOCK", "third")
    library.system.reload()
    try:
        again = pickle.loads(data)
        for _ in range(2):
            with pytest.raises(UnknownBackendError, match="third"):
                again()
        assert work.plain() == "first"
    finally:
        monkeypatch.undo()
        library.system.reload()
    assert again() == "third"


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


@pytest.fixture(scope="module")
def pickles(folder: Path) -> Path:
    """Functions of a script, pickled by value as a Dask client does it."""
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    run_python(SCRIPT, path=[folder, PACKAGE])
    return folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("decorated", "third"),
        ("method", "second"),
        ("expression", "second"),
        ("lambda", "second"),
        ("local", "third"),
        ("coroutine", "third"),
    ],
)
def test_functions_of_a_script_travel_by_value(pickles: Path, name: str, expected: str) -> None:
    """S9: a Dask worker, which has another `__main__`, runs a script's functions."""
    done = run_python(
        f"""
        import pickle, sys
        with open(f"{{sys.path[1]}}/{name}.pickle", "rb") as file:
            print(pickle.load(file)())
        """,
        path=[pickles, PACKAGE],
    )
    assert done.stdout.split() == [expected]


def test_script_that_starts_processes(folder: Path) -> None:
    """S9: functions of a script travel to the processes that the script starts."""
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
