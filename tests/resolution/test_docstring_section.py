"""The section about backends in a function's docstring."""

from __future__ import annotations

from typing import Any

from tests.function.conftest import Foreign, describe, make_system

FOREIGN = f"{Foreign.__module__}:Foreign"
DOCS = "Faster, and\nless precise.\n\nSee the manual."


def documented(doc: str, *backends: Any) -> str | None:
    """Return the docstring that a function with this one has once backends are loaded."""
    system = make_system(*backends)

    def function(x: object) -> str:
        return "default"

    function.__doc__ = doc
    wrapper = system.dispatchable("x", module="lib", qualname="f")(function)
    assert list(system.backends)
    return wrapper.__doc__


def test_docstring_gains_a_section() -> None:
    """F6: a "Backends" section once backends are loaded, with types and additional docs."""
    text = documented(
        "Double.\n\nReturns\n-------\nint\n    Twice as much.\n",
        describe("first", entry={"additional_docs": DOCS}),
        describe("second", requires_opt_in=True, secondary_types=["m:A", "~m:B"]),
        describe("third", functions=[]),
    )
    assert text == (
        "Double.\n\nReturns\n-------\nint\n    Twice as much.\n\n"
        "Backends\n--------\n"
        f"first\n    Types: {FOREIGN}.\n\n"
        "    Faster, and\n    less precise.\n\n    See the manual.\n"
        f"second\n    Types: {FOREIGN}; converts m:A, ~m:B. Needs opt-in: "
        '``prioritize="second"``.\n'
    )


def test_the_web_address_of_a_backend() -> None:
    """F6: where users read about it, with nothing behind it that could be a part of it."""
    text = documented("Double.", describe("first", url="https://first.example/docs"))
    assert text == (
        "Double.\n\nBackends\n--------\n"
        f"first\n    Types: {FOREIGN}. See https://first.example/docs\n"
    )


def test_a_short_note_and_an_empty_one() -> None:
    """F6: a line that needs no wrapping, and no line at all."""
    text = documented(
        "Double.",
        describe("first", entry={"additional_docs": "  Faster. "}),
        describe("second", entry={"additional_docs": " \n "}),
    )
    assert text == (
        "Double.\n\nBackends\n--------\n"
        f"first\n    Types: {FOREIGN}.\n\n    Faster.\n"
        f"second\n    Types: {FOREIGN}.\n"
    )
