"""E7, S11: first calls and options in threads that switch all the time."""

from __future__ import annotations

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


def make(*more: Any, count: int = 8) -> tuple[BackendSystem, Any]:
    backends = [
        *more,
        *(
            {
                "name": f"b{number}",
                "primary_types": [f"{__name__}:Foreign"],
                "functions": {"lib:f": {"function": f"{__name__}:implementation"}},
            }
            for number in range(count)
        ),
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


def test_first_calls_at_once_discover_once(tally: Tally, scale: int) -> None:
    """E7: each gets the backends; their descriptions are read as often as by one call."""
    reads: list[str] = []

    class Counted:
        """A description that tells when it is read."""

        name = "counted"

        @property
        def primary_types(self) -> list[str]:
            reads.append(self.name)
            return ["nowhere:Nothing"]

    _, f = make(Counted())
    f(Foreign())
    once = len(reads)
    for _ in range(100 * scale):
        _, f = make(Counted())
        reads.clear()
        found: list[str] = []

        def call(f: Any = f, found: list[str] = found) -> None:
            found.append(f(Foreign()))

        raised = at_once(*[call] * 4)
        held = found == ["backend"] * 4 and len(reads) == once and not raised
        tally.add(held, (found, reads, raised))


def test_options_that_threads_enable_globally_add_up(tally: Tally, scale: int) -> None:
    """S11: whatever the order, none is lost, and the default is always one whole state."""
    for _ in range(100 * scale):
        system, f = make()
        names = [f"b{number}" for number in range(8)]
        options = [system.backend_opts(prioritize=name) for name in names]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raised = at_once(*[each.enable_globally for each in options], system.reload)
        found = system.backend_opts().prioritized
        held = sorted(found) == names and f(Foreign()) == "backend" and not raised
        tally.add(held, (found, raised))
