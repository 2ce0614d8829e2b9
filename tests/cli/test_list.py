"""``spatch-core list``: real distributions on disk, seen by fresh interpreters."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import spatch_core
from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Site

WATER = """
    primary_types = ["builtins:int"]
    requires_opt_in = true
    [functions."paintlib.filters:blur"]
    function = "paint_water:blur"
    [functions."paintlib.filters:blend"]
    function = "paint_water:blend"
"""
FAULTY = 'primary_types = ["no identifier"]\nrequires_opt_in = 1\n'


def library_as_json(site: Site, **variables: str) -> Any:
    (found,) = site.run("list", "paintlib", "--json", **variables).json["libraries"]
    return found


def backend_as_json(site: Site, name: str, **variables: str) -> Any:
    backends = library_as_json(site, **variables)["backends"]
    (found,) = (each for each in backends if each["name"] == name)
    return found


def test_each_backend_has_a_row_with_everything_about_it(paint: Site) -> None:
    """The row has state, primary types, functions and distribution; the library is "default"."""
    paint.install_backend("water", WATER.replace('int"]', 'int", "m:T"]'))
    answer = paint.run("list", "paintlib")
    assert answer.output.splitlines()[0] == "paintlib  paint-lib 2.5, 2 functions"
    assert answer.row("default")[1:] == ["active", "builtins:int", "2", "paint-lib 2.5"]
    assert [row[1:] for row in answer.rows if row[0] == "water"] == [
        ["needs opt-in", each, "2", "paint-water 1.0"] for each in ("builtins:int", "m:T")
    ]
    assert (answer.code, answer.errors) == (0, "")


def test_the_current_backend_is_shown(paint: Site) -> None:
    """W1: it is the backend that the environment names."""
    assert library_as_json(paint)["backend"] is None
    assert "Current backend" not in paint.run("list", "paintlib").output
    assert library_as_json(paint, PAINTLIB_BACKEND="oil")["backend"] == "oil"
    assert backend_as_json(paint, "oil", PAINTLIB_BACKEND="oil")["prioritized"]
    answer = paint.run("list", "paintlib", PAINTLIB_BACKEND="oil")
    assert "Current backend: oil" in answer.output


def test_a_broken_backend_is_shown_with_all_its_faults(paint: Site) -> None:
    """Each has file, key and remedy; scripts can use the exit code."""
    paint.install_backend("water", FAULTY)
    answer = paint.run("list", "paintlib")
    assert answer.row("water")[1:] == ["broken", "-", "-", "paint-water 1.0"]
    _, problems = answer.output.split("Problems\n")
    place, first, second, _, summary = problems.splitlines()
    file = paint.folder / "paint_water" / "backend.toml"
    assert place == f"water (paint-water 1.0, {file}):"
    assert first.startswith("  primary_types[0]: 'no identifier' ")
    assert second.startswith("  requires_opt_in: 1 ")
    assert second.endswith("Write true or false")
    assert summary == "3 backends: 2 active, 1 broken; 2 problems"
    assert (answer.code, answer.errors) == (1, "")


def test_backends_in_a_circle_are_active_and_the_mend_is_shown(paint: Site) -> None:
    """P6: only calls that match both skip them; it is one problem, of the report, too."""
    types = 'primary_types = ["fractions:Fraction"]\n'
    paint.install_backend("one", types + 'higher_priority_than = ["two"]\n')
    paint.install_backend("two", types + 'higher_priority_than = ["one"]\n')
    answer = paint.run("list", "paintlib")
    assert answer.row("one")[1] == answer.row("two")[1] == "active"
    assert answer.output.count("Set PAINTLIB_SET_ORDER=") == 1
    assert answer.output.endswith("; 1 problem\n")
    assert (answer.code, len(library_as_json(paint)["problems"])) == (1, 1)
    reported = paint.run("report", "paintlib", "--no-doctor").output
    assert reported == "report.html: 1 library, 4 backends, 1 finding\n"


def test_warnings_as_errors_change_nothing(paint: Site) -> None:
    """Warnings of discovery are among the problems."""
    paint.install_backend("water", FAULTY)
    plain = paint.run("list", "paintlib")
    assert paint.run("list", "paintlib", PYTHONWARNINGS="error") == plain


def test_a_backend_in_the_librarys_code_comes_with_the_library(site: Site) -> None:
    """It includes a broken one and a blocked one."""
    site.install_library(
        {
            "paintlib/_dispatch.py": """
                from spatch_core import BackendSystem

                chalk = {"name": "chalk", "primary_types": ["builtins:str"]}
                wax = {"name": "wax", "primary_types": ["builtins:bytes"]}
                bad = {"name": "bad"}
                system = BackendSystem(None, "PAINTLIB", ["builtins:int"], [chalk, wax, bad])
                """
        }
    )
    answer = site.run("list", "paintlib", PAINTLIB_BLOCK="wax")
    states = [answer.row(name)[1] for name in ("chalk", "wax", "bad")]
    assert states == ["active", "blocked", "broken"]
    assert {answer.row(name)[-1] for name in ("chalk", "wax", "bad")} == {"paint-lib 2.5"}


def test_a_library_that_cannot_be_used_is_reported(paint: Site) -> None:
    """One line has the problem, and the other libraries are shown."""
    write_distribution(
        paint.folder,
        "ink-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={"inklib.py": "raise SystemExit(3)"},
    )
    answer = paint.run("list")
    _, found = answer.output.split("library inklib (ink-lib 0.1.0, inklib = inklib:system):\n")
    assert "SystemExit: 3" in found.splitlines()[0]
    assert answer.row("oil")[1] == "active"
    assert (answer.code, answer.errors) == (1, "")
    (broken,) = paint.run("list", "inklib", "--json").json["libraries"]
    assert [broken[key] for key in ("group", "environ_prefix", "backends")] == [None, None, []]
    assert len(broken["problems"]) == 1


def test_public_names_that_cannot_be_imported_add_no_functions(paint: Site) -> None:
    """An optional part that is not usable here is not a problem."""
    (paint.folder / "paintlib" / "filters.py").write_text("import not_there", encoding="utf-8")
    answer = paint.run("list", "paintlib")
    assert answer.row("default")[3] == "0"
    assert (answer.code, answer.errors) == (0, "")


def test_a_library_that_vendors_the_package_is_listed(paint: Site) -> None:
    """The classes of its system and of its warnings are those of the copy."""
    paint.install_backend("water", FAULTY)
    file = paint.folder / "paintlib" / "_dispatch.py"
    code = file.read_text(encoding="utf-8")
    file.write_text(code.replace("from spatch_core", "from ._vendored"), encoding="utf-8")
    source: Path = paint.folder / "paintlib" / "_vendored"
    shutil.copytree(
        str(spatch_core.__path__[0]), source, ignore=shutil.ignore_patterns("__pycache__")
    )
    answer = paint.run("list", "paintlib")
    assert [row[:2] for row in answer.rows[2:5]] == [
        ["default", "active"], ["oil", "active"], ["water", "broken"],
    ]  # fmt: skip
    assert (answer.code, answer.errors) == (1, "")


NAMED = """
    from spatch_core import BackendSystem

    system = BackendSystem(
        "paintlib.backends", "PAINTLIB", ["builtins:int"], default_name="paintlib"
    )
    """


def test_every_command_shows_the_name_that_the_library_gives_itself(paint: Site) -> None:
    """F11: people see it; JSON has the name that descriptions use."""
    paint.install_library({"paintlib/_dispatch.py": NAMED})
    blur = '\n[functions."paintlib.filters:blur"]\nfunction = "paint_{}:f"\n'
    for name, top in {
        "wide": 'primary_types = ["builtins:int", "builtins:str"]',
        "over": 'primary_types = ["builtins:str"]\nhigher_priority_than = ["paintlib"]',
        "loop": 'primary_types = ["builtins:str"]\nlower_priority_than = ["default"]\n'
        'higher_priority_than = ["pool"]',
        "pool": 'primary_types = ["builtins:str"]\nhigher_priority_than = ["default"]',
    }.items():
        paint.install_backend(name, top + blur.format(name), "def f(x):\n    return x\n")
    order = paint.run("show", "paintlib").output
    assert "before paintlib" in order
    assert "default before" not in order
    doctor = paint.run("doctor", "paintlib", PAINTLIB_SET_ORDER="paintlib>wide")
    assert [row[0] for row in doctor.rows][2:4] == ["paintlib", "loop"]
    assert "loop before pool before paintlib before loop" in doctor.output
    record = paint.run("doctor", "paintlib", "--json").json["libraries"][0]
    assert "default" in [each["name"] for each in record["backends"]]
    for command in (["list", "paintlib"], ["explain", "blur", "builtins:int"]):
        cells = [cell for row in paint.run(*command).rows[1:] for cell in row]
        assert "paintlib" in cells
        assert "default" not in cells
    why_not = paint.run("explain", "blur", "builtins:str", "--why-not", "paintlib").output
    assert "\nWhy not paintlib? " in why_not
    for name in ("paintlib", "default"):
        output = paint.run("show", name, "--library", "paintlib").output
        assert output.startswith("paintlib, the library paintlib itself")
        assert "  paintlib, " in output
    assert backend_as_json(paint, "default")["state"] == "active"


def test_a_backend_that_never_runs_unasked_waits_for_prioritize(paint: Site) -> None:
    """The golden rule: the library goes first for its own types; it is active once prioritized."""
    paint.install_backend("water", WATER.replace("requires_opt_in = true", ""))
    assert paint.run("list", "paintlib").row("water")[1] == "waits for prioritize"
    assert ["state", "waits for prioritize"] in paint.run("show", "water").rows
    assert paint.run("doctor", "paintlib").row("water")[1] == "waits for prioritize"
    for variables in ({"PAINTLIB_PRIORITIZE": "water"}, {"PAINTLIB_SET_ORDER": "water>default"}):
        assert backend_as_json(paint, "water", **variables)["state"] == "active"
    first = library_as_json(paint, PAINTLIB_PRIORITIZE="water")["backends"][0]
    assert (first["name"], first["prioritized"]) == ("water", True)
