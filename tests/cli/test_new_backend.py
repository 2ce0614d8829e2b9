"""``spatch-core new-backend``: what it writes installs, and passes its own tests."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spatch_core.testing import run_python, write_distribution
from tests.cli.conftest import FUNCTIONS, ODD, TYPE, Site, create

ROOT = Path(__file__).parents[2]


def run_own_tests(site: Site, folder: Path, package: str) -> str:
    """Run a package's tests as if it were installed; return their output."""
    distribution = folder.name.replace("-", "_")
    entry_points = [
        line.replace('"', "")
        for line in (folder / "pyproject.toml").read_text().splitlines()
        if "backend.toml" in line and ":" in line
    ]
    name, _, value = entry_points[0].partition(" = ")
    write_distribution(site.folder, folder.name, entry_points={"paintlib.backends": {name: value}})
    shutil.copytree(folder / "src" / package, site.folder / package)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(folder)],
        env=site.variables({}),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{distribution}: {done.stdout}{done.stderr}"
    return done.stdout


def test_a_new_backend_passes_its_own_tests(paint: Site) -> None:
    """The output lists its files, and its function defers; `tests/typing` checks its types."""
    paint.install_library({"paintlib/filters.py": FUNCTIONS})
    answer = create(paint, "water", "--type", "fractions:Fraction")
    folder = paint.folder / "paint-lib-water"
    assert answer.code == 0
    listed = answer.output.split("Files:\n")[1].split("Next:\n")[0].split()
    found = [each for each in folder.rglob("*") if each.is_file()]
    assert sorted(listed) == sorted(each.relative_to(folder).as_posix() for each in found)
    assert "  cd paint-lib-water\n" in answer.output
    assert "Types:" not in answer.output
    readme = (folder / "README.md").read_text()
    assert (
        "for the library `paintlib` works with objects of `fractions:Fraction`. It runs" in readme
    )
    assert "python -m pip install -e '.[test]'" in readme
    assert "4 passed" in run_own_tests(paint, folder, "paint_lib_water")
    (library,) = paint.run("doctor", "paintlib", "--json").json["libraries"]
    assert [each for each in library["findings"] if each["backend"] == "water"] == []
    program = """
        from fractions import Fraction
        from paintlib._dispatch import system
        from paintlib.filters import alpha
        with system.backend_opts("water", trace=True) as trace:
            alpha(Fraction(3))
        assert "water deferred" in str(trace), trace
        """
    run_python(program, path=[paint.folder, ROOT])


@pytest.mark.parametrize("options", [[], ["--minimal"]])
def test_a_type_of_the_new_package_itself_is_defined_there(paint: Site, options: list[str]) -> None:
    """It is no dependency. An importable package of no distribution is called by its right name."""
    paint.install_library()
    (paint.folder / "loose.py").write_text("class Sheet: ...\n")
    types = "paint_lib_water:Drop", "@paint_lib_water.pools:Pool", "loose:Sheet"
    answer = create(paint, "water", *(f"--type={each}" for each in types), *options)
    assert answer.code == 0, answer.errors
    told = answer.output.split("Types:\n")[1].split("\n")[0]
    assert told.startswith("  loose is of no known distribution, so it is not among the")
    folder = paint.folder / "paint-lib-water"
    required = 'dependencies = ["paint-lib", "spatch-core"]'
    assert required in (folder / "pyproject.toml").read_text()
    assert "4 passed" in run_own_tests(paint, folder, "paint_lib_water")


@pytest.mark.parametrize("function", ["asynchronous", "streaming", "Image.blend"])
def test_other_functions_may_be_the_example(paint: Site, function: str) -> None:
    """A coroutine function, an asynchronous generator function, or a method."""
    paint.install_library({"paintlib/filters.py": ODD})
    options = ("--type", "fractions:Fraction", "--function", f"paintlib.filters:{function}")
    assert create(paint, "water", *options).code == 0
    folder = paint.folder / "paint-lib-water"
    assert "4 passed" in run_own_tests(paint, folder, "paint_lib_water")
    # By default, the example is a plain function.
    answer = create(paint, "wax", "--type", "fractions:Fraction", "--json")
    assert answer.json["function"] == "paintlib.filters:smooth"


