"""Mistakes that newcomers make, and what they are told to write instead."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from spatch_core.examination import verify_file
from spatch_core.testing import run_python, write_distribution
from tests.cli.conftest import Site

TOML = """
name = "oil"
primary_types = ["fractions:Fraction"]
[functions."paintlib.filters:blur"]
function = "{package}:blur"
"""
CODE = """
from spatch_core import BackendImplementation

backend = BackendImplementation("oil")

def blur(x):
    return x
"""

IMPORT = "from ._dispatch import system\n"
LIBRARY_WITHOUT_TYPES = """
from spatch_core import BackendSystem

system = BackendSystem("paintlib.backends", "PAINTLIB", ["decimal:Decimal"])
"""


def examined(site: Site) -> list[Any]:
    """Return backend, message and remedy of the findings of doctor."""
    code = """
        import json
        from spatch_core.examination import examine_library

        found = examine_library("paintlib").findings
        print(json.dumps([[each.backend, each.message, each.remedy] for each in found]))
        """
    found: list[Any] = json.loads(run_python(code, path=[site.folder]).stdout)
    return found


VALUES = {
    "dotted": (
        "paint_dotted.backend.toml",
        "the entry point 'paint_dotted.backend.toml' does not name a file in a package",
        "Write 'paint_dotted:backend.toml'",
    ),
    "package": (
        "paint_package",
        "the entry point 'paint_package' names a package",
        "Write 'paint_package:backend.toml', the TOML file in the package",
    ),
    "module": (
        "paint_module.tools",
        "the entry point 'paint_module.tools' names a module",
        "Write 'paint_module:backend.toml', the TOML file in the package",
    ),
    "registry": (
        "paint_registry:backend",
        (
            "the entry point 'paint_registry:backend' names a BackendImplementation, from which "
            "`spatch-core update` writes a description"
        ),
        "Write 'paint_registry:backend.toml', the TOML file in the package",
    ),
    "misspelt": (
        "paint_mispelt:backend.toml",
        "there is no package 'paint_mispelt'",
        "Did you mean 'paint_misspelt:backend.toml'?",
    ),
}
"""For each backend, the value of its entry point, and what doctor says about it."""


def test_entry_points_that_name_something_else(site: Site) -> None:
    """One finding says what each names, and what to write."""
    site.install_library()
    for name, (value, _, _) in VALUES.items():
        package = f"paint_{name}"
        write_distribution(
            site.folder,
            f"paint-{name}",
            entry_points={"paintlib.backends": {name: value}},
            files={
                f"{package}/__init__.py": CODE,
                f"{package}/tools.py": "",
                f"{package}/backend.toml": TOML.format(package=package),
            },
        )
    expected = sorted([name, message, remedy] for name, (_, message, remedy) in VALUES.items())
    assert sorted(examined(site)) == expected
    (library,) = site.run("list", "paintlib", "--json").json["libraries"]
    problems = [[each["backend"], each["message"], each["remedy"]] for each in library["problems"]]
    assert sorted(problems) == expected
    code = "from paintlib.filters import blur; blur(1)"
    warned = run_python(code, path=[site.folder], options=["-W", "always"]).stderr
    for name in ("dotted", "package", "module", "registry"):
        assert f"{VALUES[name][1]}. {VALUES[name][2]}" in warned


@pytest.mark.parametrize(
    "group",
    [
        pytest.param("paintlib", id="without backends"),
        pytest.param("paintlib.backend", id="singular"),
        pytest.param("Paintlib_Backends", id="case and separator"),
        pytest.param("paintlb.backends", id="misspelled package"),
        pytest.param("paintlib.bakcends", id="misspelled part"),
    ],
)
def test_groups_that_resemble_the_librarys(site: Site, group: str) -> None:
    """No library reads them; groups of other programs and of other packages are no fault."""
    site.install_library()
    point = {"oil": "paint_oil:backend.toml"}
    others = ("pytest11", "console_scripts", "paintlib.plugins", "paintlib.backend_info", "paint")
    groups = {group: point, **{each: {"oil": "paint_oil:main"} for each in others}}
    write_distribution(site.folder, "paint-oil", entry_points=groups)
    write_distribution(
        site.folder,
        "printlib",
        entry_points={"printlib.backends": {"press": "printlib:backend.toml"}},
        files={"printlib/__init__.py": ""},
    )
    message = f"no library reads the entry point group {group!r}"
    assert examined(site) == [[None, message, "Write it as 'paintlib.backends'"]]
    where = "distribution paint-oil 0.1.0"
    assert f"{where}:\n  {message}. Write it as 'paintlib.backends'" in site.run("list").output


def test_pythons_own_classes_as_primary_types(site: Site) -> None:
    """A note says which calls the backend takes, unless the library lists such a class."""
    site.install_library({"paintlib/_dispatch.py": LIBRARY_WITHOUT_TYPES})
    site.install_backend("oil", 'primary_types = ["fractions:Fraction", "builtins:float"]\n')
    (found,) = examined(site)
    assert found == [
        "oil",
        (
            "the library lists none of Python's own classes: the backend takes calls like "
            "f(float), and none that has an object of the library beside it"
        ),
        "Remove 'builtins:float', unless calls like f(float) are meant",
    ]
    site.install_library()  # it lists int
    assert examined(site) == []


def test_functions_with_the_name_of_a_private_module(site: Site) -> None:
    """A note to the library's author: a public module has them, and backends name the private."""
    private = f"{IMPORT}\n@system.dispatchable('x'{{}})\ndef {{}}(x): ...\n"
    files = {
        "paintlib/__init__.py": "from ._tools import soften, sharpen",
        "paintlib/_tools.py": private.format("", "soften")
        + private.format(", module='paintlib'", "sharpen")
        + private.format("", "hidden"),
    }
    site.install_library(files)
    assert examined(site) == [
        [
            "default",
            (
                "backends must name the private module 'paintlib._tools' for functions that users "
                "import from 'paintlib': paintlib._tools:soften"
            ),
            "Write @system.dispatchable(..., module='paintlib') before backends name them",
        ]
    ]


