"""Variants by name: D8, and what ``spatch-core update`` makes of names as Ivy has them."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from spatch_core.examination.variant_names import found_variants, requirement_of


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("tril_v_1p12_and_above", ("tril", "torch>=1.12")),
        ("tril_v_1p12p1_and_below", ("tril", "torch<=1.12.1")),
        ("tril_v_1p9p0_to_1p11p1", ("tril", "torch>=1.9.0,<=1.11.1")),
        ("conv_1d_v_2_and_above", ("conv_1d", "torch>=2")),
        ("f_v_1p0_v_2p0_and_above", ("f_v_1p0", "torch>=2.0")),
        ("tril", None),
        ("tril_v_1p12", None),
        ("tril_v_new_and_above", None),
        ("_v_1p12_and_above", None),
        ("tril_v_1p_and_above", None),
    ],
)
def test_names(name: str, means: tuple[str, str] | None) -> None:
    """A range includes both ends."""
    assert requirement_of(name, "torch") == means


def test_the_most_special_one_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several variants that apply, the one with the narrower range is used."""
    module = ModuleType("variants_by_name")
    names = [
        *("f_v_1p8_and_below", "f_v_1p10_and_below", "f_v_1p9_to_1p11", "f_v_1p12_and_above"),
        *("f_v_2p1_and_above", "g_v_1p0_and_above", "f", "f_v_3p0_and_above"),
    ]
    for name in names:
        setattr(module, name, print)
    module.f_v_3p0_and_above = 3  # type: ignore[attr-defined]  # no implementation
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = found_variants("variants_by_name:f", "torch")["variants"]
    assert [each["requires"] for each in found] == [
        *("torch>=1.9,<=1.11", "torch>=2.1", "torch>=1.12", "torch<=1.8", "torch<=1.10")
    ]
    assert found[1]["function"] == "variants_by_name:f_v_2p1_and_above"
    assert found_variants("variants_by_name:h", "torch") == {}
    assert found_variants("no.module:f", "") == {}
