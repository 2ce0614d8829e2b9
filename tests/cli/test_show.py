"""``spatch-core show``: everything about one backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
OPT_IN = "prioritize='water', or set the environment variable PAINTLIB_PRIORITIZE=water"
WATER = f"""
    primary_types = ["~fractions:Fraction"]
    secondary_types = ["builtins:str"]
    requires_opt_in = true
    url = "https://water.example/"
    higher_priority_than = ["oil", "absent"]
    [functions.auto-generation]
    backend = "paint_water:backend"
    modules = ["paint_water.more"]
    [functions.defaults]
    should_run = "paint_water:is_wet"
    [functions."{BLUR}"]
    function = "paint_water:blur"
    uses_context = true
    additional_docs = '''
    Runs in
    all directions.'''
    [functions."paintlib.filters:blurr"]
    function = "paint_water:blur"
"""


@pytest.fixture
def studio(paint: Site) -> Site:
    """A backend with every field."""
    paint.install_backend("water", WATER)
    return paint


def test_everything_is_shown(studio: Site) -> None:
    """State, types, declarations, source and functions are shown."""
    answer = studio.run("show", "water")
    fields: dict[str, list[str]] = {}
    for row in answer.rows:
        if len(row) == 2 and row[0]:
            fields.setdefault(row[0], []).append(row[1])
    file = studio.folder / "paint_water" / "backend.toml"
    assert answer.output.startswith("water, a backend of paintlib\n")
    assert fields == {
        "FIELD": ["VALUE"],
        "state": [f"needs opt-in: {OPT_IN}"],
        "primary types": ["~fractions:Fraction"],
        "secondary types": ["builtins:str"],
        "requires opt-in": ["yes"],
        "higher_priority_than": ["oil", "absent (not followed)"],
        "lower_priority_than": ["-"],
        "documentation": ["https://water.example/"],
        "auto-generation": ["paint_water:backend, with paint_water.more"],
        "distribution": ["paint-water 1.0"],
        "entry point": ["water = paint_water:backend.toml"],
        "file": [str(file)],
    }
    assert answer.row(BLUR) == [BLUR, "paint_water:blur", "paint_water:is_wet", "yes"]
    assert f"Notes for users:\n  {BLUR}: Runs in all directions.\n" in answer.output
    assert "Not functions of the library:\n  paintlib.filters:blurr\n" in answer.output
    assert "\nOrder: default, water, oil\n" in answer.output
    edges = "It goes:\n  before oil: water declares higher_priority_than = oil\n"
    assert answer.output.endswith(f"{edges}\n2 functions; no problems\n")
    assert (answer.code, answer.errors) == (0, "")


def test_what_a_stronger_edge_overrides_is_not_followed(studio: Site) -> None:
    """The declaration is shown with this remark."""
    answer = studio.run("show", "water", "--json", PAINTLIB_SET_ORDER="oil>water").json
    assert answer["overridden"] == ["oil", "absent"]
    assert answer["before"] == []
    assert answer["after"][0]["reason"] == "PAINTLIB_SET_ORDER says oil>water"
    text = studio.run("show", "water", PAINTLIB_SET_ORDER="oil>water").output
    assert "It goes:\n  after oil: PAINTLIB_SET_ORDER says oil>water\n" in text


def test_the_library_itself_can_be_shown(studio: Site) -> None:
    """Its functions are its own."""
    answer = studio.run("show", "default", "--library", "paintlib", PAINTLIB_PRIORITIZE="default")
    assert answer.output.startswith("default, the library paintlib itself\n")
    assert answer.row(BLUR) == [BLUR, BLUR, "-", "-"]
    assert "prioritized           by the environment\n" in answer.output
    assert "Notes for users" not in answer.output
    assert answer.code == 0


def test_one_that_is_not_usable_says_why(studio: Site) -> None:
    """All faults are shown; a blocked backend is not read, and has no fault."""
    studio.install_backend("wax", 'primary_types = ["x"]\nrequires_opt_in = 1\n')
    broken = studio.run("show", "wax")
    assert "state         broken: primary_types[0]: 'x' " in broken.output
    assert "primary types" not in broken.output
    _, problems = broken.output.split("Problems\n")
    place, first, second, _, summary = problems.splitlines()
    assert place.startswith("wax (paint-wax 1.0, ")
    assert first.startswith("  primary_types[0]: ")
    assert second.startswith("  requires_opt_in: ")
    assert summary == "no functions; 2 problems"
    assert (broken.code, broken.errors) == (1, "")
    blocked = studio.run("show", "wax", PAINTLIB_BLOCK="wax")
    assert "state         blocked: " in blocked.output
    assert "PAINTLIB_BLOCK" in blocked.output
    assert (blocked.code, blocked.errors) == (0, "")


def test_of_one_name_in_several_libraries_one_has_to_be_chosen(studio: Site) -> None:
    """The error names the options."""
    write_distribution(
        studio.folder,
        "ink-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={
            "inklib.py": """
                from spatch_core import BackendSystem
                oil = {"name": "oil", "primary_types": ["builtins:str"]}
                system = BackendSystem(None, "INK", backends=[oil])
                """
        },
    )
    answer = studio.run("show", "oil")
    assert (
        "several libraries have a backend named 'oil': add --library inklib or --library paintlib"
        in answer.errors
    )
    assert (answer.code, answer.output) == (2, "")
    chosen = studio.run("show", "oil", "--library", "inklib", "--json").json
    assert (chosen["library"], chosen["distribution"], chosen["functions"]) == (
        "inklib", "ink-lib", [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["watr"], "no backend is named 'watr'; did you mean water?", id="backend"),
        pytest.param(
            ["oil", "--library", "paint"], "no library is named 'paint'; did you", id="library"
        ),
        pytest.param(["wxyz", "--library", "paintlib"], "installed are: default, ", id="far"),
    ],
)
def test_wrong_usage_is_told_in_a_line(studio: Site, arguments: list[str], message: str) -> None:
    """The line has the nearest names, if there are any."""
    answer = studio.run("show", *arguments)
    assert message in answer.errors
    assert (answer.code, answer.output) == (2, "")


def test_a_library_that_cannot_be_used_has_nothing_to_show(studio: Site) -> None:
    """The problem is shown."""
    (studio.folder / "paintlib" / "_dispatch.py").write_text("1 / 0", encoding="utf-8")
    answer = studio.run("show", "oil", "--library", "paintlib")
    assert "library 'paintlib' cannot be used" in answer.errors
    assert (answer.code, answer.output) == (1, "")


def test_conversions_and_requirements_are_shown(studio: Site) -> None:
    """The implementation of every function is shown, too; the library has its policy."""
    studio.install_backend(
        "wax",
        """
        primary_types = ["decimal:Decimal"]
        to_default = "paint_wax:there"
        from_default = "paint_wax:back"
        requires = ["click"]
        [functions."*"]
        function = "paint_wax:every"
        """,
    )
    answer = studio.run("show", "wax")
    assert "\nto_default            paint_wax:there\n" in answer.output
    assert "\nfrom_default          paint_wax:back\n" in answer.output
    assert "\nrequires              click\n" in answer.output
    assert "copy_into" not in answer.output
    assert answer.row("*") == ["*", "paint_wax:every", "-", "yes"]
    assert "Served by *:\n  paintlib.filters:blur\n  paintlib.filters:blend\n" in answer.output
    assert "\n2 functions; " in answer.output
    assert "Not functions of the library" not in answer.output
    library = studio.run("show", "default", "--library", "paintlib")
    assert "\nfallback policy       default\n" in library.output


def test_variants_and_attributes_are_shown(paint: Site) -> None:
    """D8, W6: which implementation was chosen and by what, and what serves nowhere here."""
    paint.install_backend(
        "clay",
        f"""
        primary_types = ["fractions:Fraction"]
        [attributes]
        "paintlib:white" = "paint_clay:WHITE"
        [functions."{BLUR}"]
        function = "paint_clay:blur"
        variants = [
            {{requires = "no-such-distribution", function = "paint_clay:fast"}},
            {{requires = "packaging>=20", function = "paint_clay:new"}},
        ]
        [functions."paintlib.filters:blend"]
        variants = [{{requires = "no-such-distribution", function = "paint_clay:fast"}}]
        """,
    )
    answer = paint.run("show", "clay")
    assert answer.row(BLUR)[:2] == [BLUR, "paint_clay:new (for packaging>=20)"]
    assert "Attributes:\n  paintlib:white: paint_clay:WHITE\n" in answer.output
    reason = "it requires no-such-distribution, which is not installed"
    assert (
        "Not implemented for what is installed here:\n"
        f"  paintlib.filters:blend: {reason}\n" in answer.output
    )
    record = paint.run("show", "clay", "--json").json
    (function,) = record["functions"]
    assert (function["variant"], len(function["variants"])) == ("packaging>=20", 2)
    assert record["absent"] == {"paintlib.filters:blend": reason}
    assert record["attributes"] == {"paintlib:white": "paint_clay:WHITE"}
    explained = paint.run("explain", BLUR, "fractions:Fraction").output
    assert "its variant for packaging>=20" in explained
    assert reason in paint.run("explain", "paintlib.filters:blend", "fractions:Fraction").output
    assert reason in paint.run("doctor").output


def test_the_shape_of_the_json_is_the_documented_one(studio: Site) -> None:
    """Every key, whatever the state; scripts rely on it."""
    answer = studio.run("show", "water", "--json").json
    assert answer == {
        "library": "paintlib",
        "name": "water",
        "state": "needs opt-in",
        "reason": OPT_IN,
        "primary_types": ["~fractions:Fraction"],
        "secondary_types": ["builtins:str"],
        "requires_opt_in": True,
        "higher_priority_than": ["oil", "absent"],
        "lower_priority_than": [],
        "overridden": ["absent"],
        "auto_generation": {"backend": "paint_water:backend", "modules": ["paint_water.more"]},
        "to_default": None,
        "from_default": None,
        "copy_into": None,
        "requires": [],
        "url": "https://water.example/",
        "fallback": None,
        "order": ["default", "water", "oil"],
        "before": [
            {
                "before": "water",
                "after": "oil",
                "origin": "declared",
                "declared_by": "water",
                "reason": "water declares higher_priority_than = oil",
            }
        ],
        "after": [],
        "functions": [
            {
                "function": identifier,
                "implementation": "paint_water:blur",
                "should_run": "paint_water:is_wet",
                "uses_context": uses_context,
                "additional_docs": docs,
                "variants": [],
                "variant": None,
                "is_dispatchable": uses_context,
            }
            for identifier, uses_context, docs in (
                (BLUR, True, "Runs in\nall directions."),
                ("paintlib.filters:blurr", False, ""),
            )
        ],
        "every": [],
        "attributes": {},
        "absent": {},
        "prioritized": False,
        "entry_point": "water = paint_water:backend.toml",
        "file": str(studio.folder / "paint_water" / "backend.toml"),
        "distribution": "paint-water",
        "version": "1.0",
        "problems": [],
    }
    studio.install_backend("wax", "primary_types = 1\n")
    broken = studio.run("show", "wax", "--json").json
    assert broken.keys() == answer.keys()
    unread = set(answer) - {"library", "name", "state", "reason", "prioritized", "problems"}
    unread -= {"entry_point", "file", "distribution", "version"}
    assert all(broken[key] is None for key in unread)
