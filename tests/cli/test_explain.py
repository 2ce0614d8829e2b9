"""``spatch-core explain``: real distributions on disk, seen by fresh interpreters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
BLEND = "paintlib.filters:blend"


def test_the_first_line_answers_and_every_candidate_has_a_row(paint: Site) -> None:
    """The rows say who runs, who would be next, who would not run, and why."""
    opt_in = 'primary_types = ["fractions:Fraction"]\nrequires_opt_in = true\n'
    function = f'[functions."{BLUR}"]\nfunction = "paint_water:blur"\n'
    paint.install_backend("water", opt_in + function)
    paint.install_backend("wax", opt_in)
    answer = paint.run("explain", BLUR, "fractions:Fraction")
    assert answer.output.splitlines()[0] == f"{BLUR}(fractions:Fraction) -> oil"
    assert answer.row("oil")[1:] == ["runs", "-"]
    assert answer.row("water")[1] == "inactive"
    assert "prioritize='water'" in answer.row("water")[2]
    # Not that it requires opt-in, which would change nothing.
    assert answer.row("wax")[1:] == ["has no implementation", "-"]
    assert answer.row("default")[1:] == ["comes later", "-"]
    assert (answer.code, answer.errors) == (0, "")


def test_what_should_run_decides_is_left_open(paint: Site) -> None:
    """A should_run gets arguments, and only their types are known."""
    paint.install_backend(
        "acrylic",
        f'primary_types = ["fractions:Fraction"]\n[functions."{BLUR}"]\n'
        'function = "paint_acrylic:blur"\nshould_run = "paint_acrylic:is_thick"\n',
    )
    answer = paint.run("explain", BLUR, "fractions:Fraction")
    assert answer.output.startswith(f"{BLUR}(fractions:Fraction) -> depends on the arguments\n")
    assert answer.row("acrylic")[1:] == ["would be asked", "paint_acrylic:is_thick decides"]
    assert answer.row("oil")[1:] == ["runs", "unless one above does"]
    assert "Not decided:" in answer.output
    assert paint.run("explain", BLUR, "fractions:Fraction", "--json").json["selected"] is None


def test_backends_that_no_call_can_reach_are_named(paint: Site) -> None:
    """Users may ask why one of these does not run."""
    paint.install_backend("water", "primary_types = 1\n")
    paint.install_backend("wax", "")
    answer = paint.run("explain", BLUR, "builtins:int", PAINTLIB_BLOCK="wax")
    _, unusable = answer.output.split("Not considered:\n")
    wax, water, _, summary = unusable.splitlines()
    assert summary == "2 backends: default runs"
    assert wax.startswith("  wax (blocked): ")
    assert "PAINTLIB_BLOCK" in wax
    assert water.startswith("  water (broken): primary_types: 1 ")
    assert (answer.code, answer.errors) == (0, "")


def test_a_type_that_is_not_installed_is_stood_in_for(paint: Site) -> None:
    """A class with the same name takes its place, and the output says so."""
    paint.install_backend(
        "water",
        f'primary_types = ["absent_arrays.core:Array"]\n[functions."{BLUR}"]\n'
        'function = "paint_water:blur"\n',
    )
    answer = paint.run("explain", BLUR, "absent_arrays.core:Array")
    assert answer.row("water")[1] == "runs"
    _, note = answer.output.split("Stand-ins:\n")
    assert note.startswith("  the module absent_arrays is not installed, so a class of the same")
    assert (answer.code, answer.errors) == (0, "")
    # A driver that is missing here may exist where the program runs.
    files = {"arrays.py": "print('noise')\nimport a_missing_driver"}
    write_distribution(paint.folder, "arrays", files=files)
    answer = paint.run("explain", BLUR, "arrays:Array")
    assert "importing arrays failed with ModuleNotFoundError: No module named" in answer.output
    assert (answer.code, answer.errors) == (0, "noise\n")


def test_a_type_is_known_by_its_own_module_and_by_what_the_public_one_makes_of_it(
    paint: Site,
) -> None:
    """A class of JAX's arrays derives from the public one only after JAX is imported.

    What is blocked is not imported for that.
    """
    files = {
        "arrays_low.py": "class Base: pass\nclass Made(Base): pass\nclass Other: pass",
        "arrays.py": """
            import arrays_low
            from arrays_low import Other
            class Array: pass
            arrays_low.Made.__bases__ = (Array,)
            """,
    }
    write_distribution(paint.folder, "arrays", files=files)
    paint.install_backend(
        "water",
        'primary_types = ["~arrays:Array", "arrays:Other"]\n'
        f'[functions."{BLUR}"]\nfunction = "paint_water:blur"\n',
    )
    for given in ("arrays:Other", "arrays_low:Other"):
        answer = paint.run("explain", BLUR, given)
        assert answer.output.startswith(f"{BLUR}(arrays_low:Other) -> water\n")
    made = ("explain", BLUR, "arrays_low:Made", "--json")
    assert paint.run(*made).json["selected"] == "water"
    assert paint.run(*made, PAINTLIB_BLOCK="water").json["selected"] == "default"


def test_options_are_those_of_a_block(paint: Site) -> None:
    """They have the effect of backend_opts, and the output repeats them."""
    for name in ("water", "wax"):
        paint.install_backend(
            name,
            'primary_types = ["fractions:Fraction"]\nsecondary_types = ["builtins:int"]\n'
            f'requires_opt_in = true\n[functions."{BLUR}"]\nfunction = "paint:blur"\n',
        )

    def selected(*arguments: str) -> str:
        return str(paint.run("explain", BLUR, *arguments, "--json").json["selected"])

    fraction = "fractions:Fraction"
    assert selected(fraction) == "oil"
    assert selected(fraction, "--prioritize", "wax", "--prioritize", "water") == "wax"
    assert selected(fraction, "--disable", "oil") == "default"
    assert selected("builtins:int", "--type", fraction) == "oil"
    every = ("--prioritize", "wax", "--prioritize", "water", "--disable", "oil", "--type", fraction)
    answer = paint.run("explain", BLUR, "builtins:int", *every)
    assert answer.output.startswith(f"{BLUR}(builtins:int, {fraction}) -> wax\n")
    assert (
        "Options in force:\n  backend_opts(prioritize=['wax', 'water'], disable='oil', "
        "type=fractions.Fraction)\n" in answer.output
    )
    assert paint.run("explain", BLUR, "builtins:int", *every, "--json").json["options"] == {
        "prioritize": ["wax", "water"],
        "disable": ["oil"],
        "type": fraction,
        "fallback": None,
        "backend": None,
    }


def test_a_current_backend(paint: Site) -> None:
    """W1: also for a call without dispatch types."""
    current = paint.run("explain", BLUR, "--backend", "oil")
    assert current.output.startswith(f"{BLUR}() -> oil\n")
    assert "it is the current backend, and the types say nothing" in current.output
    assert "Options in force:\n  backend_opts(backend='oil')\n" in current.output
    record = paint.run("explain", BLUR, "builtins:bytes", "--backend", "oil", "--json").json
    assert (record["selected"], record["options"]["backend"]) == ("oil", "oil")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([BLUR, "flaot"], "'flaot' is not an identifier of the form", id="type"),
        pytest.param([BLUR, "builtins:len"], "not a type, but <built-in function", id="no type"),
        pytest.param([BLUR, "builtins:flaot"], "did you mean 'float'", id="near type"),
        pytest.param(
            ["blurr", "int"],
            f"no library has a function 'blurr'; did you mean {BLUR}",
            id="function",
        ),
        pytest.param(["paintlib.blurr", "int"], f"did you mean {BLUR}", id="dotted function"),
        pytest.param(
            ["paintlib.filters:blurr", "builtins:int"],
            f"no library has a function 'paintlib.filters:blurr'; did you mean {BLUR}",
            id="near function",
        ),
        pytest.param(
            ["paintlib.filter:blur", "builtins:int"],
            f"(the module paintlib.filter is not installed); did you mean {BLUR}",
            id="near module",
        ),
        pytest.param(
            ["builtins:len", "builtins:int"],
            "no library has a function 'builtins:len'\n",
            id="not of a library",
        ),
        pytest.param([BLUR, "--why-not", "oil"], "--why-not needs TYPE", id="no types"),
        pytest.param([BLUR, "int", "--prioritize", "oli"], "did you mean 'oil'?", id="backend"),
        pytest.param([BLUR, "--prioritize", "oli"], "did you mean 'oil'?", id="of every type"),
        pytest.param([BLUR, "int", "--type", "text"], "'text' is not an identifier", id="--type"),
        pytest.param([BLUR, "int", "--priorize", "oil"], "--prioritize", id="option"),
    ],
)
def test_wrong_usage_is_told_in_a_line(paint: Site, arguments: list[str], message: str) -> None:
    """The line has the nearest names, if there are any."""
    answer = paint.run("explain", *arguments)
    assert message in answer.errors
    assert (answer.code, answer.output) == (2, "")


def test_a_function_is_found_under_another_name(paint: Site) -> None:
    """A function is found under the name by which users import it."""
    files = {"studio.py": "from paintlib.filters import blur as soften"}
    write_distribution(paint.folder, "studio", files=files)
    answer = paint.run("explain", "studio:soften", "builtins:int")
    assert answer.output.startswith(f"{BLUR}(builtins:int) -> default\n")


@pytest.mark.parametrize(
    "arguments", [["explain", BLUR, "int"], ["show", "oil", "--library", "paintlib"]], ids=str
)
def test_a_library_that_cannot_be_used_is_told_with_the_reason(
    paint: Site, arguments: list[str]
) -> None:
    """The error is about the library, not about the function or the backend."""
    (paint.folder / "paintlib" / "_dispatch.py").write_text("1 / 0", encoding="utf-8")
    answer = paint.run(*arguments)
    assert "library 'paintlib' cannot be used (distribution paint-lib 2.5" in answer.errors
    assert "ZeroDivisionError: division by zero" in answer.errors
    assert (answer.code, answer.output) == (1, "")


@pytest.mark.parametrize("function", ["blur", "filters.blur", "paintlib.blur"])
def test_names_are_as_in_a_program(paint: Site, function: str) -> None:
    """Where they are unambiguous: of a function, and of a type, also if it is not installed."""
    types = ["fractions.Fraction", "int", "absent_arrays.other.Array"]
    answer = paint.run("explain", function, *types, "--type", "fractions.Fraction", "--json").json
    assert answer["function"] == BLUR
    assert [each["type"] for each in answer["types"]] == [
        "fractions:Fraction",
        "builtins:int",
        "absent_arrays.other:Array",
    ]
    assert answer["options"]["type"] == "fractions:Fraction"


def test_a_type_has_a_short_name_if_it_is_the_only_one(paint: Site) -> None:
    """Of the types that backends name, also for ``--type``; otherwise all are named."""
    answer = paint.run("explain", "blur", "int", "--type", "Fraction", "--json").json
    assert [each["type"] for each in answer["types"]] == ["builtins:int"]
    assert answer["options"]["type"] == "fractions:Fraction"
    assert paint.run("explain", "blur", "Fraction", "--json").json["selected"] == "oil"
    paint.install_backend("water", 'primary_types = ["paint_water:Fraction"]\n')
    answer_of_two = paint.run("explain", "blur", "Fraction")
    assert "'Fraction' may be each of these types: fractions:Fraction, paint_water:Fraction" in (
        " ".join(answer_of_two.errors.split())
    )
    assert answer_of_two.code == 2


def test_without_types_each_type_that_backends_name_has_a_row(paint: Site) -> None:
    """The row says what runs, under the options of the command."""
    paint.install_backend(
        "water",
        'primary_types = ["absent_arrays.core:Array"]\nrequires_opt_in = true\n'
        f'[functions."{BLUR}"]\nfunction = "paint_water:blur"\nshould_run = "m:ask"\n',
    )
    paint.install_backend("idle", 'primary_types = ["decimal:Decimal"]\n')
    answer = paint.run("explain", "blur")
    assert answer.row("fractions:Fraction")[1:] == ["oil", "-"]
    assert answer.row("builtins:int")[1] == answer.row("absent_arrays.core:Array")[1] == "default"
    assert "decimal:Decimal" not in answer.output
    assert "stand in:\n  absent_arrays.core:Array\n" in answer.output
    asked = paint.run("explain", "blur", "--prioritize", "water")
    row = ["depends on the arguments", "m:ask decides"]
    assert asked.row("absent_arrays.core:Array")[1:] == row
    assert "Options in force:\n  backend_opts(prioritize='water')\n" in asked.output
    refused = paint.run("explain", "blur", "--fallback", "raise", "--json").json
    (array,) = [each for each in refused["calls"] if "Array" in each["type"]]
    assert (array["selected"], array["refused"]) == (None, True)


def test_the_end_of_the_chain_is_explained(paint: Site) -> None:
    """It shows the conversions, or why the call is refused, if only the library is left."""
    paint.install_backend(
        "lazy",
        'primary_types = ["decimal:Decimal"]\n'
        'to_default = "paint_lazy:there"\nfrom_default = "paint_lazy:back"\n',
    )
    given = ("explain", BLUR, "decimal:Decimal")
    assert paint.run(*given).output.startswith(f"{BLUR}(decimal:Decimal) -> default\n")

    converted = paint.run(*given, "--fallback", "convert")
    assert converted.output.startswith(f"{BLUR}(decimal:Decimal) -> lazy\n")
    assert converted.row("lazy")[1:] == [
        "would convert",
        (
            "arguments of decimal:Decimal to builtins:int through its conversions, unless "
            "paint_lazy:there says that it cannot"
        ),
    ]
    assert "  backend_opts(fallback='convert')\n" in converted.output
    assert converted.output.endswith(": lazy would convert\n")

    refused = paint.run(*given, "--fallback", "raise")
    assert refused.output.startswith(f"{BLUR}(decimal:Decimal) -> refused\n")
    assert refused.row("default")[1:] == [
        "would refuse",
        "fallback='raise', and the library's own types do not include decimal:Decimal",
    ]
    assert "Not decided" not in refused.output
    assert refused.output.endswith(": the call is refused\n")
    record = paint.run(*given, "--fallback", "raise", "--json").json
    assert (record["selected"], record["options"]["fallback"]) == (None, "raise")