METHODS = """
from ._dispatch import system

class Typed:
    @system.dispatchable("x", decides=True)
    def fit(self, x): ...
    @system.dispatchable("x", follows="ft")
    def predict(self, x): ...

class Bare:
    def fit(self, x): ...
    @system.dispatchable("x", follows="fit")
    def predict(self, x): ...

class Mixin:
    @system.dispatchable("x", follows="fit")
    def score(self, x): ...

class Base:
    @system.dispatchable("x", decides="fit", follows="fit")
    def partial_fit(self, x): ...

class Derived(Mixin, Base):
    @system.dispatchable("x", follows="fit")
    def predict(self, x): ...

def made():
    class Local:
        @system.dispatchable("x", follows="fit", identifier="paintlib.filters:Local.predict")
        def predict(self, x): ...

made()
"""


def test_methods_that_follow_what_no_method_decides(site: Site) -> None:
    """K7: a warning to the library's author; base classes, mixins and unknown classes count."""
    site.install_library({"paintlib/filters.py": METHODS})
    text = (
        "paintlib.filters:{}.predict follows {!r}, and no method of its class decides for it: no "
        "backend is remembered, and types decide each call"
    )
    assert examined(site) == [
        ["default", text.format("Typed", "ft"), "Write follows='fit'"],
        ["default", text.format("Bare", "fit"), "Write decides=True on that method"],
    ]


def test_the_option_type_takes_the_name_of_a_class_of_pythons(site: Site) -> None:
    """As the command line does; other classes have their modules."""
    site.install_library()
    program = """
        from paintlib._dispatch import system

        with system.backend_opts(type="int"):
            print(system.backend_opts().type)
        try:
            system.backend_opts(type="integer")
        except ValueError as error:
            print(error)
        """
    assert run_python(program, path=[site.folder]).stdout.splitlines() == [
        "<class 'int'>",
        "'integer' is not an identifier of the form 'module:qualname'",
    ]


OWN_TYPES = """
from spatch_core import BackendSystem

class Image: ...
class Mask(Image): ...

system = BackendSystem("paintlib.backends", "PAINTLIB", ["~paintlib._dispatch:Image"])
"""
WAITS = (
    "note: requires_opt_in: it waits for prioritize: the library works with all of its types "
    "itself and goes first, so it never runs unasked"
)


def test_a_backend_for_the_librarys_own_types_requires_opt_in(site: Site, tmp_path: Path) -> None:
    """Doctor and verify say so, also of a subclass that only an import shows."""
    site.install_library({"paintlib/_dispatch.py": OWN_TYPES})
    functions = '[functions."paintlib.filters:blur"]\nfunction = "{}:blur"\n'
    classes = {
        "oil": "paintlib._dispatch:Image",
        "wax": "~paintlib._dispatch:Mask",
        "ink": "paint_ink:Own",
    }
    for name, cls in classes.items():
        code = "from paintlib._dispatch import Mask\nclass Own(Mask): ...\ndef blur(x): return x\n"
        types = f'primary_types = ["{cls}"]\n'
        site.install_backend(name, f"{types}{functions.format(f'paint_{name}')}", code)
    examination = site.run("doctor", "paintlib")
    listed = site.run("list")
    for name in classes:
        assert examination.row(name)[1:3] == ["waits for prioritize", "1 note"]
        assert WAITS in site.run("verify", f"paint_{name}/backend.toml").output
    # What is listed is not imported.
    assert [listed.row(each)[1] for each in classes] == ["waits for prioritize"] * 2 + ["active"]
    # A new package says so from the start.
    new = ["new-backend", "paintlib", "chalk", "--type", classes["ink"], "--directory", tmp_path]
    assert site.run(*map(str, new)).code == 0
    (folder,) = tmp_path.glob("*-chalk")
    answer = site.run("doctor", str(folder))
    assert (answer.code, answer.output.splitlines()[-1]) == (0, "1 file: no findings")


