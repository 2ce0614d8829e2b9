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
    assert text is not None
    assert text.startswith(
        "Double.\n\nReturns\n-------\nint\n    Twice as much.\n\n"
        f"Backends\n--------\nfirst\n    Types: {FOREIGN}.\n\n"
        "    Faster, and\n    less precise.\n\n    See the manual.\n"
        f"second\n    Types: {FOREIGN}; converts m:A, ~m:B."
    )
    assert '``prioritize="second"``' in text
    assert "third" not in text


def test_the_web_address_of_a_backend() -> None:
    """F6: where users read about it, with nothing behind it that could be a part of it."""
    text = documented("Double.", describe("first", url="https://first.example/docs"))
    assert text == (
        "Double.\n\nBackends\n--------\n"
        f"first\n    Types: {FOREIGN}. See https://first.example/docs\n"
    )


def test_each_function_has_its_own_note_or_that_of_all_others() -> None:
    """F6, D14: in a description with an entry for every other function."""
    entries = {
        "lib:own": {"function": "m:f", "additional_docs": "  Faster. "},
        "lib:empty": {"function": "m:f", "additional_docs": " "},
        "*": {"function": "m:f", "additional_docs": "Of all others."},
    }
    system = make_system({"name": "gpu", "primary_types": [FOREIGN], "functions": entries})
    decorated = {
        name: system.dispatchable("x", module="lib", qualname=name)(lambda x: x)
        for name in ("own", "empty", "other")
    }
    assert "gpu" in system.backends
    section = f"Backends\n--------\ngpu\n    Types: {FOREIGN}."
    assert {name: (each.__doc__ or "").strip() for name, each in decorated.items()} == {
        "own": f"{section}\n\n    Faster.",
        "empty": section,
        "other": f"{section}\n\n    Of all others.",
    }
