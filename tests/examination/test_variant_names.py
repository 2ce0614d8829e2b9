"""Variants by name: D8, and what ``spatch-core update`` makes of names as Ivy has them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest

from spatch_core.examination.update import found_variants


@pytest.fixture
def variants(monkeypatch: pytest.MonkeyPatch) -> Any:
    def found(names: Iterable[str], function: str) -> dict[str, str]:
        """Return the requirements of a function's variants in a module with these names."""
        module = ModuleType("variants_by_name")
        vars(module).update(dict.fromkeys(names, print))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        fields = found_variants(f"variants_by_name:{function}", "torch")
        return {each["function"]: each["requires"] for each in fields.get("variants", ())}

    return found


@pytest.mark.parametrize(
    ("name", "function", "requirement"),
    [
        ("tril_v_1p12_and_above", "tril", "torch>=1.12"),
        ("tril_v_1p12p1_and_below", "tril", "torch<=1.12.1"),
        ("tril_v_1p9p0_to_1p11p1", "tril", "torch>=1.9.0,<=1.11.1"),
        ("conv_1d_v_2_and_above", "conv_1d", "torch>=2"),
        ("f_v_1p0_v_2p0_and_above", "f_v_1p0", "torch>=2.0"),
        ("tril", "tril", None),
        ("tril_v_1p12", "tril", None),
        ("tril_v_new_and_above", "tril", None),
        ("tril_v_1p_and_above", "tril", None),
    ],
)
def test_names(variants: Any, name: str, function: str, requirement: str | None) -> None:
    """A range includes both ends; other names mean no variant."""
    expected = {} if requirement is None else {f"variants_by_name:{name}": requirement}
    assert variants([name], function) == expected


def test_the_most_special_one_goes_first(variants: Any) -> None:
    """Of several variants that apply, the one with the narrower range is used."""
    names = [
        *("f_v_1p8_and_below", "f_v_1p10_and_below", "f_v_1p9_to_1p11", "f_v_1p12_and_above"),
        *("f_v_2p1_and_above", "g_v_1p0_and_above", "f"),
    ]
    assert [*variants(names, "f").values()] == [
        *("torch>=1.9,<=1.11", "torch>=2.1", "torch>=1.12", "torch<=1.8", "torch<=1.10")
    ]