def test_its_tests_stay_green_after_the_first_edits(paint: Site) -> None:
    """Another name, another type, another function in a new file; then ``spatch-core update``."""
    paint.install_library()
    create(paint, "water", "--type", "fractions:Fraction", "--function", "paintlib.filters:blend")
    package = paint.folder / "paint-lib-water" / "src" / "paint_lib_water"
    functions, description = package / "functions.py", package / "backend.toml"
    edited = functions.read_text().replace("def blend(", "def blended(")
    edited = edited.replace('return "it is not implemented yet"', "return True")
    functions.write_text(edited)
    (package / "more.py").write_text(
        "from ._backend import backend\n\n"
        '@backend.implements("paintlib.filters:blur")\ndef blur(x):\n    return x\n'
    )
    description.write_text(description.read_text().replace("fractions:Fraction", "decimal:Decimal"))
    code = f"""
        import runpy, sys
        sys.argv[1:] = ["update", {str(description)!r}]
        runpy.run_module("spatch_core", run_name="__main__")
        """
    run_python(code, path=[package.parent, paint.folder])
    assert "paint_lib_water.functions:blended" in description.read_text()
    assert "paint_lib_water.more:blur" in description.read_text()
    assert "5 passed" in run_own_tests(paint, package.parents[1], "paint_lib_water")


def test_a_minimal_backend_has_two_conversions_and_one_function(paint: Site) -> None:
    """It passes its own tests, and converts as soon as the conversions return something."""
    paint.install_library()
    answer = create(paint, "water", "--type", "fractions:Fraction", "--minimal")
    assert answer.code == 0
    folder = paint.folder / "paint-lib-water"
    found = [each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()]
    source = "src/paint_lib_water"
    assert sorted(found) == [
        *("README.md", "pyproject.toml", f"{source}/__init__.py", f"{source}/backend.toml"),
        *(f"{source}/py.typed", "tests/test_paint_lib_water.py"),
    ]
    assert sorted(answer.output.split("Files:\n")[1].split("Next:\n")[0].split()) == sorted(found)
    assert "4 passed" in run_own_tests(paint, folder, "paint_lib_water")
    code = paint.folder / "paint_lib_water" / "__init__.py"
    code.write_text(code.read_text().replace("return None", "return int(x)", 1))
    program = """
        from fractions import Fraction
        from paintlib._dispatch import system
        from paintlib.filters import blend
        with system.backend_opts("water", fallback="convert", trace=True) as trace:
            assert blend(Fraction(3), 1) == 3
        assert "water converted: fractions:Fraction to builtins:int" in str(trace), trace
        """
    run_python(program, path=[paint.folder, ROOT])


@pytest.mark.parametrize(
    ("option", "pattern", "message"),
    [
        ("--type", "fractions:Fracton", "'fractions' has no 'Fracton'.*Did you mean 'Fraction'?"),
        ("--type", "~math:gcd", "is not a class but of type 'builtin_function_or_method'"),
    ],
)
def test_a_type_that_can_never_match_is_refused(
    paint: Site, option: str, pattern: str, message: str
) -> None:
    """Nothing is written; a type of a package that is not installed is accepted."""
    answer = create(paint, "water", "--type", "builtins:str", option, pattern)
    assert answer.code == 2
    assert re.search(message.replace("?", "."), answer.errors.replace("\n", " "))
    assert not (paint.folder / "paint-lib-water").exists()


def test_a_backend_for_the_librarys_own_types_requires_opt_in(paint: Site) -> None:
    """Its description and README say so; it would not run unasked in any case."""
    paint.install_library()
    answer = create(paint, "water", "--type", "builtins:int")
    assert "so the backend requires opt-in" in " ".join(answer.output.split())
    folder = paint.folder / "paint-lib-water"
    description = (folder / "src/paint_lib_water/backend.toml").read_text()
    assert "requires_opt_in = true\n" in description
    assert "`PAINTLIB_PRIORITIZE=water`" in (folder / "README.md").read_text()


def test_the_next_commands_can_be_pasted(paint: Site) -> None:
    """They are not wrapped, and a folder with a space is quoted."""
    arguments = ["new-backend", "paintlib", "water", "--type", "fractions:Fraction"]
    for run, place in ((paint.run, "my new 'place'"), (paint.run_in_terminal, "other place")):
        answer = run(*arguments, "--directory", place)
        assert answer.code == 0, answer.errors
        text = re.sub(r"\x1b\[[0-9;]*m", "", answer.output)
        lines = [each.strip() for each in text.split("Next:\n")[1].splitlines()[:3]]
        assert lines[1:] == ["pip install -e '.[test]'", "pytest"]
        script = f"{lines[0]} && echo {lines[1].removeprefix('pip install -e ')}"
        done = subprocess.run(
            ["bash", "-c", script], cwd=paint.folder, capture_output=True, text=True, check=True
        )
        assert done.stdout == ".[test]\n"


