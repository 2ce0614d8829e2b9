"""``spatch-core libraries``: which are registered, and their state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from tests.cli.conftest import Site


def library(site: Site, name: str, **variables: str) -> Any:
    libraries = site.run("libraries", "--json", **variables).json["libraries"]
    (found,) = (each for each in libraries if each["name"] == name)
    return found


def test_each_library_has_a_row(paint: Site) -> None:
    """The row has the version, the functions, and the usable backends besides the library."""
    answer = paint.run("libraries")
    assert answer.rows[0] == ["LIBRARY", "DISTRIBUTION", "FUNCTIONS", "BACKENDS", "PROBLEMS"]
    assert answer.row("paintlib")[1:] == ["paint-lib 2.5", "2", "1", "0"]
    assert (answer.code, answer.errors) == (0, "")


def test_what_is_wrong_is_told(paint: Site) -> None:
    """Problems of backends and of the library count; unusable backends do not."""
    paint.install_backend("water", "primary_types = 1\n")
    paint.install_backend("wax", "")
    write_distribution(
        paint.folder,
        "ink-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={"inklib.py": "print('noise')\nimport os\nos.system('echo more noise')\n1 / 0"},
    )
    answer = paint.run("libraries", PAINTLIB_BLOCK="wax")
    assert answer.row("paintlib")[1:] == ["paint-lib 2.5", "2", "1", "1"]
    assert answer.row("inklib")[1:] == ["ink-lib 0.1.0", "-", "-", "1"]
    _, problems = answer.output.split("Problems\n")
    ink, first, water, second, *_ = problems.splitlines()
    assert ink == "library inklib (ink-lib 0.1.0, inklib = inklib:system):"
    assert first.startswith("  loading 'inklib:system' failed with ZeroDivisionError")
    assert water == f"water (paint-water 1.0, {paint.folder}/paint_water/backend.toml):"
    assert second.startswith("  primary_types: 1 ")
    assert problems.endswith("\n\n2 libraries; 2 problems\n")
    assert sorted(answer.errors.splitlines()) == ["more noise", "noise"]
    assert answer.code == 1


def test_a_cycle_counts_once(paint: Site) -> None:
    """It counts once in the row and in the summary, although each backend on it has the problem."""
    for name, other in (("water", "wax"), ("wax", "water")):
        paint.install_backend(
            name, f'primary_types = ["a:{name}"]\nhigher_priority_than = ["{other}"]\n'
        )
    answer = paint.run("libraries")
    assert answer.row("paintlib")[-1] == "1"
    assert answer.output.endswith("\n1 library; 1 problem\n")
    assert len(library(paint, "paintlib")["problems"]) == 2


def test_the_shape_of_the_json_is_the_documented_one(paint: Site) -> None:
    """Every key; scripts rely on it."""
    assert library(paint, "paintlib") == {
        "name": "paintlib",
        "entry_point": "paintlib = paintlib._dispatch:system",
        "distribution": "paint-lib",
        "version": "2.5",
        "group": "paintlib.backends",
        "environ_prefix": "PAINTLIB",
        "functions": 2,
        "backends": 1,
        "problems": [],
    }
    (paint.folder / "paintlib" / "_dispatch.py").write_text("1 / 0", encoding="utf-8")
    broken = library(paint, "paintlib")
    keys = ("group", "environ_prefix", "functions", "backends")
    assert [broken[key] for key in keys] == [None] * 4
    assert "ZeroDivisionError" in broken["problems"][0]["message"]
