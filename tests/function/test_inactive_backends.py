"""Backends that are inactive until options activate them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import isolated


class Foreign:
    """The backends' type."""


def implementation(x: Any) -> str:
    return "backend"


def f(x: Any) -> str:
    return "default"


def describe(name: str, *functions: str, **fields: Any) -> dict[str, Any]:
    entry = {"function": f"{__name__}:implementation"}
    return {
        "name": name,
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {f"lib:{each}": entry for each in functions},
        **fields,
    }


def make(*backends: Any) -> Any:
    """Return a library, and its functions ``lib:f`` and ``lib:g`` after a call."""
    system = BackendSystem(None, "MYLIB", backends=backends)
    functions: list[Any] = [
        system.dispatchable("x", module="lib", qualname=name)(f) for name in ("f", "g")
    ]
    for each in functions:
        each(3)
    return system, *functions


def default(function: Any) -> None:
    """Check that the default runs."""
    assert function(Foreign()) == "default"


QUIET = describe("quiet", "f", requires_opt_in=True)


def test_it_dispatches_once_options_activate_the_backend() -> None:
    """F14: in the block, and around it with the other options."""
    system, function, other = make(QUIET, describe("more", "g", requires_opt_in=True))
    with system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"
        with system.backend_opts(disable="quiet"):
            default(function)
        default(other)
        with system.backend_opts(prioritize="more"):
            assert function(Foreign()) == other(Foreign()) == "backend"
    default(function)
    with isolated(system), system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"
    default(function)


def test_options_outside_of_blocks_activate_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """F14: frozen ones, in whatever thread; those of the environment, and of the process."""
    system, function, _ = make(QUIET)
    frozen = system.backend_opts.freeze(function, prioritize="quiet")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(frozen, Foreign()).result() == "backend"
    default(function)
    monkeypatch.setenv("MYLIB_PRIORITIZE", "quiet")
    system.reload()
    assert function(Foreign()) == "backend"
    monkeypatch.delenv("MYLIB_PRIORITIZE")
    system.reload()
    default(function)
    system.backend_opts(prioritize="quiet").enable_globally()
    assert function(Foreign()) == "backend"
