"""`Switch`: the current backend, set without a block; rules W2 and W3."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import UnknownBackendError
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
    """W2: from the call on; the library itself under its own name."""
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


def test_an_unknown_name_changes_nothing(library: Library) -> None:
    """W2: and says which name is meant."""
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


def test_a_context_holds_in_its_own_thread_or_task(library: Library) -> None:
    """W2: it has no argument `globally`."""
    with library.switch.backend_context("jax"):
        assert (library.now(), in_thread(library.now)) == ("jax", "numpy")


def test_a_system_is_needed() -> None:
    """W2: the class of options is none."""
    wrong: Any = "mylib"
    with pytest.raises(TypeError, match="takes the BackendSystem of a library"):
        Switch(wrong)


def test_options_restore_what_was_set(library: Library) -> None:
    """W2: what is set in a block of options is set until the block ends."""
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
    """W2: iterating gives it, the current one first; blocks are part of it."""
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


def test_the_stack_is_bounded(library: Library) -> None:
    """W2, E4: programs that only set backends need no more memory for it."""
    switch = library.switch
    for _ in range(100):
        switch.set_backend("jax")
        switch.set_backend("torch")
    assert len([*switch]) == 32
    assert library.now() == "torch"


def test_unset(library: Library) -> None:
    """W2: back to what the environment says, here and until a block ends."""
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


def test_the_environment_gives_the_first(library: Library) -> None:
    """S8, W2: before the first call too; there is nothing to go back to from it."""
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
        with switch.backend_context("torch"):
            switch.unset_backend()
            assert library.now() == "jax"
            assert library.options().prioritized == ("cupy", "jax")


def test_it_can_be_pickled() -> None:
    """W2: as the library that it belongs to."""
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
        switch.set_backend("default")
        assert [*pickle.loads(pickle.dumps(switch))] == ["default"]
        """,
        path=FOLDERS,
    )


# --- the whole process -----------------------------------------------------------------


def in_thread(work: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_unset_globally(library: Library) -> None:
    """W2: back to the environment; what others have enabled globally stays."""
    switch = library.switch
    with isolated(library.system, environment={"SWITCHLIB_BACKEND": "jax"}):
        library.options(disable="cupy").enable_globally()
        switch.set_backend("torch", globally=True)
        switch.set_backend("torch")
        switch.unset_backend(globally=True)
        assert library.now() == in_thread(library.now) == "jax"
        assert library.options().disabled == ("cupy",)


def test_cells_of_a_notebook(library: Library) -> None:
    """W3: where each cell runs in a context of its own, only `globally=True` reaches the next."""
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


def test_executors(library: Library) -> None:
    """W3: a job that sets a backend leaves it set in its thread; a block does not."""
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


def test_other_processes() -> None:
    """W3: a forked one goes on with what was in force; a new one begins with its environment."""
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
    """W2, S7: it goes on where a backend is set, as in a block, until that is left."""
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


def test_threads_that_switch_and_reload_at_once(library: Library) -> None:
    """W2: each sees what it has set, whatever others do to the process."""
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
