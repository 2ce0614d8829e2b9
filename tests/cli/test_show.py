"""``spatch-core show``: everything about a library, a backend or a function."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core.testing import run_python, write_distribution

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
OPT_IN = (
    "it runs with backend_opts(prioritize='water'), or with PAINTLIB_PRIORITIZE=water in the "
    "environment"
)
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
        "state": ["needs opt-in"],
        "reason": [OPT_IN],
        "primary_types": ["~fractions:Fraction"],
        "secondary_types": ["builtins:str"],
        "requires_opt_in": ["yes"],
        "higher_priority_than": ["oil", "absent"],
        "not installed": ["absent"],
        "url": ["https://water.example/"],
        "functions.auto-generation": ["backend: paint_water:backend", "modules: paint_water.more"],
        "distribution": ["paint-water"],
        "version": ["1.0"],
        "entry point": ["water = paint_water:backend.toml"],
        "file": [str(file)],
        "order": ["default, water, oil"],
    }
    assert answer.row(BLUR) == [BLUR, "paint_water:blur", "paint_water:is_wet", "yes"]
    assert f"Notes for users:\n  {BLUR}: Runs in all directions.\n" in answer.output
    assert "Not functions of the library:\n  paintlib.filters:blurr\n" in answer.output
    assert answer.output.endswith("\n\n2 functions; no problems\n")
    assert (answer.code, answer.errors) == (0, "")


def test_what_a_stronger_edge_overrides_is_not_followed(studio: Site) -> None:
    """The declaration is shown with this remark; edges without effect are left out."""
    answer = studio.run("show", "water", "--json", PAINTLIB_SET_ORDER="oil>water").json
    assert (answer["overridden"], answer["not_installed"]) == (["oil"], ["absent"])
    assert answer["before"] == []
    assert answer["after"][0]["reason"] == "PAINTLIB_SET_ORDER says oil>water"
    assert "\nbefore " not in studio.run("show", "water").output
    (studio.folder / "paint_water" / "backend.toml").write_text(
        f'name = "water"\nprimary_types = ["fractions:Fraction"]\n{OWN}'
    )
    text = studio.run("show", "water", PAINTLIB_SET_ORDER="oil>water").output
    assert re.search(r"\nafter +oil: PAINTLIB_SET_ORDER says oil>water\n", text)


def test_the_library_itself_can_be_shown(studio: Site) -> None:
    """Its functions are its own."""
    answer = studio.run("show", "default", "--library", "paintlib", PAINTLIB_PRIORITIZE="default")
    assert answer.output.startswith("default, the library paintlib itself\n")
    assert answer.row(BLUR) == [BLUR, BLUR, "-", "-"]
    assert re.search(r"\nprioritized +yes\n", answer.output)
    assert "Notes for users" not in answer.output
    assert answer.code == 0


def test_one_that_is_not_usable_says_why(studio: Site) -> None:
    """All faults are shown; a blocked backend is not read, and has no fault."""
    studio.install_backend("wax", 'primary_types = ["x"]\nrequires_opt_in = 1\n')
    broken = studio.run("show", "wax")
    assert re.search(r"\nstate +broken\nreason +primary_types\[0\]: 'x' ", broken.output)
    assert "primary_types  " not in broken.output
    _, problems = broken.output.split("Problems\n")
    place, first, second, _, summary = problems.splitlines()
    assert place.startswith("wax (paint-wax 1.0, ")
    assert first.startswith("  primary_types[0]: ")
    assert second.startswith("  requires_opt_in: ")
    assert summary == "no functions; 2 problems"
    assert (broken.code, broken.errors) == (1, "")
    blocked = studio.run("show", "wax", PAINTLIB_BLOCK="wax")
    assert re.search(r"\nstate +blocked\n", blocked.output)
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
        pytest.param(["watr"], "nothing is named 'watr'; did you mean water?", id="backend"),
        pytest.param(
            ["oil", "--library", "paint"], "no library is named 'paint'; did you", id="library"
        ),
        pytest.param(["wxyz", "--library", "paintlib"], "known names are: default, ", id="far"),
    ],
)
def test_wrong_usage_is_told_in_a_line(studio: Site, arguments: list[str], message: str) -> None:
    """The line has the nearest names, if there are any."""
    answer = studio.run("show", *arguments)
    assert message in answer.errors
    assert (answer.code, answer.output) == (2, "")


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
    for row in (
        *(["to_default", "paint_wax:there"], ["from_default", "paint_wax:back"]),
        *(["requires", "click"], ['functions."*"', "paintlib.filters:blur"]),
    ):
        assert row in answer.rows
    assert "copy_into" not in answer.output
    assert answer.row("*") == ["*", "paint_wax:every", "-", "yes"]
    assert "\n2 functions; " in answer.output
    assert "Not functions of the library" not in answer.output
    library = studio.run("show", "default", "--library", "paintlib")
    assert ["fallback", "default"] in library.rows


def test_variants_and_attributes_are_shown(paint: Site) -> None:
    """D6, W4: which implementation was chosen and by what, and what serves nowhere here."""
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
    assert ["attributes", "paintlib:white: paint_clay:WHITE"] in answer.rows
    reason = "it requires no-such-distribution, which is not installed"
    assert ["absent", f"paintlib.filters:blend: {reason}"] in answer.rows
    record = paint.run("show", "clay", "--json").json
    (function,) = record["functions"]
    assert (function["variant"], len(function["variants"])) == ("packaging>=20", 2)
    assert record["absent"] == {"paintlib.filters:blend": reason}
    assert record["attributes"] == {"paintlib:white": "paint_clay:WHITE"}
    explained = paint.run("explain", BLUR, "fractions:Fraction").output
    assert "its variant for packaging>=20" in explained
    assert reason in paint.run("explain", "paintlib.filters:blend", "fractions:Fraction").output
    assert reason in paint.run("doctor").output


# A library: the order of its backends, and its functions

FRACTIONS = 'primary_types = ["fractions:Fraction"]\n'


def edges_of(site: Site, **variables: str) -> dict[tuple[str, str], dict[str, Any]]:
    edges = site.run("show", "paintlib", "--json", **variables).json["edges"]
    return {(each["before"], each["after"]): each for each in edges}


@pytest.fixture
def ordered(paint: Site) -> Site:
    """Backends with an edge of each kind."""
    paint.install_backend("acrylic", FRACTIONS + 'lower_priority_than = ["water"]\n' + OWN)
    paint.install_backend("water", FRACTIONS + 'higher_priority_than = ["absent"]\n' + OWN)
    return paint


OWN = f'[functions."{BLUR}"]\nfunction = "m:f"\n'


def test_each_backend_has_one_short_reason(ordered: Site) -> None:
    """P3: it is that of its strongest edge; JSON has all edges with their origins."""
    ordered.install_backend("wax", 'primary_types = ["builtins:str"]\n')
    answer = ordered.run("show", "paintlib", PAINTLIB_SET_ORDER="water>oil")
    assert answer.output.startswith(
        "paintlib: the backends in order, by name where no remark says more\n#  BACKEND  TYPES"
    )
    assert [row[1::2] for row in answer.rows[2:7]] == [
        ["default", "-"],
        ["water", "before oil: PAINTLIB_SET_ORDER says water>oil"],
        ["acrylic", "after water: acrylic declares it"],
        ["oil", "after water: PAINTLIB_SET_ORDER says water>oil"],
        ["wax", "-"],
    ]
    assert (answer.code, answer.errors) == (0, "")
    variables = "PRIORITIZE", "BLOCK", "SET_ORDER", "BACKEND", "TRACE"
    listed = ", ".join(f"PAINTLIB_{each}" for each in variables)
    assert f"\nEnvironment variables:\n  {listed}\n" in answer.output
    found = edges_of(ordered, PAINTLIB_SET_ORDER="water>oil")
    assert [(each["origin"], each["declared_by"]) for each in found.values()][:2] == [
        ("environment", None), ("declared", "acrylic"),
    ]  # fmt: skip
    mended = ordered.run("show", "paintlib").rows
    assert ["4", "oil", "fractions:Fraction", "after acrylic: wider types"] in mended


def test_edges_that_take_part_in_no_call_are_no_reasons(paint: Site) -> None:
    """P1: an edge counts only if both backends are candidates."""
    blur, higher = OWN.replace(BLUR, "paintlib:blur"), 'higher_priority_than = ["oil"]\n'
    paint.install_backend("water", FRACTIONS + higher)
    paint.install_backend("wax", FRACTIONS + "requires_opt_in = true\n" + higher + blur)
    paint.install_backend("ink", FRACTIONS + 'higher_priority_than = ["default"]\n' + blur)
    paint.install_backend("chalk", FRACTIONS + 'higher_priority_than = ["ink"]\n' + blur)
    paint.install_backend("clay", 'primary_types = ["builtins:int"]\n' + higher + OWN)
    void = {pair: each["void"] for pair, each in edges_of(paint).items()}
    assert void["water", "oil"] == "they implement no function in common"
    assert void["wax", "oil"] == "wax is inactive, or prioritized and goes first"
    assert void["clay", "oil"] == "clay waits for prioritize, and goes first there"
    assert void["ink", "default"] == (
        "the library's own go before backends that are merely installed"
    )
    assert void["chalk", "ink"] == ""
    reasons = {row[1]: row[3] for row in paint.run("show", "paintlib").rows[2:8]}
    assert reasons["wax"] == "needs opt-in"
    assert reasons["clay"] == "waits for prioritize"
    assert (reasons["water"], reasons["chalk"]) == ("-", "before ink: chalk declares it")
    assert edges_of(paint, PAINTLIB_SET_ORDER="ink>default")["ink", "default"]["void"] == ""


def test_the_order_is_the_one_in_force(ordered: Site) -> None:
    """Backends that the environment prioritizes go first, under a title of their own."""
    answer = ordered.run("show", "paintlib", "--json", PAINTLIB_PRIORITIZE="oil")
    assert answer.json["order"] == ["default", "water", "acrylic", "oil"]
    assert (answer.json["prioritized"], answer.json["environ_prefix"]) == (["oil"], "PAINTLIB")
    text = ordered.run("show", "paintlib", PAINTLIB_PRIORITIZE="oil", PAINTLIB_BLOCK="water").output
    assert "Before all:\n  oil: PAINTLIB_PRIORITIZE puts them first\n" in text
    assert "Not in the order:\n  water (blocked)\n" in text


def test_cycles_are_shown_with_what_mends_them(paint: Site) -> None:
    """Each is one problem, and one value of SET_ORDER breaks all of them."""
    for one, other in (("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")):
        paint.install_backend(one, FRACTIONS + f'higher_priority_than = ["{other}"]\n')
    answer = paint.run("show", "paintlib")
    assert "Breaks all cycles:\n  PAINTLIB_SET_ORDER='a>b,c>d'\n" in answer.output
    assert answer.output.endswith("\n\n6 backends, 2 functions; 2 problems\n")
    assert answer.code == 1
    record = paint.run("show", "paintlib", "--json").json
    assert record["order"] == ["default", "a", "b", "c", "d", "oil"]
    assert record["cycles"][0] == {
        "path": ["a", "b", "a"], "members": ["a", "b"], "set_order": "a>b",
    }  # fmt: skip
    second = paint.run("show", "b", "--json")
    assert (len(second.json["problems"]), second.code) == (1, 1)
    mended = paint.run("show", "paintlib", "--json", PAINTLIB_SET_ORDER=record["set_order"])
    assert mended.json["order"] == ["default", "a", "b", "c", "d", "oil"]
    assert (mended.json["cycles"], mended.json["set_order"], mended.code) == ([], None, 0)


def test_each_function_has_its_backends(paint: Site) -> None:
    """A backend that is asked first, one that misspells a function, and one that is broken."""
    asks = 'should_run = "m:asks"\n'
    paint.install_backend("Water", FRACTIONS + OWN + asks + OWN.replace("blur", "blend") + asks)
    paint.install_backend("wax", FRACTIONS + OWN.replace("blur", "blurr"))
    paint.install_backend("bad", "primary_types = 1\n")
    answer = paint.run("show", "paintlib")
    start = answer.rows.index(["FUNCTION", "IMPLEMENTED BY"])
    blend = "paintlib.filters:blend"
    assert answer.rows[start + 1 : start + 3] == [
        [blend, "default, Water"],
        [BLUR, "default, Water, oil"],
    ]
    assert "Not functions of the library:\n  paintlib.filters:blurr: wax\n" in answer.output
    place = f"paint-bad 1.0, {paint.folder}/paint_bad/backend.toml"
    assert f"\n\nProblems\nbad ({place}):\n  primary_types: 1 is not a list" in answer.output
    assert (answer.code, answer.errors) == (1, "")
    assert paint.run("show", "paintlib", "--json").json["functions"] == [
        {
            "function": name,
            "backends": backends,
            "asks": ["Water"] if known else [],
            "is_dispatchable": known,
        }
        for name, backends, known in (
            (blend, ["default", "Water"], True),
            (BLUR, ["default", "Water", "oil"], True),
            ("paintlib.filters:blurr", ["wax"], False),
        )
    ]


def test_functions_that_the_library_has_adopted(paint: Site) -> None:
    """T1: they are functions like its own, where a backend implements them, for every command."""
    adopting = """
        import math
        from spatch_core import BackendSystem

        system = BackendSystem("paintlib.backends", "PAINTLIB")
        system.adopt(math.fsum, "math:fsum")
        system.adopt(math.hypot, "math:hypot")
        """
    paint.install_library({"paintlib/_dispatch.py": adopting})
    code = "def f(x):\n    return 'wax'\n"
    both = (f'[functions."math:{name}"]\nfunction = "paint_wax:f"\n' for name in ("fsum", "fsun"))
    paint.install_backend("wax", FRACTIONS + "".join(both), code)
    answer = paint.run("show", "paintlib")
    assert ["math:fsum", "wax"] in answer.rows
    assert "Not functions of the library:\n  math:fsun: wax\n" in answer.output
    assert "math:hypot" not in answer.output
    shown = paint.run("show", "wax").output
    assert "Not functions of the library:\n  math:fsun\n" in shown
    explained = paint.run("explain", "math.fsum", "fractions.Fraction").output
    assert explained.startswith("math:fsum(fractions:Fraction) -> wax\n")
    verified = paint.run("verify", str(paint.folder / "paint_wax" / "backend.toml")).output
    assert "math:fsun" in verified
    assert "math:fsum" not in verified
    program = """
        import os
        from fractions import Fraction
        from paintlib._dispatch import system
        from spatch_core import hooks

        with hooks.record(os.environ["RUN"]) as recorded, system.backend_opts(hook=recorded):
            assert system.lookup("math:fsum", (Fraction,))(1) == "wax"
        """
    run_python(program, path=[paint.folder], environment={"RUN": str(paint.folder / "run.json")})
    assert paint.run("replay-check", "run.json").output.endswith("1 recorded choice: 1 same\n")


# A function


@pytest.mark.parametrize("name", ["blur", "filters.blur", "paintlib.blur", BLUR])
def test_a_function_is_shown_with_its_implementations(studio: Site, name: str) -> None:
    """Also by a part of its name that no other function has."""
    answer = studio.run("show", name)
    assert answer.output.startswith(f"{BLUR}, a function of paintlib\n")
    assert answer.row("default")[1:] == ["active", BLUR, "-", "-"]
    assert answer.row("water")[1:] == [
        "needs opt-in", "paint_water:blur", "paint_water:is_wet", "yes",
    ]  # fmt: skip
    assert "Notes for users:\n  water: Runs in all directions.\n" in answer.output
    assert answer.code == 0


def test_a_name_of_several_functions_is_wrong_usage(paint: Site) -> None:
    """The error has them all."""
    paint.install_library(
        {
            "paintlib/__init__.py": "from . import filters, more",
            "paintlib/more.py": """
                from ._dispatch import system

                @system.dispatchable("x")
                def blur(x): ...
                """,
        }
    )
    for command in ("show", "explain"):
        answer = paint.run(command, "blur")
        assert "'blur' may be each of these functions: paintlib.filters:blur, paintlib.more:" in (
            answer.errors
        )
        assert (answer.code, answer.output) == (2, "")
        assert paint.run(command, "more.blur").output.startswith("paintlib.more:blur")
