"""The traits of a function, and fallback policies."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError

HERE = __name__


class Own:
    """The library's type."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value


class Foreign(Own):
    """The type of a backend that converts."""


def copy_into(original: Foreign, converted: Own) -> None:
    original.value = converted.value


backend = {
    "name": "gpu",
    "primary_types": [f"{HERE}:Foreign"],
    "to_default": lambda x: Own(x.value),
    "from_default": lambda x: Foreign(x.value),
    "copy_into": copy_into,
}
system = BackendSystem(None, "MANNERLIB", [f"{HERE}:Own"], [backend])
backend_opts = system.backend_opts


@system.dispatchable(like="like", identifier=f"{HERE}:create")
def create(value: Any, *, like: Any = None) -> Any:
    return Own(value)


@system.dispatchable(inside="xs", identifier=f"{HERE}:join")
def join(xs: Any) -> Any:
    return Own([each.value for each in xs])


@system.dispatchable("x", mutates="x", identifier=f"{HERE}:double")
def double(x: Any) -> Any:
    x.value *= 2
    return x


@system.dispatchable("x", compositional=True, identifier=f"{HERE}:compose")
def compose(x: Any) -> Any:
    return join([double(x)])


@system.dispatchable("x", fallback="convert", identifier=f"{HERE}:convert")
def convert(x: Any) -> Any:
    return Own(x.value)


CALLS: dict[str, Any] = {
    "like": (create, lambda: ((1,), {"like": Foreign()}), 1),
    "inside": (join, lambda: (([Foreign(1), Foreign(2)],), {}), [1, 2]),
    "mutates": (double, lambda: ((Foreign(2),), {}), 4),
    "compositional": (compose, lambda: ((Foreign(1),), {}), [2]),
    "fallback": (convert, lambda: ((Foreign(3),), {}), 3),
}


@pytest.mark.parametrize(("function", "arguments", "value"), CALLS.values(), ids=[*CALLS])
def test_threads_tasks_and_pickles_have_their_own_policies(
    function: Any, arguments: Any, value: Any
) -> None:
    """V1, V5, V8, V9, S2, S5: of functions with every kind of traits."""
    expected = {"convert": (Foreign, value), "raise": NoImplementationError}
    barrier = Barrier(2)

    def outcome(policy: str, called: Any = function) -> bool:
        args, kwargs = arguments()
        try:
            result = called(*args, **kwargs)
        except NoImplementationError:
            return expected[policy] is NoImplementationError
        return expected[policy] == (type(result), result.value)

    def in_thread(policy: str) -> bool:
        with backend_opts(fallback=policy):
            barrier.wait(10)
            return all(outcome(policy) for _ in range(20))

    async def task(policy: str) -> bool:
        with backend_opts(fallback=policy):
            await asyncio.sleep(0)
            return outcome(policy)

    async def tasks() -> list[bool]:
        return [*await asyncio.gather(*map(task, expected))]

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(in_thread, expected)] == [True, True]
    assert asyncio.run(tasks()) == [True, True]
    assert pickle.loads(pickle.dumps(function)) is function
    for policy in expected:
        frozen = pickle.loads(pickle.dumps(backend_opts(fallback=policy).freeze(function)))
        assert outcome(policy, frozen)


@pytest.mark.parametrize("given", [["ValueError"], [3], [int], [KeyboardInterrupt], [ValueError()]])
def test_only_classes_of_exceptions_defer(given: Any) -> None:
    """F11: not values, other classes or interrupts."""
    with pytest.raises(TypeError, match="defer_on= takes exception classes"):
        BackendSystem(None, "MANNERLIB", defer_on=given)
