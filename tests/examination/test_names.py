"""What doctor says of names in a description: of functions, attributes, backends, requirements."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import spatch_core
from spatch_core.examination.update import found_variants
from spatch_core.testing import run_python, write_distribution
from tests.cli.conftest import Site


def findings(site: Site, backend: str) -> dict[str, str]:
    """Return the findings of doctor about the keys of a backend."""
    answer = site.run("doctor", "paintlib", "--json")
    (library,) = answer.json["libraries"]
    found: list[dict[str, Any]] = [
        each for each in library["findings"] if each["backend"] == backend
    ]
    return {each["keys"][0]: f"{each['severity']}: {each['remedy']}" for each in found}


@pytest.fixture
def studio(site: Site) -> Site:
    """A library with backends that have common names."""
    site.install_library()
    for name in ("oil12", "crayons", "chalk-red", "tempera2"):
        site.install_backend(name, 'primary_types = ["fractions:Fraction"]\n')
    return site


def test_siblings_that_are_not_installed_are_no_fault(studio: Site) -> None:
    """Names of backends resemble each other, and a backend is never suggested to itself."""
    others = ["oil-cpu", "crayon-red", "chalk-blue", "chalk-rad", "tempera", "oil2"]
    studio.install_backend(
        "oil",
        f'primary_types = ["fractions:Fraction"]\nhigher_priority_than = {others}\n'
        'lower_priority_than = ["oil11", "oils"]\n',
    )
    assert findings(studio, "oil") == {}
    answer = studio.run("doctor", "paintlib")
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


LIBRARY = """
from spatch_core import BackendSystem
from spatch_core.switching import attributes

system = BackendSystem("attrcheck.backends", "ATTRCHECK")
__getattr__, __dir__ = attributes(system, __name__, {"pi": 3})


@system.dispatchable("x")
def tensor(x):
    return x
"""
FILE = """
name = "b"
primary_types = ["attrcheck_b:Array"]

[attributes]
"attrcheck:pi" = "attrcheck_b:value"
"attrcheck:e" = "attrcheck_b:valu"
"attrcheck.plain:pi" = "attrcheck_b:value"
"attrchek:pi" = "attrcheck_b:value"
"""
EXPECTED = {
    'attributes."attrcheck:e"': "error: 'attrcheck_b' has no 'valu'",
    'attributes."attrcheck.plain:pi"': "warning: attributes of module 'attrcheck.plain' follow no",
}
PROGRAM = """
from spatch_core.examination import Library, Source, examine_library, verify_file

library = Library("attrcheck", "attrcheck:system", Source())

reports = [verify_file(FILE), examine_library(library)]
for report in reports:
    print("---")
    for each in report.findings:
        print(each.keys[0], "|", f"{each.severity}: {each.message} {each.remedy}")
"""


def test_attributes_are_compared_with_the_modules_of_the_library(tmp_path: Path) -> None:
    """W4: by doctor, and by verify as far as a file allows it; each finding has its key."""
    distribution = write_distribution(
        tmp_path,
        "attrcheck",
        entry_points={
            "attrcheck.backends": {"b": "attrcheck_b:b.toml"},
            "spatch_core.libraries": {"attrcheck": "attrcheck:system"},
        },
        files={
            "attrcheck/__init__.py": LIBRARY,
            "attrcheck/plain.py": "",
            "attrcheck_b/__init__.py": "value = 3\nclass Array: pass\n",
            "attrcheck_b/b.toml": FILE,
        },
    )
    file = distribution.folder / "attrcheck_b" / "b.toml"
    path = [tmp_path, Path(spatch_core.__file__).parents[1]]
    printed = run_python(PROGRAM.replace("FILE", repr(str(file))), path=path).stdout
    verified, examined = (
        dict(line.split(" | ", 1) for line in part.strip().splitlines())
        for part in printed.split("---\n")[1:]
    )
    for found in (verified, examined):
        for key, message in EXPECTED.items():
            assert found.pop(key).startswith(message)
    (key, message) = examined.popitem()
    assert key == 'attributes."attrchek:pi"'
    assert message.startswith(
        "error: the library has no module 'attrchek' Did you mean 'attrcheck'"
    )
    assert examined == {}
    assert {*verified} <= {key}


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
