"""What commands say of backends that are not here, and of requirements."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Site


def test_siblings_that_are_not_installed_are_no_fault(site: Site) -> None:
    """Names with other digits or parts are other backends; none is suggested to itself."""
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
    listed = paint.run("list", "paintlib", "--json").json["libraries"][0]["backends"]
    assert [each["state"] for each in listed if each["name"] == "water"] == ["inactive"]
    (library,) = paint.run("doctor", "paintlib", "--json").json["libraries"]
    found = [each for each in library["findings"] if each["backend"] == "water"]
    assert [(each["severity"], each["keys"]) for each in found] == [("error", ["requires"])]
    (file,) = paint.run("verify", "--no-imports", "--json", "paint_water/backend.toml").json[
        "files"
    ]
    assert [each["key"] for each in file["faults"]] == ["requires"]
    explained = paint.run("explain", BLUR, "fractions:Fraction", "--why-not", "water").output
    assert "install it" not in explained