def test_the_signature_is_the_librarys_own(paint: Site) -> None:
    """A placeholder stands for a default without a literal."""
    paint.install_library({"paintlib/filters.py": FUNCTIONS})
    create(paint, "water", "--type", "fractions:Fraction")
    code = (paint.folder / "paint-lib-water/src/paint_lib_water/functions.py").read_text()
    assert '@backend.implements("paintlib.filters:alpha", should_run=should_run)\n' in code
    lines = [line.strip() for line in code.partition("def alpha(\n")[2].splitlines()]
    assert lines[: lines.index(") -> Any:")] == [
        "x: Any,", "/,", "n: Any = None,", 'text: Any = "a",', "mode: Any = '\"',", "*rest: Any,",
        "scale: Any = (1, 2.5),", "one: Any = (1,),", "odd: Any = _DEFAULT,",
        "limit: Any = _DEFAULT,", "flag: Any = True,", "nested: Any = _DEFAULT,", "**more: Any,",
    ]  # fmt: skip
    assert "_DEFAULT: Any = object()" in code


def test_everything_may_be_unusual(paint: Site) -> None:
    """The name has dots, a type is not installed, and the folder is another."""
    answer = create(
        paint, "Water-Color.2", "--type", "nowhere_at_all:Type", "--type", "~click.core:Command",
        "--directory", "new/place",
    )  # fmt: skip
    assert answer.code == 0
    assert "  nowhere_at_all is not installed here, so it is not among the" in answer.output
    folder = paint.folder / "new/place/paint-lib-water-color-2"
    project = (folder / "pyproject.toml").read_text()
    assert '"Water-Color.2" = "paint_lib_water_color_2:backend.toml"' in project
    assert 'dependencies = ["paint-lib", "click", "spatch-core"]' in project
    toml = (folder / "src/paint_lib_water_color_2/backend.toml").read_text()
    assert 'primary_types = ["nowhere_at_all:Type", "~click.core:Command"]\n' in toml
    printed = run_own_tests(paint, folder, "paint_lib_water_color_2")
    assert "3 passed, 1 skipped" in printed
    assert "could not import 'nowhere_at_all'" in printed


def test_nothing_is_overwritten(paint: Site) -> None:
    """Even an empty folder is left alone."""
    types = ["--type", "fractions:Fraction"]
    (paint.folder / "paint-lib-water").mkdir()
    answer = create(paint, "water", *types)
    assert answer.code == 2
    assert "paint-lib-water exists already, and nothing is overwritten; remove it, or" in (
        answer.errors
    )
    assert [*(paint.folder / "paint-lib-water").iterdir()] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["no name", *TYPE], "'no name' cannot name a backend; use letters", id="name"),
        pytest.param(["default", *TYPE], "'default' cannot name a backend", id="default"),
        pytest.param(["é", *TYPE], "'é' cannot name a backend", id="not-ascii"),
        pytest.param(["oil", *TYPE], "has a backend named 'oil' already", id="taken"),
        pytest.param(["water", "--type", "nothing"], "'nothing' is not a type pattern", id="type"),
        pytest.param(["water"], "Missing option '--type'", id="no-type"),
        pytest.param(
            ["water", *TYPE, "--function", "paintlib.filters:blurr"],
            "has a function 'paintlib.filters:blurr'; did you mean paintlib.filters:blur",
            id="function",
        ),
        pytest.param(
            ["water", *TYPE, "--function", "blurr"],
            "has a function 'blurr'; did you mean paintlib.filters:blur?",
            id="bare-name",
        ),
        pytest.param(
            ["water", *TYPE, "--function", "paintlib.filters:equalize"],
            "no library has a function 'paintlib.filters:equalize'",
            id="unlike-any",
        ),
        pytest.param(
            ["water", *TYPE, "--function", "paintlib.filters:odd"],
            "no signature of 'paintlib.filters:odd' can be determined; choose another",
            id="signature",
        ),
    ],
)
def test_wrong_usage_is_explained(paint: Site, arguments: list[str], message: str) -> None:
    """The error has a remedy, and nothing is written."""
    odd = """
    class Odd:
        __signature__ = 1
        def __call__(self, x): ...
    system.dispatchable(None, module="paintlib.filters", qualname="odd")(Odd())
    """
    paint.install_library({"paintlib/filters.py": FUNCTIONS + odd})
    answer = create(paint, *arguments)
    assert answer.code == 2
    assert message in " ".join(answer.errors.split())
    assert [*paint.folder.glob("paint-lib-*")] == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "system = BackendSystem('inklib.backends', 'I')",
            "no signature of a function of 'inklib' can be",
        ),
        ("system = BackendSystem(None, 'I')", "has no entry point group"),
        ("system = 1", "is not a BackendSystem"),
    ],
)
def test_a_library_that_takes_no_backends_is_reported(site: Site, code: str, message: str) -> None:
    """It has no group, no functions, or no system."""
    write_distribution(
        site.folder,
        "ink-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={"inklib.py": f"from spatch_core import BackendSystem\n{code}\n"},
    )
    answer = create(site, "water", *TYPE, library="inklib")
    assert answer.code in (1, 2)
    assert message in " ".join(answer.errors.split())
