"""P1, P6, P8: the order of a call, among its candidates alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem
from spatch_core.testing import isolated, write_distribution
from spatch_core.types import Verdict

HERE = __name__


class Own:
    """The library's type."""


class Foreign:
    """A type of the library's own backends."""


class ForeignSub(Foreign):
    """A subclass of it."""


def answers(name: str) -> Any:
    return lambda x: name


class Implementations:
    """``implementations.fast`` answers with the name of its backend."""

    def __getattr__(self, name: str) -> Any:
        return answers(name)


implementations = Implementations()


def described(name: str, *types: str, implements: bool = True, **fields: Any) -> dict[str, Any]:
    functions = {"lib:f": {"function": f"{HERE}:implementations.{name}"}} if implements else {}
    patterns = [each if ":" in each else _pattern(each) for each in types]
    return {"name": name, "primary_types": patterns, "functions": functions, **fields}


def _pattern(text: str) -> str:
    name = text.lstrip("~@")
    return f"{text.removesuffix(name)}{HERE}:{name}"


class Library:
    """A library with backends of its own, and a folder for those that are installed."""

    def __init__(self, folder: Path, *own: dict[str, Any]) -> None:
        self.folder = folder
        self.system = BackendSystem("lib.backends", "ORDERLIB", [_pattern("Own")], backends=own)
        self.f: Any = self.system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")

    def install(self, name: str, *types: str, **fields: Any) -> None:
        write_distribution(
            self.folder,
            f"order-{name}",
            entry_points={"lib.backends": {name: f"order_{name}:backend"}},
            files={f"order_{name}.py": f"backend = {described(name, *types, **fields)!r}\n"},
        )

    def asked(self, value: Any) -> list[str]:
        """The candidates of a call, in order; a call meets the first one."""
        verdicts = (Verdict.RUNS, Verdict.LATER)
        self.system.reload()
        explained = self.f.explain(value).backends
        names = [each.backend for each in explained if each.verdict in verdicts]
        assert self.f(value) == self.f(value) == names[0]
        return names


Make = Callable[..., Library]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Make a library that finds what is installed in a folder of the test."""
    with ExitStack() as stack:

        def make(*own: dict[str, Any]) -> Library:
            library = Library(tmp_path, *own)
            stack.enter_context(isolated(library.system, path=[tmp_path]))
            return library

        yield make


def test_installed_candidates_on_a_circle_are_skipped_and_say_why(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P6, F7: only in the calls that match them both."""
    library = make(described("own", "Foreign"))
    library.install("a", "Foreign", "ForeignSub", higher_priority_than=["b"])
    library.install("b", "Foreign", higher_priority_than=["a"])
    with pytest.warns(BackendSkippedWarning, match="form a cycle"):
        assert library.asked(Foreign()) == ["own", "default"]
    assert library.f(ForeignSub()) == "a"
    explained = {each.backend: each for each in library.f.explain(Foreign()).backends}
    assert {explained[name].verdict for name in "ab"} == {Verdict.SKIPPED}
    assert "form a cycle: a before b before a. Set ORDERLIB_SET_ORDER='a>b'" in (
        explained["a"].reason
    )
    with library.system.backend_opts(prioritize="b"):
        assert library.f(Foreign()) == "b"
        assert library.f.explain(Foreign()).selected == "b"
    monkeypatch.setenv("ORDERLIB_SET_ORDER", "a>b")
    assert library.asked(Foreign()) == ["own", "a", "b", "default"]


def test_the_librarys_own_on_a_circle_are_skipped(make: Make) -> None:
    """P6: a mistake of the library is reported like others."""
    library = make(
        described("one", "Foreign", higher_priority_than=["two"]),
        described("two", "Foreign", higher_priority_than=["one"]),
        described("three", "Foreign"),
    )
    with pytest.warns(BackendSkippedWarning, match="one before two before one"):
        assert library.asked(Foreign()) == ["three", "default"]
