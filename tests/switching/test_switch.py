"""`Switch`: the current backend, set without a block; rules W5 to W8."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import GlobalOptionsWarning, UnknownBackendError
from spatch_core.switching import Switch
from spatch_core.testing import isolated, run_python

if TYPE_CHECKING:
    from tests.switching.conftest import Library

FOLDERS = [Path(spatch_core.__file__).parents[1]]


@pytest.fixture(autouse=True)
def _in_a_context_of_its_own(library: Library) -> Iterator[None]:
    """Nothing that a test sets is left in the context of the tests."""
    with isolated(library.system):
        yield


# --- what it does in one thread --------------------------------------------------------


def test_set_and_get(library: Library) -> None:
    """W5: from the call on; the library itself under its own name."""
    switch = library.switch
    assert library.now() == "numpy"
    switch.set_backend("jax")
    assert library.now() == "jax"
    switch.set_backend("cupy")  # requires opt-in
    assert library.now() == "cupy"
    switch.set_backend("numpy")
    assert library.now() == library.tensor(1) == "numpy"
    switch.set_backend("default")
    assert library.now() == "numpy"


def test_what_get_gives_can_be_set(library: Library) -> None:
    """W5: programs keep a backend, set another one, and set the first one again."""
    for name in ("numpy", "jax"):
        library.switch.set_backend(name)
        before = library.switch.get_backend()
        library.switch.set_backend("torch")
        library.switch.set_backend(before)
        assert library.now() == name


def test_an_unknown_name_changes_nothing(library: Library) -> None:
    """W5: and says which name is meant."""
    switch = library.switch
    switch.set_backend("jax")
    for globally in (False, True):
        with pytest.raises(UnknownBackendError, match="did you mean 'torch'"):
            switch.set_backend("trch", globally=globally)
        assert [*switch] == ["jax"]
    with pytest.raises(ValueError, match="trch") as caught:
        switch.backend_context("trch")
    assert caught.value.__context__ is None  # nothing of how it was looked up
    assert [*switch] == ["jax"]
    for wrong in (None, 3, ["jax"]):
        given: Any = wrong
        for function in (switch.set_backend, switch.backend_context):
            with pytest.raises(TypeError, match="is given by its name"):
                function(given)
    assert library.now() == "jax"


def test_globally_is_given_by_its_name(library: Library) -> None:
    """W7: TensorLy's second argument means the contrary, and a name would pass for True."""
    switch: Any = library.switch
    for function in (switch.set_backend, switch.backend_context):
        with pytest.raises(TypeError, match="positional argument"):
            function("jax", True)
    with pytest.raises(TypeError, match="positional argument"):
        switch.unset_backend("jax")
    assert library.now() == "numpy"


@pytest.mark.parametrize("wrong", ["globally", "local_threadsafe"])
def test_a_context_holds_in_its_own_thread_or_task(library: Library, wrong: str) -> None:
    """W5: the error says what to write for the whole process."""
    given: Any = {wrong: True}
    text = rf"no argument '{wrong}'.*set_backend\(name, globally=True\)"
    with pytest.raises(TypeError, match=text):
        library.switch.backend_context("jax", **given)
    with library.switch.backend_context("jax"):
        assert (library.now(), in_thread(library.now)) == ("jax", "numpy")


def test_a_system_is_needed() -> None:
    """W5: the class of options is none."""
    wrong: Any = "mylib"
    with pytest.raises(TypeError, match="takes the BackendSystem of a library"):
        Switch(wrong)


def test_a_context_ends(library: Library) -> None:
    """W5: also by an exception, and whatever was set in it."""
    switch = library.switch
    switch.set_backend("jax")
    with switch.backend_context("torch"):
        assert library.now() == "torch"
        switch.set_backend("cupy")
        assert library.now() == "cupy"
    assert library.now() == "jax"
    with pytest.raises(ZeroDivisionError), switch.backend_context("torch"):
        raise ZeroDivisionError
    assert library.now() == "jax"

    @switch.backend_context("torch")
    def work() -> str:
        return library.now()

    assert work() == "torch"
    assert library.now() == "jax"


