"""The forms of a description mean the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spatch_core.testing import write_distribution
from tests.discovery.conftest import FIELDS, TOML, catalog, entry_point


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
    def test_a_python_form_says_the_same_as_a_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
    ) -> None:
        """D1, D4: each kind of value leads to the same description."""
        value, code = self.CODE[form]
        write_distribution(tmp_path / "a", "loud", files={"loud/loud.toml": TOML})
        write_distribution(tmp_path / "b", "loud", files={"loud.py": code})

        monkeypatch.syspath_prepend(tmp_path / "a")
        from_file = catalog(entry_point("loud", "loud:loud.toml"))
        monkeypatch.syspath_prepend(tmp_path / "b")
        monkeypatch.delitem(sys.modules, "loud", raising=False)
        from_code = catalog(entry_point("loud", value))

        assert from_file.problems == from_code.problems == ()
        one, other = from_file.descriptions["loud"], from_code.descriptions["loud"]
        assert one.source.file == str(tmp_path / "a" / "loud" / "loud.toml")
        assert other.source.file is None
        for field in one._fields:
            if field != "source":
                assert getattr(one, field) == getattr(other, field), field

    def test_a_description_in_code_says_the_same_too(self) -> None:
        """D3, D4: the fields have the same meaning in code."""
        (name,) = set(catalog(in_code=[FIELDS]).descriptions) - {"default"}

        description = catalog(in_code=[FIELDS]).descriptions[name]

        assert description.name == "loud"
        assert description.in_code
        assert [str(each) for each in description.primary_types] == FIELDS["primary_types"]
        assert description.functions["photolib:double"].uses_context
        assert not description.functions["photolib:halve"].uses_context

    @pytest.mark.parametrize(
        "value", ["loud:backend [fast]", "loud : backend", "loud:backend.toml [fast]"]
    )
    def test_the_value_of_an_entry_point_may_have_spaces_and_extras(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        """The entry-points specification allows both."""
        files = {"loud/__init__.py": f"backend = {FIELDS!r}", "loud/backend.toml": TOML}
        write_distribution(tmp_path, "loud", files=files)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "loud", raising=False)

        assert catalog(entry_point("loud", value)).problems == ()
