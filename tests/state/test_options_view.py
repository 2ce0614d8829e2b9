"""What options say of themselves, in force and before: rule S7."""

from __future__ import annotations

import pytest

from tests.state.small_library import Foreign, Library


@pytest.fixture
def library() -> Library:
    return Library()


def test_query_says_what_is_in_force(library: Library) -> None:
    """S7: `backends` (active names by priority), `prioritized`, `type`, `trace`."""
    query = library.options()
    assert query.backends == ("default", "first", "second")
    assert query.prioritized == ()
    assert query.disabled == ()
    assert query.type is None
    assert query.trace is None
    with library.options(prioritize="third", disable="first", type=Foreign, trace=True) as trace:
        query = library.options()
        assert query.backends == ("third", "default", "second")
        assert query.prioritized == ("third",)
        assert query.disabled == ("first",)
        assert query.type is Foreign
        assert query.trace is trace


def test_query_before_inside_and_after_its_own_block(library: Library) -> None:
    """S7: before the block, the state that would be in force in it; inside, the state in force."""
    options = library.options(prioritize="third")
    found = [(options.prioritized, options.backends)]
    with library.options(prioritize="second"):
        found.append((options.prioritized, options.backends))
        with options:
            found.append((options.prioritized, options.backends))
            assert found[-1] == (library.options().prioritized, library.options().backends)
        found.append((options.prioritized, options.backends))
    found.append((options.prioritized, options.backends))
    alone = ("third",), ("third", "default", "first", "second")
    inside = ("third", "second"), ("third", "second", "default", "first")
    assert found == [alone, inside, inside, inside, alone]


def test_query_is_what_calls_do(library: Library) -> None:
    """S7, C1: `backends` is the order in which calls try them."""
    for options in (
        library.options(),
        library.options(prioritize=["third", "second"]),
        library.options(disable="first"),
        library.options(disable=["first", "second"]),
    ):
        with options:
            names = [name for name in options.backends if name != "default"]
            assert library.ran() == (names or ["default"])[0]


def test_query_shows_itself(library: Library) -> None:
    """S7: what is in force, and what would be."""
    with library.options(prioritize="third", disable="first", type=Foreign):
        text = repr(library.options())
    for part in ("'third', 'default', 'second'", "disabled=('first',)", "Foreign"):
        assert part in text
