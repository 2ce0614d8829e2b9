"""Hooks are checked when options are made, and belong to their process."""

from __future__ import annotations

import copy
import functools
import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._state.hooks import hook_name, joined

system = BackendSystem(None, "HOOKSTATE")


def plain(call: Any) -> Any:
    return call.next(*call.args)


async def coroutine(call: Any) -> Any: ...


def generator(call: Any) -> Any:
    yield


async def asynchronous_generator(call: Any) -> Any:
    yield


class WithCoroutine:
    async def __call__(self, call: Any) -> Any: ...


class Plain:
    def __call__(self, call: Any) -> Any:
        return call.next(*call.args)


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (3, "hook= takes a callable, which is called with each call, not 3"),
        ([plain], "hook= takes a callable, which is called with each call, not [<function plain"),
        (Plain, "; did you mean Plain(...)?"),
        (coroutine, "hook= takes a plain function, and {}:coroutine is a coroutine function."),
        (generator, "hook= takes a plain function, and {}:generator is a generator function."),
        (
            asynchronous_generator,
            "and {}:asynchronous_generator is an asynchronous generator function.",
        ),
        (WithCoroutine(), "and {}:WithCoroutine is a coroutine function."),
        (functools.partial(coroutine), "and {}:coroutine is a coroutine function."),
    ],
    ids=lambda each: None if isinstance(each, str) else hook_name(each).rpartition(":")[2],
)
def test_what_is_no_hook(hook: Any, message: str) -> None:
    """H1: the error shows the value and says what is needed."""
    with pytest.raises(TypeError) as caught:
        system.backend_opts(hook=hook)
    assert message.format(__name__) in str(caught.value)


def test_options_without_a_hook() -> None:
    """H1: None means no hook."""
    assert system.backend_opts(hook=None).hooks == ()
    assert system.backend_opts(hook=plain).hooks == (plain,)
    assert f"hooks=({plain!r},)" in repr(system.backend_opts(hook=plain))
    with system.backend_opts(hook=plain) as options:
        assert options.hooks == (plain,)


def test_names() -> None:
    """H7: of functions, of objects by their class, of partials."""
    assert hook_name(plain) == f"{__name__}:plain"
    assert hook_name(Plain()) == f"{__name__}:Plain"
    assert hook_name(Plain().__call__) == f"{__name__}:Plain.__call__"
    assert hook_name(functools.partial(functools.partial(plain))) == f"{__name__}:plain"
    nameless = type("Nameless", (), {"__module__": None, "__call__": plain})
    assert hook_name(nameless()) == "Nameless"


def test_joining_asks_no_hook() -> None:
    """H2: hooks are compared by identity."""

    class Hostile(Plain):
        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

    one, two = Hostile(), Hostile()
    assert [*map(id, joined((one,), (two, one)))] == [id(one), id(two)]
    with system.backend_opts(hook=one), system.backend_opts(hook=two):
        assert [*map(id, system.backend_opts(hook=one).hooks)] == [id(one), id(two)]


def test_options_with_a_hook_are_not_pickled() -> None:
    """H10: rather than without the hook."""
    options = system.backend_opts(hook=plain)
    for act in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match=rf"cannot be pickled or copied, .*{__name__}:plain"):
            act(options)


def test_frozen_functions_travel_without_hooks() -> None:
    """H10, S9: as they do without a trace."""
    frozen = system.backend_opts(hook=plain)(len)
    assert frozen._scope.state.hook == (plain,)  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(frozen))
    assert again([1]) == 1
    assert again._scope.state.hook is None
