"""`Switch`: the current backend, set without a block; rules W2 and W3."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import UnknownBackendError, switching
from spatch_core.testing import isolated, run_python

if TYPE_CHECKING:
    from tests.switching.conftest import Library


@pytest.fixture(autouse=True)
def _in_a_context_of_its_own(library: Library) -> Iterator[None]:
    """Nothing that a test sets is left in the context of the tests."""
    with isolated(library.system):
        yield


# --- what it does in one thread --------------------------------------------------------


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
    switch.set_backend("cupy")  # requires opt-in
    assert library.now() == "cupy"
    switch.previous_backend()
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


FOLDERS = [Path(spatch_core.__file__).parents[1]]


def test_public_names() -> None:
    for name in switching.__all__:
        assert getattr(switching, name).__doc__


def test_a_library_that_does_not_switch_imports_nothing_of_it() -> None:
    """F10: also not after the first call."""
    run_python(
        """
        import sys
        from spatch_core import BackendSystem

        system = BackendSystem(None, "LIB")

        @system.dispatchable("x")
        def f(x):
            return x

        assert f(1) == 1
        assert system.backend_opts().backends == ("default",)
        assert not [name for name in sys.modules if "switching" in name]
        """,
        path=FOLDERS,
    )
