"""What a hook watches lasts from the begin of a call to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spatch_core import BackendSystem
from spatch_core._observation.watched_calls import watched

system = BackendSystem(None, "WATCHED")
steps: list[str] = []


@contextmanager
def watch(call: Any, nature: int) -> Iterator[None]:
    steps.append("begin")
    yield
    steps.append("end")


@system.dispatchable("x", identifier="lib:plain")
def plain(x: Any) -> Any:
    steps.append("runs")
    return x


@system.dispatchable("x", identifier="lib:wait")
async def wait(x: Any) -> Any:
    await asyncio.sleep(0)
    return plain.__wrapped__(x)


@system.dispatchable("x", identifier="lib:count")
def count(x: Any) -> Any:
    yield x
    steps.append("runs")


def test_the_end_comes_when_the_result_is_there() -> None:
    """H8: for a function that suspends, after its last step."""
    with system.backend_opts(hook=lambda call: watched(call, watch)):
        assert plain(1) == 1
        assert steps == ["begin", "runs", "end"]
        steps.clear()
        coroutine = wait(1)
        assert not steps
        assert asyncio.run(coroutine) == 1
        assert steps == ["begin", "runs", "end"]
        steps.clear()
        generator = count(1)
        next(generator)
        assert steps == ["begin"]
        assert list(generator) == []
        assert steps == ["begin", "runs", "end"]
