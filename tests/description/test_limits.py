"""E1: limits of a backend's file; `tests/attacks/test_files.py` has the memory that they save."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem
from spatch_core.testing import isolated, write_distribution

GROUP = "testlimits.backends"
TOML = 'name = "wide"\nprimary_types = ["builtins:str"]\n'
DOTS = "." * 40


def load(folder: Path, text: str) -> tuple[list[str], list[str]]:
    """Return the backends of a library that finds one with this file, and its problems."""
    found = write_distribution(
        folder,
        "wide-dist",
        entry_points={GROUP: {"wide": "wide:backend.toml"}},
        files={"wide/__init__.py": "", "wide/backend.toml": ""},
    )
    (found.folder / "wide" / "backend.toml").write_text(text, encoding="utf-8")
    system = BackendSystem(GROUP, "TESTLIMITS")
    with isolated(system, path=[folder]):
        return list(system.backends), [*map(str, system.problems)]


@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "[[{}]]", "x = {{ y = 1, {} = 2 }}"])
@pytest.mark.parametrize("part", ["a", '"q.q"', "'l.l'", '"\\".\\""'])
def test_a_key_has_at_most_32_parts(tmp_path: Path, form: str, part: str) -> None:
    """However its parts are written: more would need the time of their square."""
    text = TOML + "[functions]\n" + form
    with pytest.warns(BackendSkippedWarning, match="wide"):
        names, (problem,) = load(tmp_path, text.format(" . ".join([part] * 33)))
    assert names == ["default"]
    assert "more than 32 parts (at line 4, column" in problem


@pytest.mark.parametrize(
    "value",
    [
        "[" + ", ".join(["1.5"] * 40) + "]",
        f"'{DOTS}'",
        f'"\\"{DOTS}"',
        f'"""""{DOTS}"""',
        f"'''''{DOTS}'''",
        f"1 # {DOTS}",
    ],
)
def test_other_dots_do_not_count(tmp_path: Path, value: str) -> None:
    """They stand in numbers, texts and comments."""
    names, (problem,) = load(tmp_path, f"{TOML}homepage = {value}\n")
    assert names == ["default", "wide"]
    assert "there is no field 'homepage'" in problem


def test_a_large_file_is_not_parsed(tmp_path: Path) -> None:
    """The limit is two mebibytes."""
    with pytest.warns(BackendSkippedWarning, match="wide"):
        names, (problem,) = load(tmp_path, TOML + " " * (1 << 21))
    assert names == ["default"]
    assert "more than 2,097,152 bytes" in problem
