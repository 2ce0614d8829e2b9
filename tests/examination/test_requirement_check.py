"""Requirements of descriptions, against the distributions that are installed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spatch_core import BackendSystem
from spatch_core.examination.findings import Severity
from spatch_core.examination.requirement_check import check_requirements, chosen_variants

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
UNMET = "it requires no-such-distribution, which is not installed"
TOML = f"""
    primary_types = ["fractions:Fraction"]
    requires = ["click", "no-such-distribution"]
    [functions."{BLUR}"]
    function = "paint_water:blur"
    """


def test_one_that_is_not_met_is_a_note() -> None:
    """One that cannot be read is an error; one that is met has no finding."""
    found = [*check_requirements(["pytest", "no-such-distribution", "a b c"])]
    assert [(each.key, each.severity) for each in found] == [
        ("requires[1]", Severity.NOTE),
        ("requires[2]", Severity.ERROR),
    ]
    assert found[0].message == f"{UNMET}, so it is inactive here"
    assert found[1].message.startswith("it is inactive, because of a requirement: 'a b c'")


def test_the_choice_of_a_variant_is_a_note() -> None:
    """So is an implementation without a chosen variant; others have no note."""
    absent = {"requires": "no-such-distribution", "function": "builtins:min"}
    unread = {"requires": "packaging>>1", "function": "builtins:min"}
    newer = {"requires": "packaging>=20", "function": "builtins:max"}
    functions = {
        "lib:f": {"function": "builtins:sum", "variants": [absent, newer]},
        "lib:g": {"function": "builtins:sum", "variants": [absent, unread]},
        "lib:h": {"function": "builtins:sum"},
        "lib:i": {"variants": [absent]},
        "*": {"variants": [newer]},
    }
    backend = {"name": "b", "primary_types": ["builtins:list"], "functions": functions}
    system = BackendSystem(None, "CHOICES", backends=[backend])
    with pytest.warns(UserWarning, match="the variant is not used"):
        found = [*chosen_variants(system.backends["b"])]
    assert {each.severity for each in found} == {Severity.NOTE}
    assert [(each.key, each.message) for each in found[:1] + found[2:]] == [
        ('functions."lib:f".variants[1]', "its variant for packaging>=20 serves here"),
        ('functions."*".variants[0]', "its variant for packaging>=20 serves here"),
    ]
    assert found[1].key == 'functions."lib:g".function'
    assert found[1].message.startswith(f"it serves here instead of its variants: {UNMET}; ")
    assert "'packaging>>1' is not a requirement" in found[1].message


@pytest.mark.slow
def test_every_command_tells_that_a_backend_is_inactive(paint: Site) -> None:
    """The reason is the unmet requirement, which is not a fault."""
    paint.install_backend("water", TOML, "def blur(x): ...")
    listed = paint.run("list")
    assert listed.row("water")[1] == "inactive"
    assert f"Not active:\n  water (inactive): {UNMET}\n" in listed.output
    assert f"state                 inactive: {UNMET}\n" in paint.run("show", "water").output
    examined = paint.run("doctor")
    assert examined.row("water")[1:3] == ["inactive", "1 note"]
    note = f"note: requires[1]: {UNMET}, so it is inactive here"
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
