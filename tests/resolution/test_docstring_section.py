"""The section about backends in a function's docstring."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import write_distribution
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
def test_sections_are_the_same_from_the_cache(
    texts: list[str], every: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F6: of a cached backend, a text that all functions share is made once."""
    lines = ["name = 'gpu'", f"primary_types = ['{FOREIGN}']"]
    notes = {f"lib:f{number}": text for number, text in enumerate(texts)}
    for function, text in {**notes, "*": every}.items() if every else notes.items():
        lines += [f"[functions.'{function}']", "function = 'm:f'"]
        lines.append(f"additional_docs = {json.dumps(text)}")
    write_distribution(
        tmp_path,
        "gpu-dist",
        entry_points={"documented.backends": {"gpu": "gpu_pkg:backend.toml"}},
        files={"gpu_pkg/__init__.py": "", "gpu_pkg/backend.toml": "\n".join(lines)},
    )
    os.utime(tmp_path / "gpu_pkg" / "backend.toml", (0, 0))  # it was not written just now
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("SPATCH_CORE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))

    def documents() -> tuple[list[str | None], bool]:
        system = BackendSystem("documented.backends", "DOCUMENTED", ["builtins:float"])
        functions = [
            system.dispatchable("x", module="lib", qualname=f"f{number}")(lambda x: x)
            for number in range(4)
        ]
        assert "gpu" in system.backends
        is_cached = "gpu" in system._loader.get().catalog.cached_docs
        return [each.__doc__ for each in functions], is_cached

    parsed, cached = documents(), documents()

    assert parsed[0] == cached[0]
    assert [parsed[1], cached[1]] == [False, True]
