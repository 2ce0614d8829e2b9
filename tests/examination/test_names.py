"""What doctor says of backends that are not here, and of requirements; variants by their names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest

from spatch_core.examination.update import found_variants
from tests.cli.conftest import Site


def test_siblings_that_are_not_installed_are_no_fault(site: Site) -> None:
    """Names of backends resemble each other, and a backend is never suggested to itself."""
    site.install_library()
    for name in ("oil12", "crayons", "chalk-red", "tempera2"):
        site.install_backend(name, 'primary_types = ["fractions:Fraction"]\n')
    others = ["oil-cpu", "crayon-red", "chalk-blue", "chalk-rad", "tempera", "oil2"]
    site.install_backend(
        "oil",
        f'primary_types = ["fractions:Fraction"]\nhigher_priority_than = {others}\n'
        'lower_priority_than = ["oil11", "oils"]\n',
    )
    answer = site.run("doctor", "paintlib")
    assert answer.row("oil")[2] == "no findings"
    assert answer.code == 0, answer.output


BLUR = "paintlib.filters:blur"
UNMET = "it requires no-such-distribution, which is not installed"
TOML = f"""
    primary_types = ["fractions:Fraction"]
    requires = ["click", "no-such-distribution"]
    [functions."{BLUR}"]
    function = "paint_water:blur"
    """


@pytest.mark.slow
def test_every_command_tells_that_a_backend_is_inactive(paint: Site) -> None:
    """The reason is the unmet requirement, which is not a fault."""
    paint.install_backend("water", TOML, "def blur(x): ...")
    listed = paint.run("list")
    assert listed.row("water")[1] == "inactive"
    assert f"Not active:\n  water (inactive): {UNMET}\n" in listed.output
    shown = paint.run("show", "water").rows
    assert ["state", "inactive"] in shown
    assert ["reason", UNMET] in shown
    examined = paint.run("doctor")
    assert examined.row("water")[1:3] == ["inactive", "1 note"]
    note = f"note: requires: {UNMET}, so it is inactive here"
    assert note in examined.output
    verified = paint.run("verify", "paint_water/backend.toml")
    assert note in verified.output
    assert (listed.code, verified.code) == (0, 0)
    explained = paint.run("explain", BLUR, "fractions:Fraction", "--why-not", "water")
    assert explained.row("water")[1:] == ["inactive", UNMET]
    assert f"Nothing makes it run here:\n  {UNMET}: install it\n" in explained.output
    assert "Not considered" not in explained.output


@pytest.mark.slow
def test_one_that_cannot_be_read_is_reported_once(paint: Site) -> None:
    """The backend has one row, and the requirement is the only error."""
    paint.install_backend(
        "water", TOML.replace("no-such-distribution", "a b c"), "def blur(x): ..."
    )
    listed = paint.run("list", "--json").json["libraries"][0]["backends"]
    assert [each["state"] for each in listed if each["name"] == "water"] == ["inactive"]
    (library,) = paint.run("doctor", "--json").json["libraries"]
    found = [each for each in library["findings"] if each["backend"] == "water"]
    assert [(each["severity"], each["keys"]) for each in found] == [("error", ["requires"])]


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
