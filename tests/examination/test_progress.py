"""Announcing what takes long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spatch_core.examination.progress import announce, progress


def test_nothing_is_shown_unless_asked_for() -> None:
    """Only the command line shows progress."""
    shown: list[str] = []

    @contextmanager
    def show(text: str) -> Iterator[None]:
        shown.append(text)
        yield
        shown.append("done")

    with progress("unseen"):
        pass
    token = announce.set(show)
    try:
        with progress("counting"):
            assert shown == ["counting"]
    finally:
        announce.reset(token)
    assert shown == ["counting", "done"]
