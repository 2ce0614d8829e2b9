"""Errors for unknown names, raised by a library; `test_exceptions` has the text of each."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError, UnknownTypeError


def library() -> BackendSystem:
    return BackendSystem(
        None,
        "TEST_EXCEPTIONS",
        ["builtins:int"],
        backends=[
            {"name": "threads", "primary_types": ["builtins:str"]},
            {"name": "gpu", "primary_types": ["~builtins:bytes"]},
            {"name": "broken"},
        ],
    )


pytestmark = pytest.mark.filterwarnings("ignore::spatch_core.BackendSkippedWarning")


@pytest.mark.parametrize("option", ["prioritize", "disable"])
def test_an_unknown_backend_name_is_refused_with_the_nearest(option: str) -> None:
    """S4: prioritized and disabled names alike."""
    options: dict[str, Any] = {option: "thread"}
    with pytest.raises(ValueError, match=r"did you mean 'threads'\?") as caught:
        library().backend_opts(**options)
    assert isinstance(caught.value, UnknownBackendError)
    assert (caught.value.name, caught.value.nearest) == ("thread", ("threads",))
    assert caught.value.known == ("default", "threads", "gpu")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("xyz", "installed: default, threads, gpu"),
        ("broken", r"cannot be used: .*primary_types"),
    ],
)
def test_another_name_is_refused_with_what_helps(name: Any, message: str) -> None:
    """S4: with the names that there are, or why this one cannot be used."""
    with pytest.raises(UnknownBackendError, match=message):
        library().backend_opts(prioritize=name)


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    """S5: as an unknown name is."""
    with pytest.raises(ValueError, match="primary types are: builtins:int, ") as caught:
        library().backend_opts(type=float)
    assert isinstance(caught.value, UnknownTypeError)
    assert caught.value.type is float