def test_a_library_that_fails_to_import(site: Site) -> None:
    """The only finding is its error, with the line; the system's own module was imported."""
    modules = {"__init__": "from . import filters", "filters": f"{IMPORT}\nx = undefined_name"}
    site.install_library({f"paintlib/{name}.py": code for name, code in modules.items()})
    failure = (
        "library paintlib (paint-lib 2.5, paintlib = paintlib._dispatch:system):\n  {}loading "
        "'paintlib._dispatch:system' failed with NameError: name 'undefined_name' is not defined "
        f"({site.folder / 'paintlib' / 'filters.py'}:3). Repair or uninstall the distribution\n\n"
    )
    for command, severity, last in (
        ("list", "", "no backends; 1 problem\n"),
        ("doctor", "error: ", "no backends: 1 error\n"),
    ):
        answer = site.run(command)
        assert answer.output.endswith(failure.format(severity) + last)
        assert answer.code == 1
    for command, name, start in (
        ("show", "paintlip", "did you mean paintlib?"),
        ("explain", "blur", "write module:qualname."),
    ):
        errors = " ".join(site.run(command, name).errors.split())
        assert f"{start} library 'paintlib' cannot be used" in errors


def test_a_function_of_a_module_with_an_odd_name(site: Site) -> None:
    """No backend can name it, and the examination goes on."""
    code = f"{IMPORT}\ndef f(x): ...\nf.__module__ = 'paint-lib'\nsystem.dispatchable('x')(f)"
    site.install_library({"paintlib/filters.py": code})
    assert examined(site) == []


def test_a_variable_that_chooses_an_unusable_backend(site: Site) -> None:
    """Its name is ignored in calls; doctor says why."""
    site.install_library()
    types = 'primary_types = ["fractions:Fraction"]\n'
    site.install_backend("broken", "")
    site.install_backend("lacking", f'requires = ["no-such-distribution"]\n{types}')
    site.install_backend("fine", types)
    variables = {
        "PAINTLIB_PRIORITIZE": "broken,fine,shut",
        "PAINTLIB_BACKEND": "lacking",
    }
    (library,) = site.run("doctor", "--json", **variables).json["libraries"]
    found = [(e["keys"][0], e["message"]) for e in library["findings"] if e["backend"] is None]
    ignored = "so the name is ignored"
    assert found == [
        ("PAINTLIB_PRIORITIZE", "no backend is named 'shut'; the name is ignored"),
        ("PAINTLIB_PRIORITIZE", f"the backend 'broken' is broken, {ignored}"),
        ("PAINTLIB_BACKEND", f"the backend 'lacking' is inactive, {ignored}"),
    ]


def test_what_takes_too_long_may_get_more_time(site: Site, project: Path) -> None:
    """The library is not at fault."""
    site.install_library()
    with (project / "backend.toml").open("a") as stream:
        stream.write('[functions.auto-generation]\nbackend = "paint_oil:backend"\n')
    file = str(project / "backend.toml")
    for command in (("doctor", "paintlib"), ("doctor", file), ("verify", file), ("update", file)):
        output = site.run(*command, "--timeout", "0.001").output
        assert "took longer than 0.001 s and was ended" in output
        assert "Give it more time with --timeout" in output


# --- Projects that are not installed --------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder of a package with its TOML file."""
    package = tmp_path / "project" / "src" / "paint_oil"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(CODE)
    (package / "backend.toml").write_text(TOML.format(package="paint_oil").lstrip())
    return package


def said(package: Path, pyproject: str, *, imports: bool = False) -> list[str]:
    """Return message and remedy of the findings about the file, but not those about imports."""
    (package.parents[1] / "pyproject.toml").write_text(dedent(pyproject))
    report = verify_file(package / "backend.toml", imports=imports)
    return [f"{e.severity}: {e.message}. {e.remedy}" for e in report.findings if not e.is_unchecked]


POINT = """
[project]
name = "paint-oil"
[project.entry-points."{group}"]
oil = "{value}"
[build-system]
build-backend = "{backend}"
"""


