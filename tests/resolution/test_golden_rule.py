"""Examples of the golden rule: C2 and M3 of docs/reference/rules.md.

Installing a backend and changing nothing else never changes the result of a call that
worked before. `tests/property/test_golden_rule.py` states it for random libraries and newcomers,
`tests/property/test_resolution.py` says which calls backends take at all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import isolated, write_distribution


class Own:
    """The library's type."""


class Also:
    """Another one of the library's types."""


class OwnSubclass(Own):
    """A subclass, which the library's pattern `~` names."""


class Foreign:
    """A type that the library does not know."""


TYPES = {
    "own": f"{__name__}:Own",
    "own~": f"~{__name__}:Own",
    "also": f"{__name__}:Also",
    "foreign": f"{__name__}:Foreign",
    "sub": f"{__name__}:OwnSubclass",
    "float~": "~builtins:float",
}

Install = Callable[..., None]


@pytest.fixture
def library(tmp_path: Path) -> Any:
    """A library that finds what `install` installs."""
    system = BackendSystem("goldenlib.backends", "GOLDENLIB", [TYPES["own~"], TYPES["also"]])

    @system.dispatchable(("x", "y"), module="goldenlib", qualname="f")
    def f(x: Any, y: Any = None) -> str:
        return "default"

    with isolated(system, path=[tmp_path]):
        yield system


@pytest.fixture
def f(library: BackendSystem) -> Any:
    return library.functions["goldenlib:f"]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Install a backend that answers whatever it is given."""

    def install(
        name: str, primary: Any, secondary: Any = (), implements: str = "f", **fields: Any
    ) -> None:
        lines = {
            "name": name,
            "primary_types": [TYPES[key] for key in primary],
            "secondary_types": [TYPES[key] for key in secondary],
            **fields,
        }
        toml = "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())
        write_distribution(
            tmp_path,
            f"golden-{name}",
            entry_points={"goldenlib.backends": {name: f"golden_{name}:backend.toml"}},
            files={
                f"golden_{name}/__init__.py": f"def f(x, y=None): return {name!r}\n",
                f"golden_{name}/backend.toml": (
                    f'{toml}[functions."goldenlib:{implements}"]\nfunction = "golden_{name}:f"\n'
                ),
            },
        )

    return install


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def test_prioritizing_is_asking_for_it(library: Any, f: Any, install: Install) -> None:
    """C2: "changing nothing else": a user who prioritizes a backend gets it."""
    install("greedy", ["own", "also", "sub"])
    assert f(Own()) == "default"
    with library.backend_opts(prioritize="greedy"):
        assert f(Own()) == f(OwnSubclass(), Also()) == "greedy"
    assert f(Own()) == "default"


@pytest.mark.parametrize(
    ("variable", "value", "runs"),
    [
        ("PRIORITIZE", "greedy", "greedy"),
        ("SET_ORDER", "greedy>other,other>default", "greedy"),
        ("SET_ORDER", "default>greedy", "default"),
        ("SET_ORDER", "greedy>other", "default"),
    ],
)
def test_so_is_the_environment(
    f: Any, install: Install, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, runs: str
) -> None:
    """C2, S8: the variables are the user's choice."""
    install("greedy", ["own"])
    install("other", ["foreign"])
    monkeypatch.setenv(f"GOLDENLIB_{variable}", value)
    assert f(Own()) == runs
    assert f.explain(Own()).selected == runs


def test_the_type_that_the_user_names_always_counts(library: Any, f: Any, install: Install) -> None:
    """M1: also one of Python's own classes, and for every backend: it is the user's choice."""
    install("numbers", ["float~"], ["own"])
    install("foreigners", ["foreign"])
    assert (f(Own(), 1.5), f(Foreign())) == ("default", "foreigners")
    with library.backend_opts(type=float):
        assert f(Foreign()) == "default"
        assert f(Own()) == f(1.5) == f(None) == "numbers"
        assert f.explain(Own()).selected == "numbers"
    assert f.invoke(type=float)(Own()) == "numbers"
    assert library.explain_types("goldenlib:f", [Own]).selected == "default"


def test_a_number_that_rides_along_is_said_not_to_count(
    library: Any, f: Any, install: Install
) -> None:
    """M4: also to the backend for which it is a primary type, which knows the other type, too."""
    install("numbers", ["float~"], ["own"])
    reason = "the default matches without builtins:float, which therefore does not count"
    assert f(Own(), 1.5) == "default"
    assert f.explain(Own(), 1.5).backends[-1].reason == reason
    assert f(1.5) == "numbers"
