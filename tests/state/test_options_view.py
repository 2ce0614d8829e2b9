"""What options say of themselves, in force and before: rule S7."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from spatch_core import BackendSystem


class Foreign:
    """The backends' type."""


def run_first(x: Any = None) -> str:
    return "first"


def run_second(x: Any = None) -> str:
    return "second"


def run_third(x: Any = None) -> str:
    return "third"


class Library:
    """A library with one function; ``third`` requires opt-in."""

    def __init__(self) -> None:
        self.system = BackendSystem(
            None,
            "MYLIB",
            backends=[
                {
                    "name": name,
                    "primary_types": [f"{__name__}:Foreign"],
                    "requires_opt_in": name == "third",
                    "functions": {"lib:f": {"function": f"{__name__}:run_{name}"}},
                }
                for name in ("first", "second", "third")
            ],
        )
        self.options = self.system.backend_opts

        @self.system.dispatchable("x", module="lib", qualname="f")
        def f(x: Any = None) -> str:
            return "default"

        self.f = f

    def ran(self) -> str:
        """Return which implementation runs here and now."""
        return self.f(Foreign())


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


def test_query_of_options_that_are_in_force_in_two_threads(library: Library) -> None:
    """S7, S2: threads never see each other's state, through one object neither."""
    options = library.options(disable="first")

    def in_thread() -> Any:
        with library.options(prioritize="second"), options:
            return options.prioritized

    with library.options(prioritize="third"), options:
        before = options.prioritized
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(in_thread).result() == ("second",)
        assert options.prioritized == before == ("third",)


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
    """In a notebook, the options show the state in force."""
    assert repr(library.options()) == (
        "<backend_opts backends=('default', 'first', 'second'), prioritized=()>"
    )
    text = repr(library.options(prioritize="third", disable="first", type=Foreign))
    assert "prioritized=('third',)" in text
    assert "disabled=('first',)" in text
    assert "Foreign" in text


def test_options_that_are_not_in_force_say_so(library: Library) -> None:
    """S7: a program that makes options and forgets the block sees it."""
    options = library.options(prioritize="third")
    hint = "not in force; use `with`, or `.enable_globally()`"

    def shown() -> list[bool]:
        return [hint in text for text in (repr(options), options._repr_html_())]

    assert shown() == [True, True]
    assert "prioritized=('third',)" in repr(options)
    with options:
        assert shown() == [False, False]
        with library.options(prioritize="second"):
            assert shown() == [False, False]
    assert shown() == [True, True]
    options.enable_globally()
    assert shown() == [False, False]
    library.options.reset_globally()
    assert shown() == [True, True]


@pytest.mark.parametrize("option", ["trace", "type", "hook", "fallback", "backend"])
def test_every_option_is_in_force_in_its_block_alone(library: Library, option: str) -> None:
    """S7: also those that are not names."""
    value: dict[str, Any] = {
        "trace": True,
        "type": Foreign,
        "fallback": "raise",
        "backend": "first",
    }
    value["hook"] = lambda call: call.next(*call.args, **call.kwargs)
    options = library.options(**{option: value[option]})
    assert "not in force" in repr(options)
    with options:
        assert "not in force" not in repr(options)
    assert "not in force" in repr(options)


def test_options_that_change_nothing_are_in_force(library: Library) -> None:
    """S7: what is in force is asked by `backend_opts()`; a frozen function has its options."""
    assert "not in force" not in repr(library.options())
    options = library.options(disable="first")
    assert "not in force" not in options(lambda: repr(options))()
    with library.options(disable="first"):
        assert "not in force" not in repr(options)
