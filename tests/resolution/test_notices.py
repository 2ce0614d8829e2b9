"""A library tells when a backend runs one of its functions for the first time."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

from spatch_core import BackendSystem
from tests.function.conftest import Foreign

HERE = __name__


class DispatchNotification(UserWarning):
    """A library's own category."""


def implementation(x: Any, *rest: Any) -> str:
    return "backend"


def with_context(context: Any, x: Any, *rest: Any) -> str:
    return "backend"


def never(context: Any, x: Any, *rest: Any) -> bool:
    return False


def declines(x: Any, *rest: Any) -> Any:
    return NotImplemented


def make(notify: Any, *entries: dict[str, Any], default: Any = None, **options: Any) -> Any:
    backends = [
        {
            "name": f"b{number}",
            "primary_types": [f"{Foreign.__module__}:Foreign"],
            "functions": {"lib:f": {"function": f"{HERE}:implementation", **entry}},
        }
        for number, entry in enumerate(entries)
    ]
    system = BackendSystem(None, "MYLIB", backends=backends, notify=notify, **options)
    return system, system.dispatchable("x", identifier="lib:f")(default or (lambda x: "default"))


@pytest.mark.parametrize("state", [{}, {"trace": True}], ids=["plain", "traced"])
@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([{}], ["b0"]),
        ([{"uses_context": True, "function": f"{HERE}:with_context"}], ["b0"]),
        ([{"should_run": f"{HERE}:never"}], []),
        ([{"should_run": f"{HERE}:never"}, {}], ["b1"]),
        ([{"function": f"{HERE}:declines"}, {}], ["b0", "b1"]),
    ],
    ids=["plain", "context", "asked", "second", "declines"],
)
def test_it_is_told_once(entries: Any, told: Any, state: Any) -> None:
    """F11: before a backend runs, whatever leads to it; not of the default."""
    seen: list[Any] = []
    system, f = make(lambda *names: seen.append(names), *entries)
    assert f(3) == "default"
    assert seen == []
    for _ in range(3):
        with system.backend_opts(**state):
            f(Foreign())
    assert seen == [("lib:f", name) for name in told]
    system.reload()
    f(Foreign())
    assert len(seen) == len(told)


def test_a_category_of_warnings() -> None:
    """F11: it is shown at the caller's line."""
    _, f = make(DispatchNotification, {})
    with pytest.warns(DispatchNotification, match="lib:f is run by the backend 'b0'") as caught:
        assert f(Foreign()) == "backend"
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(Foreign()) == "backend"


def test_where_warnings_are_errors() -> None:
    """E2: the first call raises, and later ones work."""
    _, f = make(DispatchNotification, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DispatchNotification):
            f(Foreign())
        assert f(Foreign()) == "backend"


def test_invoke_and_functions_that_suspend() -> None:
    """F11: all ways in which a backend runs."""
    seen: list[Any] = []

    async def default(x: Any) -> str:
        return "default"

    _, f = make(lambda *names: seen.append(names), {"function": f"{HERE}:answer"}, default=default)
    assert asyncio.run(f(Foreign())) == "backend"
    assert len(seen) == 1
    _, g = make(lambda *names: seen.append(names), {})
    assert g.explain(Foreign()).selected == "b0"
    assert len(seen) == 1
    assert g.invoke(backend="b0")(3) == "backend"
    assert len(seen) == 2


async def answer(x: Any) -> str:
    return "backend"


@pytest.mark.parametrize("notify", [3, "warn", int, ValueError], ids=repr)
def test_what_cannot_tell_anything(notify: Any) -> None:
    """F11: when the system is made."""
    with pytest.raises(TypeError, match="notify= takes a callable or a category"):
        BackendSystem(None, "MYLIB", notify=notify)
