"""Adding options to the process-wide default."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import pytest

from spatch_core import BackendSystem


class Foreign:
    """A type that the backends know."""


def answer_first(x: Any) -> str:
    return "first"


def answer_second(x: Any) -> str:
    return "second"


def library() -> tuple[BackendSystem, Any]:
    """A library with two backends for its own type, which answer when they are prioritized."""
    backends = [
        {
            "name": name,
            "primary_types": [f"{__name__}:Foreign"],
            "requires_opt_in": True,
            "functions": {"lib:f": {"function": f"{__name__}:answer_{name}"}},
        }
        for name in ("first", "second")
    ]
    system = BackendSystem(None, "GLOBALLIB", backends=backends)
    return system, system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")


def test_a_program_can_go_back_to_what_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S10: `reset_globally` takes back every `enable_globally`, and the next one is the first."""
    monkeypatch.setenv("GLOBALLIB_PRIORITIZE", "second")
    system, f = library()
    options = system.backend_opts
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options("first").enable_globally()
        assert options().prioritized == ("first", "second")
        assert f(Foreign()) == "first"
        options.reset_globally()
        assert options().prioritized == ("second",)
        assert f(Foreign()) == "second"
        options(disable="second").enable_globally()
        assert f(Foreign()) == "default"
        options().reset_globally()
        assert f(Foreign()) == "second"


def test_blocks_stay_in_force_when_the_process_is_reset() -> None:
    """S10: as they do when options are enabled; threads outside of blocks follow at once."""
    system, f = library()
    found = []
    with system.backend_opts("first"):
        thread = threading.Thread(target=lambda: found.append(f(Foreign())))
        system.backend_opts("second").enable_globally()
        system.backend_opts.reset_globally()
        assert f(Foreign()) == "first"
        thread.start()
        thread.join()
    assert found == ["default"]
    assert f(Foreign()) == "default"