def test_options_restore_what_was_set(library: Library) -> None:
    """W5: what is set in a block of options is set until the block ends."""
    switch = library.switch

    def work() -> None:
        switch.set_backend("jax")
        assert library.options().prioritized == ("jax", "cupy")
        assert library.now() == "jax"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), library.options(prioritize="cupy"):
        work()
    assert library.now() == "numpy"
    with library.options(trace=True) as trace:
        switch.set_backend("jax")
        library.tensor([1])
        switch.previous_backend()
        library.tensor([1])
    assert [event.backend for event in trace] == ["jax", "default"]
    with library.options(disable="jax"):
        switch.set_backend("jax")
        assert library.now() == "jax"
        assert library.options().disabled == ()


def test_the_stack(library: Library) -> None:
    """W6: iterating gives it, the current one first; blocks are part of it."""
    switch = library.switch
    assert [*switch] == []
    assert repr(switch).endswith("conftest: no backend is set>")
    switch.set_backend("jax")
    with switch.backend_context("torch"):
        switch.set_backend("numpy")
        assert [*switch] == ["numpy", "torch", "jax"]
        assert repr(switch).endswith("conftest: numpy, torch, jax>")
        assert switch.previous_backend() == "torch" == library.now()
        assert switch.previous_backend() == "jax" == library.now()
        assert switch.previous_backend() == "numpy" == library.now()
        with pytest.raises(RuntimeError, match="no backend to go back to"):
            switch.previous_backend()
    assert [*switch] == ["jax"]
    assert switch.previous_backend() == "numpy"
    assert not library.system._dispatcher.keeper.is_own()


def test_a_pair_of_calls_is_balanced(library: Library) -> None:
    """W6: setting the same backend again is one more to go back from; a block is none."""
    switch = library.switch
    switch.set_backend("jax")
    switch.set_backend("jax")
    assert switch.previous_backend() == "jax"
    with switch.backend_context("jax"), switch.backend_context("jax"):
        assert [*switch] == ["jax"]
    assert switch.previous_backend() == "numpy"


def test_going_back_keeps_the_other_options(library: Library) -> None:
    """W6: only backends are switched; what `prioritize` says keeps its place."""
    switch, options = library.switch, library.options
    with options(prioritize=("torch", "cupy")):
        with switch.backend_context("jax"), options(prioritize="torch"):
            switch.set_backend("cupy")
            assert options().prioritized == ("cupy", "torch")
            switch.previous_backend()
            assert options().prioritized == ("jax", "torch", "cupy")
            switch.previous_backend()
            assert options().prioritized == ("torch", "cupy")
            switch.unset_backend()
            assert options().prioritized == ("torch", "cupy")
        assert options().prioritized == ("torch", "cupy")
        switch.set_backend("torch")
        switch.previous_backend()
        assert options().prioritized == ("torch", "cupy")


def test_the_stack_is_bounded(library: Library) -> None:
    """W6, E6: programs that only set backends need no more memory for it."""
    switch = library.switch
    for _ in range(100):
        switch.set_backend("jax")
        switch.set_backend("torch")
    assert len([*switch]) == 32
    assert library.now() == "torch"
    assert len(library.system._dispatcher.keeper._known) <= 256


def test_unset(library: Library) -> None:
    """W6: back to what the process says, here and until a block ends."""
    switch = library.switch
    switch.unset_backend()
    assert library.now() == "numpy"
    switch.set_backend("jax")
    with switch.backend_context("torch"):
        switch.unset_backend()
        assert [*switch] == []
        assert library.now() == "numpy"
    assert library.now() == "jax"
    switch.unset_backend()
    assert [*switch] == []
    assert not library.system._dispatcher.keeper.is_own()


def test_the_environment_gives_the_first(library: Library) -> None:
    """W3, W6: before the first call too; there is nothing to go back to from it."""
    switch = library.switch
    environment = {"SWITCHLIB_BACKEND": "jax", "SWITCHLIB_PRIORITIZE": "cupy"}
    with isolated(library.system, environment=environment):
        assert switch.get_backend() == "jax"
        with pytest.raises(RuntimeError):
            switch.previous_backend()
        switch.set_backend("torch")
        assert [*switch] == ["torch", "jax"]
        assert library.options().prioritized == ("torch", "cupy")
        switch.previous_backend()
        assert library.options().prioritized == ("cupy", "jax")
        assert not library.system._dispatcher.keeper.is_own()
        with switch.backend_context("torch"):
            switch.unset_backend()
            assert library.now() == "jax"
            assert library.options().prioritized == ("cupy", "jax")


