"""The forms of a description mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import isolated, write_distribution
from spatch_core.types import Description
from tests.discovery.conftest import TOML

FIELDS: dict[str, Any] = {
    "name": "loud",
    "primary_types": ["builtins:str", "~builtins:bytes"],
    "secondary_types": ["builtins:int"],
    "requires_opt_in": True,
    "higher_priority_than": ["other"],
    "lower_priority_than": ["default"],
    "functions": {
        "defaults": {"uses_context": True},
        "auto-generation": {"backend": "loud:backend", "modules": ["loud.code"]},
        "photolib:double": {
            "function": "loud.code:double",
            "should_run": "loud.code:ask",
            "additional_docs": "Louder.",
        },
        "photolib:halve": {"function": "loud.code:halve", "uses_context": False},
    },
}


def read(folder: Path, value: str, files: dict[str, str]) -> Description:
    """Return the description that an entry point of this value leads to."""
    entry_points = {"photolib.backends": {"loud": value}}
    write_distribution(folder, "loud-dist", entry_points=entry_points, files=files)
    system = BackendSystem("photolib.backends", "PHOTOLIB")
    with isolated(system, path=[folder]):
        assert system.problems == ()
        return system.backends["loud"]


class TestForms:
    """A TOML file, an object, a class, a module and a mapping mean the same."""

    CODE = {  # noqa: RUF012  # constant
        "class": (
            "loud:backend",
            "class backend:\n" + "\n".join(f"    {k} = {v!r}" for k, v in FIELDS.items()),
        ),
        "object": (
            "loud:box.backend",
            f"""from types import SimpleNamespace
box = SimpleNamespace(backend=SimpleNamespace(**{FIELDS!r}))""",
        ),
        "module": ("loud", "\n".join(f"{k} = {v!r}" for k, v in FIELDS.items())),
        "mapping": ("loud:backend", f"backend = {FIELDS!r}"),
        "read-only-mapping": (
            "loud:backend",
            f"from types import MappingProxyType\nbackend = MappingProxyType({FIELDS!r})",
        ),
        "tuples-and-sets": (
            "loud:backend",
            "class backend:\n"
            + "\n".join(
                f"    {k} = {tuple(v) if isinstance(v, list) else v!r}" for k, v in FIELDS.items()
            ),
        ),
        "properties": (
            "loud:backend",
            f"""fields = {FIELDS!r}
class Backend:
    def __getattr__(self, name):
        try:
            return fields[name]
        except KeyError:
            raise AttributeError(name) from None
backend = Backend()""",
        ),
    }

    @pytest.mark.parametrize("form", CODE)
    def test_a_python_form_says_the_same_as_a_file(self, tmp_path: Path, form: str) -> None:
        """D1: each kind of value leads to the same description."""
        value, code = self.CODE[form]

        from_file = read(tmp_path / "a", "loud:loud.toml", {"loud/loud.toml": TOML})
        from_code = read(tmp_path / "b", value, {"loud.py": code})

        assert from_file.source.file == str(tmp_path / "a" / "loud" / "loud.toml")
        assert from_code.source.file is None
        for field in (*FIELDS, "auto_generation", "url", "attributes", "in_code"):
            assert getattr(from_file, field) == getattr(from_code, field), field

    def test_a_description_in_code_says_the_same_too(self, tmp_path: Path) -> None:
        """D1: the fields have the same meaning in code."""
        from_file = read(tmp_path, "loud:loud.toml", {"loud/loud.toml": TOML})

        in_code = BackendSystem(None, "PHOTOLIB", backends=[FIELDS]).backends["loud"]

        assert (from_file.in_code, in_code.in_code) == (False, True)
        for field in FIELDS:
            assert getattr(from_file, field) == getattr(in_code, field), field

    @pytest.mark.parametrize(
        "value", ["loud:backend [fast]", "loud : backend", "loud:backend.toml [fast]"]
    )
    def test_the_value_of_an_entry_point_may_have_spaces_and_extras(
        self, tmp_path: Path, value: str
    ) -> None:
        """The entry-points specification allows both."""
        files = {"loud/__init__.py": f"backend = {FIELDS!r}", "loud/backend.toml": TOML}
        assert read(tmp_path, value, files).name == "loud"
