"""The tables of backends in code are read again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._discovery.in_code import has_new, name_of, read_again


class Nameless:
    @property
    def name(self) -> Any:
        raise LookupError


class Interrupting:
    @property
    def name(self) -> Any:
        raise KeyboardInterrupt


def test_the_name_in_a_description() -> None:
    """Of a mapping or an object; None where reading it fails."""
    assert name_of({"name": "first"}) == name_of(SimpleNamespace(name="first")) == "first"
    assert name_of({}) is name_of(Nameless()) is None
    with pytest.raises(KeyboardInterrupt):
        name_of(Interrupting())


def test_a_catalog_stays_the_same_object_if_nothing_has_changed() -> None:
    """D3: otherwise, only functions of backends in code differ."""
    functions: dict[str, Any] = {"lib:f": {"function": "m:f"}}
    second = {"name": "first", "primary_types": ["m:T"], "functions": {"lib:h": {}}}
    backends = [{"name": "first", "primary_types": ["m:T"], "functions": functions}]
    catalog = BackendSystem(None, "MYLIB", backends=backends)._catalog()
    assert read_again(catalog, backends, []) is catalog
    functions["lib:g"] = {"function": "m:g"}
    # The first of a name counts; faults of the other were not reported either.
    found = read_again(catalog, [*backends, second], [])
    assert list(found.descriptions["first"].functions) == ["lib:f", "lib:g"]
    assert list(found.descriptions) == list(catalog.descriptions)


def test_whether_a_backend_in_code_has_a_new_function() -> None:
    """D3: a table that cannot be asked counts as new, so that parsing reports why."""
    functions: dict[str, Any] = {"lib:f": {"function": "m:f"}}
    first: dict[str, Any] = {"name": "first", "primary_types": ["m:T"], "functions": functions}
    catalog = BackendSystem(None, "MYLIB", backends=[first])._catalog()
    assert not has_new(catalog, [first], "lib:f")
    assert not has_new(catalog, [first], "lib:g")
    functions["lib:g"] = {"function": "m:g"}
    assert has_new(catalog, [first], "lib:g")
    assert has_new(catalog, [SimpleNamespace(name="first")], "lib:g")
    assert not has_new(catalog, [{**first, "name": "unknown"}, Nameless()], "lib:g")