@pytest.mark.parametrize(
    "value",
    [
        "paint_oil",
        "paint_oil:backend",
        "paint_oil.backend.toml",
        "paint_oil/backend.toml",
        "paint_oil:backends.toml",
    ],
)
def test_an_entry_point_that_does_not_name_the_file(project: Path, value: str) -> None:
    """The remedy is the whole line."""
    given = POINT.format(group="paintlib.backends", value=value, backend="hatchling.build")
    assert said(project, given) == [
        (
            f"error: the entry point oil = {value!r} does not name this file. Write it as: "
            "oil = 'paint_oil:backend.toml'"
        )
    ]


PACKED = "[tool.setuptools.package-data]\n"
SETUPTOOLS = "setuptools.build_meta"


@pytest.mark.parametrize(
    ("backend", "options", "files", "expected"),
    [
        (SETUPTOOLS, "", {}, "setuptools packs only Python modules"),
        (SETUPTOOLS, f'{PACKED}paint_oil = ["*.toml"]', {}, ""),
        (SETUPTOOLS, f'{PACKED}"*" = ["backend.toml"]', {}, ""),
        (SETUPTOOLS, f'{PACKED}other = ["*.toml"]', {}, "packs"),
        (SETUPTOOLS, 'requires = ["setuptools", "setuptools_scm"]', {}, ""),
        (SETUPTOOLS, "", {"MANIFEST.in": "graft src"}, ""),
        ("hatchling.build", "", {}, ""),
        ("mesonpy", "", {}, "no meson.build installs it"),
        ("mesonpy", "", {"meson.build": "py.install_sources('backend.toml')"}, ""),
    ],
)
def test_a_file_that_the_wheel_lacks(
    project: Path, backend: str, options: str, files: dict[str, str], expected: str
) -> None:
    """The build configuration says which files are packed; other files are read as texts."""
    for name, text in files.items():
        (project.parents[1] / name).write_text(text)
    value = "paint_oil:backend.toml"
    given = POINT.format(group="paintlib.backends", value=value, backend=backend)
    found = said(project, f"{given}{options}\n")
    assert len(found) == bool(expected)
    for finding in found:
        assert finding.startswith("warning: the wheel lacks this file: ")
        assert expected in finding


@pytest.mark.parametrize("group", ["paintlib.backends", "paintlib.io.backends"])
def test_a_group_without_quotes(project: Path, group: str) -> None:
    """TOML reads it as tables in tables, which are no groups."""
    value = "paint_oil:backend.toml"
    given = POINT.format(group=group, value=value, backend="hatchling.build")
    assert said(project, given.replace(f'"{group}"', group)) == [
        (
            f"error: [project.entry-points.{group}] in pyproject.toml is no group of entry points, "
            f'because its name has a dot. Write [project.entry-points."{group}"]'
        )
    ]


REGISTERING = """
[functions.auto-generation]
backend = "paint_oil:backend"
modules = ["paint_oil.tools"]
"""
TOOLS = """
from . import backend

@backend.implements("paintlib.filters:{name}")
def blur(x):
    return x
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "blurr",
            (
                "error: the library has no function 'paintlib.filters:blurr', for which "
                "'paint_oil.tools:blur' is registered. Did you mean 'paintlib.filters:blur'?"
            ),
        ),
        (
            "blend",
            (
                "note: the description lacks functions of the backend: paintlib.filters:blend. "
                "`spatch-core update` adds them"
            ),
        ),
    ],
)
def test_functions_of_the_code_and_of_the_file(
    site: Site, project: Path, name: str, expected: str
) -> None:
    """A misspelled registration is an error, as for update; then follow the differences."""
    site.install_library()
    (project / "tools.py").write_text(TOOLS.format(name=name))
    with (project / "backend.toml").open("a") as stream:
        stream.write(REGISTERING)
    path = str(project / "backend.toml")

    def told(command: str, *options: str) -> list[str]:
        (file,) = site.run(command, "--json", *options, path).json["files"]
        found = [*file["faults"], *file.get("notes", ())]
        return [f"{each['severity']}: {each['message']}. {each['remedy']}" for each in found]

    verified = told("verify")
    assert expected in verified
    assert (
        "note: the code does not register functions of the file: paintlib.filters:blur. Register "
        "them, or remove them by `spatch-core update --prune`"
    ) in verified
    assert (expected in told("update", "--check")) == expected.startswith("error")


@pytest.mark.parametrize("group", ["paintlib.backend", "paintlib"])
def test_groups_in_pyproject_that_resemble_a_librarys(
    site: Site, project: Path, group: str
) -> None:
    """The libraries that are installed are known by their functions."""
    site.install_library()
    given = POINT.format(group=group, value="paint_oil:backend.toml", backend="hatchling.build")
    (project.parents[1] / "pyproject.toml").write_text(given)
    answer = site.run("verify", str(project / "backend.toml"))
    assert (
        f": error: no library reads the entry point group {group!r}\n"
        "    help: Write it as 'paintlib.backends'\n"
    ) in answer.output
    assert answer.output.endswith("\n1 file: 1 error\n")
