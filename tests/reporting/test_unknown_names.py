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
        ],
    )


@pytest.mark.parametrize("option", ["prioritize", "disable"])
def test_an_unknown_backend_name_is_refused_with_the_nearest(option: str) -> None:
    """S5: prioritized and disabled names alike."""
    options: dict[str, Any] = {option: "thread"}
    with pytest.raises(ValueError, match=r"did you mean 'threads'\?") as caught:
        library().backend_opts(**options)
    assert isinstance(caught.value, UnknownBackendError)
    assert caught.value.known == ("default", "threads", "gpu")


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    """S6: as an unknown name is."""
    with pytest.raises(ValueError, match="primary types are: builtins:int, ") as caught:
        library().backend_opts(type=float)
    assert isinstance(caught.value, UnknownTypeError)
    assert caught.value.type is float
