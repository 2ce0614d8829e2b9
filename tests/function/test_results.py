"""Results of calls that are no answers yet; the chains themselves are tried in `test_chain`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from spatch_core import BackendSystem


class Foreign:
    """A backend's type."""


def backend(name: str, implementation: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": implementation}},
    }


def make(default: Any, *implementations: Any, **options: Any) -> Any:
    backends = [backend(f"b{number}", each) for number, each in enumerate(implementations)]
    system = BackendSystem(None, "RESULTS", backends=backends, **options)
    return system.dispatchable("x", identifier="lib:f")(default)


def test_the_rest_of_the_chain_runs_after_not_implemented() -> None:
    """C5: in the first call, for which the table has no entry, and in later ones."""
    f = make(lambda x: "default", lambda x: NotImplemented, lambda x: "second")
    assert [f(Foreign()), f(Foreign()), f(x=Foreign())] == ["second"] * 3


def test_an_exception_that_the_library_names_defers() -> None:
    """C5: any other is the caller's."""

    def implementation(x: Any) -> Any:
        raise KeyError("not mine")

    assert make(lambda x: "default", implementation, defer_on=[KeyError])(Foreign()) == "default"
    with pytest.raises(KeyError):
        make(lambda x: "default", implementation)(Foreign())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_an_exception_of_the_default_says_why_no_backend_ran() -> None:
    """F1: and nothing else about it changes."""

    def default(x: Any) -> Any:
        raise TypeError("not for me")

    f = make(default, lambda x: NotImplemented)
    with pytest.raises(TypeError, match="not for me") as caught:
        f(Foreign())
    assert "b0" in "".join(getattr(caught.value, "__notes__", ()))


def test_a_coroutine_function_must_be_implemented_by_one() -> None:
    """C8: the error names the backend."""

    async def default(x: Any) -> Any:
        return "default"

    f = make(default, lambda x: "no coroutine")
    with pytest.raises(TypeError, match="b0"):
        asyncio.run(f(Foreign()))


def test_not_implemented_of_the_default_is_the_answer() -> None:
    """As Python's operators return it."""
    assert make(lambda x: NotImplemented)(Foreign()) is NotImplemented
