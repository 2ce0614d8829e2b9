"""Functions that are made when they are looked up, equal to those parsed from the file."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from spatch_core._description.description import Implementation
from spatch_core._discovery.cache_entries import to_json
from spatch_core._discovery.lazy_functions import LazyFunctions, columns_of

Functions = Mapping[str, Implementation]

FUNCTIONS = {
    "cachelib:double": Implementation("loud.code:double", "loud.code:ask", True, "Louder.\n"),
    "cachelib:halve": Implementation("loud.code:halve", "loud.code:other"),
    "cachelib:ärgern": Implementation("loud.code:ärgern", None),
}


def lazy(columns: bytes, parse: Callable[[], Functions] = FUNCTIONS.copy) -> LazyFunctions:
    """What `restored` wraps."""
    return LazyFunctions(tuple(FUNCTIONS), columns, parse)


def restored(columns: bytes, parse: Callable[[], Functions] = FUNCTIONS.copy) -> Functions:
    """The functions of `FUNCTIONS`, from any `columns`."""
    mapping: Any = lazy(columns, parse)
    return MappingProxyType(mapping)


class TestSameMapping:
    """All that a mapping of functions can do gives the same."""

    @pytest.fixture
    def both(self) -> tuple[Functions, Functions]:
        def parse() -> Functions:
            pytest.fail("the file is read")

        return MappingProxyType(FUNCTIONS), restored(to_json(columns_of(FUNCTIONS)), parse)

    USES: dict[str, Callable[[Any], Any]] = {  # noqa: RUF012  # constant
        "item": lambda each: each["cachelib:halve"],
        "same-item": lambda each: each["cachelib:halve"] is each["cachelib:halve"],
        "missing-item": lambda each: each["cachelib:cut"],
        "unhashable-item": lambda each: each[[]],
        "get": lambda each: each.get("cachelib:halve"),
        "get-missing": lambda each: (each.get("x"), each.get("x", 3)),
        "in": lambda each: ("cachelib:halve" in each, "x" in each, None in each),
        "length": len,
        "truth": bool,
        "iteration": list,
        "backwards": lambda each: list(reversed(each)),
        "keys": lambda each: (repr(each.keys()), each.keys() | {"x"}),
        "values": lambda each: repr(each.values()),
        "items": lambda each: repr(each.items()),
        "dict": dict,
        "keywords": lambda each: {**each},
        "copy": lambda each: (type(each.copy()), each.copy()),
        "or": lambda each: each | {"x": 1},
        "or-itself": lambda each: each | each,
        "or-from-the-left": lambda each: {"x": 1} | each,
        "equal": lambda each: (each == dict(each), dict(each) == each, each == each.copy()),
        "equal-proxy": lambda each: MappingProxyType(dict(each)) == each,
        "unequal": lambda each: (each == {}, each != {}, each == 1),
        "less": lambda each: each < {},
        "representation": repr,
        "text": str,
        "set": lambda each: each.__setitem__("x", 1),
        "delete": lambda each: each.__delitem__("cachelib:halve"),
        "attributes": dir,
        "pickle": pickle.dumps,
        "class": lambda each: isinstance(each, MappingProxyType),
    }

    @pytest.mark.parametrize("use", USES)
    def test_functions_are_the_same_mapping(
        self, both: tuple[Functions, Functions], use: str
    ) -> None:
        def outcome(mapping: Any) -> Any:
            try:
                return self.USES[use](mapping)
            except (TypeError, KeyError, AttributeError) as error:
                return type(error)

        assert outcome(both[0]) == outcome(both[1])

    def test_a_mapping_of_functions_cannot_be_hashed(
        self, both: tuple[Functions, Functions]
    ) -> None:
        for each in both:
            with pytest.raises(TypeError, match="unhashable"):
                hash(each)


@pytest.mark.parametrize("columns", [b"", b"\xff", b"{}", b"[]", b"null", b"[[1],[2],[3],[4]]"])
def test_malformed_columns_are_replaced_by_the_file(columns: bytes) -> None:
    assert dict(restored(columns)) == FUNCTIONS
    assert lazy(columns).docs() == {key: each.additional_docs for key, each in FUNCTIONS.items()}


@pytest.mark.parametrize("docs", ["", "All the same."])
def test_texts_are_read_without_the_functions(docs: str) -> None:
    """A column of equal values holds one."""
    functions = {name: Implementation("m:f", None, False, docs) for name in FUNCTIONS}
    functions["cachelib:halve"] = Implementation("m:f", None, False, docs * 2)

    found = lazy(to_json(columns_of(functions)))

    assert found.docs() == (
        {key: each.additional_docs for key, each in functions.items()} if docs else ""
    )
    assert not found._made


@pytest.mark.parametrize("text", ["", "One."])
def test_a_text_that_all_have_is_one(text: str) -> None:
    functions = {name: Implementation("m:f", None, False, text) for name in FUNCTIONS}
    assert lazy(to_json(columns_of(functions))).docs() == text


def test_columns_are_read_when_a_function_is_looked_up() -> None:
    """Identifiers are enough for everything else."""

    def parse() -> Functions:
        pytest.fail("the file is read")

    functions = restored(b"malformed", parse)

    assert list(functions) == list(FUNCTIONS)
    assert len(functions) == 3
    assert "cachelib:halve" in functions
    assert functions.get("cachelib:cut") is None


@pytest.mark.parametrize("count", [0, 1, 2])
def test_equal_values_are_kept_once(count: int) -> None:
    functions = {f"lib:f{number}": Implementation("m:f") for number in range(count)}

    assert [len(column) for column in columns_of(functions)] == [min(count, 1)] * 4
