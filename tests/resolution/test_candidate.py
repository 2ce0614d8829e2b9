"""A candidate: a backend's implementation, imported on first use."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from spatch_core import ImplementationImportError
from spatch_core._description.description import Implementation
from spatch_core._dispatch_arguments import Function
from spatch_core._resolution.candidate import Candidate

HERE = __name__


def default(x: Any) -> str:
    return "default"


def implementation(x: Any) -> str:
    return "backend"


def decides(context: Any, x: Any) -> bool:
    return True


FUNCTION = Function("lib:f", default, "x")


def candidate(implementation: Implementation | None, **options: Any) -> Candidate:
    return Candidate("gpu", FUNCTION, implementation, False, "LIB_BLOCK", **options)


@pytest.mark.parametrize(
    ("fields", "is_plain"),
    [
        ({}, True),
        ({"should_run": f"{HERE}:decides"}, False),
        ({"uses_context": True}, False),
    ],
    ids=["plain", "asked", "takes a context"],
)
def test_plain_implementations_are_called_as_they_are(fields: Any, is_plain: bool) -> None:
    """Neither asked nor given a context."""
    assert candidate(Implementation(f"{HERE}:implementation", **fields)).is_plain is is_plain


def test_the_default_is_plain_and_loaded() -> None:
    """The library's own function is there without an import."""
    own = candidate(None)
    assert own.is_plain
    assert own.load() is own.loaded is default
    assert own.load_should_run() is None


def test_candidates_share_what_was_imported() -> None:
    """An implementation is imported once for a library, whatever the state."""
    objects: dict[str, Any] = {}
    first, second = (
        candidate(Implementation(f"{HERE}:implementation"), objects=objects) for _ in range(2)
    )
    assert first.loaded is second.loaded is None
    assert first.load() is second.loaded is implementation


@pytest.mark.parametrize(
    ("identifier", "message"),
    [
        ("no_such_module:f", "No module named 'no_such_module'"),
        (f"{HERE}:implementatio", "did you mean 'implementation' or"),
        (f"{HERE}:HERE", "is not callable"),
    ],
    ids=["module", "name", "not callable"],
)
def test_an_import_that_fails_names_the_backend_and_how_to_block_it(
    identifier: str, message: str
) -> None:
    broken = candidate(Implementation(identifier))
    with pytest.raises(ImplementationImportError, match="LIB_BLOCK=gpu") as caught:
        broken.load()
    assert message in str(caught.value)
    assert (caught.value.backend, caught.value.identifier) == ("gpu", identifier)
    assert broken.loaded is None


def test_the_candidate_of_invoke_is_prioritized_and_not_asked() -> None:
    """The original candidate stays as it is."""
    asked = candidate(Implementation(f"{HERE}:implementation", f"{HERE}:decides"))
    unasked = asked.invoked(is_asked=False)
    assert asked.load_should_run() is sys.modules[HERE].decides
    assert unasked.load_should_run() is None
    assert unasked.prioritized
    assert unasked.is_plain
    assert not asked.prioritized
