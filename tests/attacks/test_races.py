"""E7, S11: first calls, options and garbage collections in threads that switch all the time."""

from __future__ import annotations

import gc
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import BackendSystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Tally


class Foreign:
    """The backends' type."""


def implementation(x: object) -> str:
    """Answer for all backends."""
    return "backend"


pytestmark = pytest.mark.usefixtures("switching")


def make(count: int = 8) -> tuple[BackendSystem, Any]:
    backends = [
        {
            "name": f"b{number}",
            "primary_types": [f"{__name__}:Foreign"],
            "functions": {"lib:f": {"function": f"{__name__}:implementation"}},
        }
        for number in range(count)
    ]
    system = BackendSystem(None, "RACES", ["builtins:float"], backends=backends)

    @system.dispatchable("x", module="lib", qualname="f")
    def f(x: object) -> str:
        return "default"

    return system, f


def at_once(*calls: Callable[[], object]) -> list[BaseException]:
    """Call all at once, each in a thread; returns what they raised."""
    start = threading.Barrier(len(calls), timeout=60)
    raised: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        start.wait()
        try:
            call()
        except BaseException as error:  # noqa: BLE001  # whatever it is
            raised.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return raised


def test_first_calls_at_once_discover_once(
    tally: Tally, scale: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E7: each gets the backends."""
    for _ in range(100 * scale):
        system, f = make()
        found: list[str] = []
        loader = system._loader
        discoveries: list[int] = []
        discover = loader._discover

        def counted(discover: Any = discover, discoveries: list[int] = discoveries) -> Any:
            discoveries.append(1)
            return discover()

        loader._discover = counted

        def call(f: Any = f, found: list[str] = found) -> None:
            found.append(f(Foreign()))

        raised = at_once(*[call] * 4)
        tally.add(
            found == ["backend"] * 4 and discoveries == [1] and not raised,
            (found, discoveries, raised),
        )


def test_options_that_threads_enable_globally_add_up(tally: Tally, scale: int) -> None:
    """S11: whatever the order, none is lost, and the default is always one whole state."""
    for _ in range(100 * scale):
        system, f = make()
        names = [f"b{number}" for number in range(8)]
        options = [system.backend_opts(prioritize=name) for name in names]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raised = at_once(*[each.enable_globally for each in options], system.reload)
        found = system._dispatcher.keeper.default.state.prioritized
        held = sorted(found) == names and f(Foreign()) == "backend" and not raised
        tally.add(held, (found, raised))


def test_collections_while_tables_change(
    tally: Tally, scale: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The callback of the garbage collector raises nothing, and forgets what it should."""
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    system, f = make()
    functions = [
        system.dispatchable(("x", "y"), module="lib", qualname=f"g{number}")(
            lambda x, y=None: "default"
        )
        for number in range(50)
    ]

    def call() -> None:
        for number in range(60 * scale):
            local = type("Local", (Foreign,), {})
            for function in functions[:: number % 7 + 1]:
                function(local(), 1.0)
            f(local())

    def change() -> None:
        for _ in range(60 * scale):
            system._dispatcher.keeper.forget_tables()
            with system.backend_opts(type=Foreign):
                f(None)

    def collect() -> None:
        for _ in range(30 * scale):
            system._dispatcher.keeper.forget_unreachable()
            gc.collect()

    raised = at_once(call, call, change, collect)
    tally.add_many(30 * scale, 30 * scale * (not raised and not unraisable), (raised, unraisable))
