"""Weak references to the scopes of a library."""

from __future__ import annotations

from spatch_core._state.lifetime import References


def test_references_keep_nothing_alive() -> None:
    """They may change while they are read."""
    references = References()
    objects = [type("Thing", (), {})() for _ in range(3)]
    for each in objects:
        references.add(each)
    del each
    assert references.alive() == objects
    del objects[1]
    assert references.alive() == objects
