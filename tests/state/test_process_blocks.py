"""W7: blocks that hold in the whole process, over a default that changes meanwhile."""

from __future__ import annotations

import random
import threading
from functools import partial
from typing import Any

import pytest

from spatch_core._state.process_default import change, enable
from spatch_core._state.state import DispatchState
from spatch_core._state.state_keeper import StateKeeper


@pytest.fixture
def keeper() -> StateKeeper:
    return StateKeeper("BLOCKS")


def current(keeper: StateKeeper) -> str | None:
    return keeper.default.state.backend


def test_the_last_one_counts_and_leaving_ends_one_alone(keeper: StateKeeper) -> None:
    """W7: in whatever order blocks are left."""
    blocks = keeper.process_blocks()
    assert keeper.process_blocks() is blocks
    before = keeper.default
    first, second, third = [blocks.enter(name) for name in "abc"]
    assert current(keeper) == "c"
    blocks.leave(second)
    assert current(keeper) == "c"
    blocks.leave(third)
    assert current(keeper) == "a"
    blocks.leave(first)
    assert keeper.default is before


def test_the_default_changes_below(keeper: StateKeeper) -> None:
    """W7, S11: changes of the default during a block hold in the block, and remain after it."""
    blocks = keeper.process_blocks()
    held = blocks.enter("a")
    enable(keeper, DispatchState(("p",)))
    assert keeper.default.state.prioritized == ("a", "p")
    change(keeper, lambda state: state.replace(backend="b"))
    assert current(keeper) == "a"
    assert keeper.base.state.backend == "b"
    assert keeper.enabled_globally
    blocks.leave(held)
    assert (current(keeper), keeper.default.state.prioritized) == ("b", ("p", "b"))


def test_scopes_are_made_once(keeper: StateKeeper) -> None:
    """W7: a block that is entered often; and none is made where nothing changes."""
    blocks = keeper.process_blocks()
    held = blocks.enter("a")
    scope = keeper.default
    blocks.leave(held)
    held = blocks.enter("a")
    assert keeper.default is scope
    assert scope.tables is keeper.get()
    again = blocks.enter("a")
    assert keeper.default is scope
    for each in (held, again):
        blocks.leave(each)
    change(keeper, lambda state: state.replace(backend="a"))
    base = keeper.default
    blocks.leave(blocks.enter("a"))
    assert keeper.default is base


@pytest.mark.parametrize("number", [2, 8])
def test_threads_agree_in_the_end(keeper: StateKeeper, number: int) -> None:
    """W7: whatever order the threads enter and leave in, and whatever changes below."""
    blocks = keeper.process_blocks()

    def work(seed: int) -> None:
        choose = random.Random(seed)
        held: list[Any] = []
        for _ in range(300):
            if held and choose.random() < 0.5:
                blocks.leave(held.pop(choose.randrange(len(held))))
            else:
                held.append(blocks.enter(choose.choice("abc")))
            if choose.random() < 0.1:
                change(keeper, partial(DispatchState.replace, backend=choose.choice("xyz")))
        for each in held:
            blocks.leave(each)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keeper.default is keeper.base
    assert current(keeper) in ("x", "y", "z")
