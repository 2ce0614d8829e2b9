"""Requirements of descriptions, against the distributions that are installed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
