"""A library tells when a backend runs one of its functions for the first time."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

from spatch_core import BackendSystem
from tests.library import Foreign, answering, declines, describe, make


class DispatchNotification(UserWarning):
    """A library's own category."""


never = answering(False)


@pytest.mark.parametrize("state", [{}, {"trace": True}], ids=["plain", "traced"])
@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([{}], ["b0"]),
        ([{"uses_context": True}], ["b0"]),
        ([{"should_run": never}], []),
        ([{"should_run": never}, {}], ["b1"]),
        ([{"function": declines}, {}], ["b0", "b1"]),
    ],
    ids=["plain", "context", "asked", "second", "declines"],
)
def test_it_is_told_once(entries: Any, told: Any, state: Any) -> None:
    """F11: before a backend runs, whatever leads to it; not of the default."""
    seen: list[Any] = []
    backends = [describe(f"b{number}", **entry) for number, entry in enumerate(entries)]
    system, f = make(*backends, notify=lambda *names: seen.append(names))
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
    _, f = make(describe("gpu"), notify=DispatchNotification)
    with pytest.warns(DispatchNotification, match="lib:f is run by the backend 'gpu'") as caught:
        assert f(Foreign()) == "gpu"
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(Foreign()) == "gpu"


def test_where_warnings_are_errors() -> None:
    """E2: the first call raises, and later ones work."""
    _, f = make(describe("gpu"), notify=DispatchNotification)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DispatchNotification):
            f(Foreign())
        assert f(Foreign()) == "gpu"


def test_invoke_and_functions_that_suspend() -> None:
    """F11: all ways in which a backend runs."""
    seen: list[Any] = []

    async def wait(x: Any) -> str:
        return "gpu"

    def notify(*names: str) -> None:
        seen.append(names)

    _, f = make(describe("gpu", wait), default=wait, notify=notify)
    assert asyncio.run(f(Foreign())) == "gpu"
    assert len(seen) == 1
    _, g = make(describe("gpu"), notify=notify)
    assert g.explain(Foreign()).selected == "gpu"
    assert len(seen) == 1
    assert g.invoke(backend="gpu")(3) == "gpu"
    assert len(seen) == 2


@pytest.mark.parametrize("notify", [3, "warn", int, ValueError], ids=repr)
def test_what_cannot_tell_anything(notify: Any) -> None:
    """F11: when the system is made."""
    with pytest.raises(TypeError, match="notify= takes a callable or a category"):
        BackendSystem(None, "MYLIB", notify=notify)