def test_it_can_be_pickled() -> None:
    """W5: as the library that it belongs to."""
    run_python(
        """
        import pickle, sys, types
        from spatch_core import BackendSystem
        from spatch_core.switching import Switch

        module = types.ModuleType("switched_library")
        exec("from spatch_core import BackendSystem; system = BackendSystem(None, 'ABC')",
             vars(module))
        sys.modules["switched_library"] = module
        switch = Switch(module.system)
        assert pickle.loads(pickle.dumps(switch))._system is module.system
        """,
        path=FOLDERS,
    )


# --- the whole process -----------------------------------------------------------------


def in_thread(work: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_globally(library: Library) -> None:
    """W7: here, and silently in every thread that has set no backend itself."""
    switch = library.switch
    switch.set_backend("jax", globally=True)
    assert library.now() == in_thread(library.now) == "jax"
    assert in_thread(lambda: [*switch]) == ["jax"]
    switch.set_backend("torch", globally=True)
    assert library.now() == in_thread(library.now) == "torch"
    assert [*switch] == ["torch", "jax"]
    assert switch.previous_backend() == "jax"
    assert in_thread(library.now) == "torch"
    switch.unset_backend(globally=True)
    assert library.now() == in_thread(library.now) == "numpy"


@pytest.mark.parametrize("globally", [True, False])
def test_options_of_the_process_that_do_not_hold_here(library: Library, globally: bool) -> None:
    """S11, W5: a warning says so; other threads follow."""
    switch, options = library.switch, library.system.backend_opts
    switch.set_backend("jax", globally=globally)
    with pytest.warns(GlobalOptionsWarning) as caught:
        options(disable="torch").enable_globally()
    assert "do not hold here; call unset_backend()" in str(caught[-1].message)
    assert options().disabled == ()
    assert in_thread(lambda: options().disabled) == ("torch",)
    options.reset_globally()
    assert switch.get_backend() == "jax"
    switch.unset_backend()
    assert switch.get_backend() == "numpy"


def test_other_threads_do_not_replace_what_a_thread_has_set(library: Library) -> None:
    """W7, W8: whether it was set for this thread alone, or also for those that have set none."""
    switch = library.switch
    for globally in (True, False):
        switch.set_backend("jax", globally=globally)
        in_thread(lambda: switch.set_backend("torch", globally=True))
        assert (library.now(), in_thread(library.now)) == ("jax", "torch")
        in_thread(lambda: switch.unset_backend(globally=True))
        assert (library.now(), in_thread(library.now)) == ("jax", "numpy")
        switch.unset_backend()
        assert library.now() == "numpy"
    switch.set_backend("jax", globally=True)
    library.options.reset_globally()
    assert (library.now(), in_thread(library.now)) == ("jax", "numpy")


def test_threads_that_all_set_a_backend_globally(library: Library) -> None:
    """W7: each calls its own, although every one changes the default of the process."""
    names = ("jax", "torch", "cupy", "numpy")
    barrier = threading.Barrier(4)

    def work(first: int) -> list[tuple[str, str]]:
        found = []
        for number in range(first, first + 50):
            name = names[number % 4]
            library.switch.set_backend(name, globally=True)
            barrier.wait()  # the others have set theirs
            found.append((name, library.now()))
            barrier.wait()
        return found

    with ThreadPoolExecutor(4) as pool:
        found = [pair for each in pool.map(work, range(4)) for pair in each]
    assert len(found) == 200
    assert [pair for pair in found if pair[0] != pair[1]] == []


def test_tasks_keep_what_they_set_globally(library: Library) -> None:
    """W7, W8: their maker keeps its own, and others follow the default until they set one."""
    switch = library.switch

    async def work(name: str) -> str:
        switch.set_backend(name, globally=True)
        await asyncio.sleep(0)
        return library.now()

    async def main() -> list[str]:
        return [*await asyncio.gather(work("jax"), work("torch"))]

    assert asyncio.run(main()) == ["jax", "torch"]
    assert library.now() == "torch"  # nothing is set here
    switch.set_backend("cupy")
    assert asyncio.run(main()) == ["jax", "torch"]
    assert library.now() == "cupy"


def test_globally_in_a_block(library: Library) -> None:
    """W7: it is in force here until the block ends, and in the process beyond that."""
    switch = library.switch
    with switch.backend_context("torch"):
        switch.set_backend("jax", globally=True)
        assert library.now() == in_thread(library.now) == "jax"
        assert switch.previous_backend() == "torch"
    assert library.now() == in_thread(library.now) == "jax"
    switch.set_backend("cupy")
    switch.set_backend("torch", globally=True)
    assert library.now() == in_thread(library.now) == "torch"


def test_going_back_where_the_process_has_the_same(library: Library) -> None:
    """W6, W7: another thread may have set it globally meanwhile; calls in pairs stay balanced."""
    switch = library.switch
    switch.set_backend("jax")
    in_thread(lambda: switch.set_backend("jax", globally=True))
    assert switch.previous_backend() == "jax"
    assert not library.system._dispatcher.keeper.is_own()
    with pytest.raises(RuntimeError, match="no backend to go back to"):
        switch.previous_backend()


def test_unset_globally(library: Library) -> None:
    """W7: back to the environment; what others have enabled globally stays."""
    switch = library.switch
    with isolated(library.system, environment={"SWITCHLIB_BACKEND": "jax"}):
        library.options(disable="cupy").enable_globally()
        switch.set_backend("torch", globally=True)
        switch.set_backend("torch")
        switch.unset_backend(globally=True)
        assert library.now() == in_thread(library.now) == "jax"
        assert library.options().disabled == ("cupy",)


def test_cells_of_a_notebook(library: Library) -> None:
    """W8: where each cell runs in a context of its own, only `globally=True` reaches the next."""
    switch = library.switch

    def cell(code: Any) -> Any:
        return copy_context().run(code)

    cell(lambda: switch.set_backend("jax"))
    assert cell(library.now) == "numpy"
    cell(lambda: switch.set_backend("jax", globally=True))
    assert cell(library.now) == "jax"

    async def cells() -> list[str]:
        async def set_it() -> None:
            switch.set_backend("torch")

        async def set_it_globally() -> None:
            switch.set_backend("cupy", globally=True)

        async def look() -> str:
            return library.now()

        await asyncio.create_task(set_it())
        before = await asyncio.create_task(look())
        await asyncio.create_task(set_it_globally())
        return [before, await asyncio.create_task(look())]

    assert asyncio.run(cells()) == ["jax", "cupy"]


# --- threads, tasks, executors, generators ------------------------------------------------


def test_threads_have_their_own(library: Library) -> None:
    """W8: a new thread begins with the default of the process, and ends with what it set."""
    switch = library.switch
    switch.set_backend("jax")
    barrier = threading.Barrier(3)
    found: dict[str, list[str]] = {}

    def work(name: str) -> None:
        before = library.now()
        switch.set_backend(name)
        barrier.wait()
        found[name] = [before, library.now()]
        barrier.wait()
        found[name].append(library.now())

    threads = [threading.Thread(target=work, args=[each]) for each in ("jax", "torch", "cupy")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == {each: ["numpy", each, each] for each in ("jax", "torch", "cupy")}
    assert library.now() == "jax"


def test_executors(library: Library) -> None:
    """W8: a job that sets a backend leaves it set in its thread; a block does not."""
    switch = library.switch
    switch.set_backend("jax")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(library.now).result() == "numpy"
        pool.submit(switch.set_backend, "torch").result()
        assert pool.submit(library.now).result() == "torch"
        pool.submit(switch.unset_backend).result()
        pool.submit(switch.backend_context("torch")(library.now)).result()
        assert pool.submit(library.now).result() == "numpy"
        # With the context of the submitting code:
        assert pool.submit(copy_context().run, library.now).result() == "jax"
        frozen = library.options()(library.now)
        assert pool.submit(frozen).result() == "jax"
    assert library.now() == "jax"


def test_tasks(library: Library) -> None:
    """W8: a task begins with what is set where it is made; what it sets stays in it."""
    switch = library.switch

    async def work(name: str) -> list[str]:
        found = [library.now()]
        switch.set_backend(name)
        await asyncio.sleep(0)
        found.append(library.now())
        with switch.backend_context("cupy"):
            await asyncio.sleep(0)
            found.append(library.now())
        return [*found, library.now()]

    async def both() -> Any:
        switch.set_backend("jax")
        found = await asyncio.gather(work("jax"), work("torch"))
        assert library.now() == "jax"
        await work("torch")  # no task of its own
        assert library.now() == "torch"
        return found

    assert asyncio.run(both()) == [
        ["jax", "jax", "cupy", "jax"],
        ["jax", "torch", "cupy", "torch"],
    ]
    assert library.now() == "numpy"


def test_to_thread(library: Library) -> None:
    """W8: `asyncio.to_thread` hands over what is set, and `run_in_executor` does not."""
    switch = library.switch

    async def main() -> None:
        switch.set_backend("jax")
        assert await asyncio.to_thread(library.now) == "jax"
        await asyncio.to_thread(switch.set_backend, "torch")
        assert library.now() == "jax"
        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(None, library.now) == "numpy"

    asyncio.run(main())


def test_generators(library: Library) -> None:
    """W8: what a generator sets is set where it is consumed."""
    switch = library.switch

    def steps() -> Iterator[str]:
        switch.set_backend("jax")
        yield library.now()
        yield library.now()

    found = steps()
    assert next(found) == library.now() == "jax"
    switch.set_backend("torch")
    assert next(found) == "torch"


def test_asynchronous_generators(library: Library) -> None:
    """W8: the same."""
    switch = library.switch

    async def steps() -> AsyncIterator[str]:
        switch.set_backend("jax")
        yield library.now()
        await asyncio.sleep(0)
        yield library.now()

    async def main() -> None:
        assert [each async for each in steps()] == ["jax", "jax"]
        assert library.now() == "jax"

    asyncio.run(main())


def test_what_is_set_is_not_pickled_with_functions(library: Library) -> None:
    """W8: a process has its own; frozen functions carry the current backend."""
    library.switch.set_backend("torch")
    library.switch.set_backend("jax")
    state = library.system._dispatcher.keeper.current()
    from spatch_core._freezing import options_of, state_of

    options = pickle.loads(pickle.dumps(options_of(state)))
    assert options == {"prioritize": ("jax",), "backend": "jax"} or options == {"backend": "jax"}
    assert state_of(options).prioritized == state.prioritized


def test_other_processes() -> None:
    """W8: a forked one goes on with what was in force; a new one begins with its environment."""
    run_python(
        """
        import os, subprocess, sys, types
        from spatch_core import BackendSystem
        from spatch_core.switching import Switch

        backends = [{"name": name, "primary_types": [f"{name}:Array"]} for name in ("jax", "torch")]
        switch = Switch(BackendSystem(None, "ABC", backends=backends))
        if switch.get_backend() != "jax":
            switch.set_backend("torch")
            environment = {**os.environ, "ABC_BACKEND": "jax"}
            new = subprocess.run([sys.executable, __file__], env=environment)
            assert new.returncode == 7
            if hasattr(os, "fork"):
                child = os.fork()
                if not child:
                    os._exit(5 if switch.get_backend() == "torch" else 6)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
        else:
            sys.exit(7)
        """,
        path=FOLDERS,
    )


# --- the process-wide default that is traced -------------------------------------------


def test_a_trace_of_the_whole_process(library: Library) -> None:
    """W5, S11: it goes on where a backend is set, as in a block, until that is left."""
    keeper = library.system._dispatcher.keeper
    traced = library.options(trace=True)
    traced.enable_globally()
    library.switch.set_backend("jax")
    library.tensor([1])
    library.switch.set_backend("torch", globally=True)
    assert in_thread(library.now) == "torch"
    assert traced.trace is not None
    assert [event.backend for event in traced.trace] == ["jax", "torch"]
    library.options.reset_globally()
    assert in_thread(library.now) == "numpy"
    assert len(traced.trace) == 2
    library.tensor([1])
    assert len(traced.trace) == 3
    keeper.follow_default()
    library.tensor([1])
    assert len(traced.trace) == 3


def test_threads_that_switch_and_reload_at_once(library: Library) -> None:
    """W5, W7: each sees what it has set, whatever others do to the process."""
    switch, names = library.switch, ("jax", "torch", "cupy", "numpy")
    ended = threading.Event()
    wrong: list[str] = []

    def work(first: int) -> None:
        for number in range(first, first + 200):
            name, other = names[number % 4], names[number % 3]
            switch.set_backend(name)
            with switch.backend_context(other):
                found = [library.now()]
                if number % 2:
                    switch.unset_backend()
            found.append(library.now())
            switch.previous_backend()
            if found != [other, name]:
                wrong.append(f"{found} for {other} in {name}")

    def change() -> None:
        for number in range(10_000):
            switch.set_backend(names[number % 2], globally=True)
            if number % 10 == 0:
                library.system.reload()
            switch.unset_backend(globally=True)
            if ended.is_set():
                return

    with ThreadPoolExecutor(5) as pool:
        changing = pool.submit(change)
        for each in [pool.submit(work, first) for first in range(4)]:
            each.result()
        ended.set()
        changing.result()
    assert wrong == []
