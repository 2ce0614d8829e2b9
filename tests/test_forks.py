"""E5, S7: a process forks while its threads call, reload, and change the process-wide default."""

from __future__ import annotations

import faulthandler
import json
import os
import random
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.switching import Switch
from spatch_core.testing import run_python
from tests.library import Foreign, Own, describe, make

HANG = 20
"""Seconds after which a child counts as hanging."""


def library() -> tuple[BackendSystem, Any, Switch]:
    """Make a library with a backend, a function and a switch."""
    system, f = make(describe("guest"))
    return system, f, Switch(system)


def use(system: BackendSystem, f: Any, switch: Switch) -> None:
    """Call, reload and set options, also from threads."""
    system.backend_opts.reset_globally()
    system.reload()
    switch.set_backend("guest", globally=True)
    assert f(1.0) == "guest"
    switch.unset_backend(globally=True)
    with switch.backend_context("guest"):
        assert f(1.0) == "guest"
    with system.backend_opts(trace=True) as trace:
        assert f(Foreign()) == "guest"
    assert trace
    system.refresh()
    found: list[tuple[str, str]] = []
    threads = [
        threading.Thread(target=lambda: found.append((f(Own()), f(Foreign())))) for _ in range(3)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [("default", "guest")] * 3


def change(system: BackendSystem, f: Any, switch: Switch, stop: list[int]) -> None:
    """Change what the process holds until `stop` has an item."""
    while not stop:
        system.reload()
        system.backend_opts(disable="guest").enable_globally()
        f(type("Local", (Own,), {})())
        system.backend_opts.reset_globally()
        switch.set_backend("guest", globally=True)
        f(Own())
        switch.unset_backend(globally=True)
        system.refresh()


def fork(count: int) -> None:
    """Fork at random moments, and print how often the child could use the library."""
    warnings.simplefilter("ignore")
    use(*library())  # what is imported is imported
    sys.setswitchinterval(1e-5)
    chance = random.Random(count)
    tried = held = 0
    while tried < count:
        system, f, switch = library()
        stop: list[int] = []
        threads = [
            threading.Thread(target=change, args=(system, f, switch, stop)) for _ in range(3)
        ]
        for each in threads:
            each.start()
        children = []
        for _ in range(8):
            time.sleep(chance.uniform(0, 0.004))
            child = os.fork()
            if not child:
                faulthandler.dump_traceback_later(HANG, exit=True)
                try:
                    use(system, f, switch)
                except BaseException:  # noqa: BLE001  # the status says so
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            children.append(child)
        stop.append(1)
        for each in threads:
            each.join()
        for child in children:
            tried += 1
            held += not os.waitpid(child, 0)[1]
    sys.stdout.write(json.dumps([tried, held]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("pure", ["", "1"], ids=["C", "Python"])
def test_forks_while_threads_change_everything(pure: str) -> None:
    """The child has the default as it was at some moment, waits for nothing, and can change it."""
    done = run_python(
        "import test_forks\ntest_forks.fork(40)",
        path=[Path(__file__).parent, Path(__file__).parents[1]],
        environment={"SPATCH_CORE_PURE": pure or None},
        timeout=70,
    )
    tried, held = json.loads(done.stdout)
    assert tried == held >= 40, done.stderr[-3000:]
