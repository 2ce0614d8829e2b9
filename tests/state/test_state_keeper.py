"""S2, S3: where dispatch state is stored, where it holds, and what it keeps alive."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from spatch_core import GlobalOptionsWarning
from tests.state.small_library import Foreign, Library


@pytest.fixture
def library() -> Library:
    return Library()


def in_thread(function: Any) -> Any:
    """Return the result of `function` in a new thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


# ---------------------------------------------------------------------------------------
# The process-wide default


def test_enable_globally_reaches_every_thread_without_a_state_of_its_own(
    library: Library,
) -> None:
    """S7: running threads follow, except those inside a block."""
    entered, enabled = threading.Event(), threading.Event()

    def without_state() -> list[str]:
        found = [library.ran()]
        entered.set()
        assert enabled.wait(60)
        return [*found, library.ran()]

    def inside_a_block() -> list[str]:
        with library.options(prioritize="second"):
            found = [library.ran()]
            assert enabled.wait(60)
            found.append(library.ran())
        return [*found, library.ran()]

    with ThreadPoolExecutor(2) as pool:
        plain, inside = pool.submit(without_state), pool.submit(inside_a_block)
        assert entered.wait(60)
        library.options(prioritize="third").enable_globally()
        enabled.set()
        assert plain.result() == ["first", "third"]
        assert inside.result() == ["second", "second", "third"]
    assert library.ran() == "third"
    assert in_thread(library.ran) == "third"


def test_enable_globally_warns_when_it_overrides(library: Library) -> None:
    """S7: a second change warns, at the caller's line, and adds to the first."""
    library.options(prioritize="third").enable_globally()
    with pytest.warns(GlobalOptionsWarning, match="were changed before") as caught:
        library.options(prioritize="second", disable="first").enable_globally()
    assert caught[0].filename == __file__
    query = library.options()
    assert query.prioritized == ("second", "third")
    assert query.disabled == ("first",)
    assert library.ran() == "second"


def test_enabling_the_same_again_overrides_nothing(library: Library) -> None:
    """S7: a module that is run twice, as in a notebook, need not warn."""
    for _ in range(3):
        library.options(prioritize="third", disable="first").enable_globally()
    library.options(prioritize="third").enable_globally()
    assert library.ran() == "third"


def test_a_program_can_go_back_to_what_the_environment_says(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S7: `reset_globally` takes back every `enable_globally`, and the next one is the first."""
    monkeypatch.setenv("MYLIB_PRIORITIZE", "second")
    options = library.options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options("third").enable_globally()
        assert options().prioritized == ("third", "second")
        options.reset_globally()
        assert (options().prioritized, library.ran()) == (("second",), "second")
        options(disable="second").enable_globally()
        assert library.ran() == "first"
        options().reset_globally()
        assert library.ran() == "second"


# ---------------------------------------------------------------------------------------
# What is kept, and for how long


def test_classes_are_not_kept_alive(library: Library) -> None:
    """E4: a class that was dispatched on, or given as `type=`, can be collected."""
    kept = []
    for _ in range(20):
        cls = type("Local", (Foreign,), {})
        library.f(cls())
        library.f.explain(cls())
        kept.append(weakref.ref(cls))
        del cls
    gc.collect()
    gc.collect()  # what the first one broke up
    assert [reference for reference in kept if reference() is not None] == []
