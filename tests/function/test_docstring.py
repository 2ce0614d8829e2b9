"""The docstring of a function gets a section about its backends."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

import pytest

from tests.function.conftest import Foreign, describe, make_system

FOREIGN = f"{Foreign.__module__}:Foreign"


def documented(doc: str | None, *backends: Any) -> str | None:
    """Return the docstring of a function once backends are loaded."""

    def f(x: Any) -> Any: ...

    f.__doc__ = doc
    system = make_system(*backends)
    function: Any = system.dispatchable("x", module="lib", qualname="f")(f)
    assert function.__doc__ == doc
    assert list(system.backends)
    text: str | None = function.__doc__
    return text


DOCS = "Faster, and\nless precise.\n\nSee the manual."


@pytest.mark.parametrize(
    "doc",
    [
        "One line.",
        "\n    Indented, as Python before 3.13 leaves it.\n\n    Notes\n    -----\n    Text.\n    ",
        "First.\n\n        Deep.\n            Deeper.\n        ",
        "First.\n\n\tTabs.\n\t",
        "First.\n   \nNot indented.",
    ],
)
def test_section_has_the_docstrings_indentation(doc: str) -> None:
    """F5: after `inspect.cleandoc` the section stands at the margin."""
    text = documented(doc, describe("first", entry={"additional_docs": DOCS}))
    assert text is not None
    clean = inspect.cleandoc(text)
    assert clean.startswith(inspect.cleandoc(doc))
    assert clean.endswith(
        f"\n\nBackends\n--------\nfirst\n    Types: {FOREIGN}.\n\n"
        "    Faster, and\n    less precise.\n\n    See the manual."
    )
    lines = text.expandtabs().splitlines()
    assert all(line == line.rstrip() or not line.strip() for line in lines)


@pytest.mark.parametrize("doc", [None, ""])
def test_function_without_a_docstring(doc: str | None) -> None:
    """F5: the section becomes the docstring (`python -OO` strips docstrings)."""
    text = documented(doc)
    assert text is not None
    assert inspect.cleandoc(text) == f"Backends\n--------\nfirst\n    Types: {FOREIGN}."


def test_docstring_follows_a_reload(monkeypatch: pytest.MonkeyPatch) -> None:
    """F5: one section, about the backends that are usable now."""
    system = make_system(describe("first"), describe("third", requires_opt_in=True))
    function: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    assert list(system.backends)
    assert "third\n" in function.__doc__
    monkeypatch.setenv("MYLIB_BLOCK", "third")
    system.reload()
    assert "third\n" not in function.__doc__
    assert function.__doc__.count("--------") == 1
    monkeypatch.setenv("MYLIB_BLOCK", "*")
    system.reload()
    assert function.__doc__ is None


def test_examples_of_a_backend_are_not_those_of_the_library() -> None:
    """F5: doctest runs what stands in the docstring, so that prompts get a backslash."""
    docs = "Say >>> here.\n>>> 1 / 0\n    >>> 2 / 0\n2"
    text = documented("Double.\n\n>>> 1 + 1\n2", describe(entry={"additional_docs": docs}))
    assert text is not None
    (example,) = doctest.DocTestParser().get_examples(text)
    assert (example.source, example.want) == ("1 + 1\n", "2\n")
    assert "    Say \\>>> here.\n    \\>>> 1 / 0\n        \\>>> 2 / 0\n    2\n" in text


def test_docstring_gains_a_section() -> None:
    """F5: a "Backends" section once backends are loaded, with types and additional docs."""
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
    """F5: where users read about it, with nothing behind it that could be a part of it."""
    text = documented("Double.", describe("first", url="https://first.example/docs"))
    assert text == (
        "Double.\n\nBackends\n--------\n"
        f"first\n    Types: {FOREIGN}. See https://first.example/docs\n"
    )


def test_each_function_has_its_own_note_or_that_of_all_others() -> None:
    """F5, D4: in a description with an entry for every other function."""
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
