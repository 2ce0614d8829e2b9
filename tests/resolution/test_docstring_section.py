"""The section about backends in a function's docstring."""

from __future__ import annotations

from typing import Any

import pytest

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


TEXTS = {
    "nothing": ["", "", ""],
    "one-line-for-all": ["Faster."] * 3,
    "lines-for-all": ["Faster.\n\nLouder."] * 3,
    "its-own": ["Faster.", "Louder.\nBetter.", ""],
}


@pytest.mark.parametrize("every", ["", "Of all others."], ids=["listed", "every-function"])
@pytest.mark.parametrize("texts", TEXTS.values(), ids=list(TEXTS))
def test_each_function_has_its_own_note_or_that_of_all_others(texts: list[str], every: str) -> None:
    """F6, D14: in a file with an entry for every other function, too."""
    notes = {f"lib:f{number}": text for number, text in enumerate(texts)}
    entries = {name: {"function": "m:f", "additional_docs": text} for name, text in notes.items()}
    if every:
        entries["*"] = {"function": "m:f", "additional_docs": every}
    system = make_system({"name": "gpu", "primary_types": [FOREIGN], "functions": entries})
    functions = [
        system.dispatchable("x", module="lib", qualname=f"f{number}")(lambda x: x)
        for number in range(4)
    ]
    assert "gpu" in system.backends

    found = [each.__doc__ for each in functions]

    section = f"Backends\n--------\ngpu\n    Types: {FOREIGN}."
    indented = [
        text.replace("\n", "\n    ").replace("\n    \n", "\n\n") for text in [*texts, every]
    ]
    expected = [f"{section}\n\n    {text}" if text else section for text in indented]
    assert [text and text.strip() for text in found] == [
        *expected[:3],
        expected[3] if every else None,
    ]
