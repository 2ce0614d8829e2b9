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


def test_groups_that_resemble_the_librarys(site: Site) -> None:
    """No library reads them; groups of other programs are no fault."""
    site.install_library()
    write_distribution(
        site.folder,
        "paint-oil",
        entry_points={
            "paintlib.backend": {"oil": "paint_oil:backend.toml"},
            "pytest11": {"oil": "paint_oil"},
        },
    )
    message = "no library reads the entry point group 'paintlib.backend'"
    assert examined(site) == [[None, message, "Write it as 'paintlib.backends'"]]


def test_a_group_of_another_package_is_no_misspelling(site: Site) -> None:
    """Libraries may have similar names, and each has its own backends."""
    site.install_library()
    write_distribution(
        site.folder,
        "printlib",
        entry_points={"printlib.backends": {"press": "printlib:backend.toml"}},
        files={"printlib/__init__.py": ""},
    )
    (library,) = site.run("doctor", "paintlib", "--json").json["libraries"]
    assert library["findings"] == []


def test_a_cycle_is_one_finding(site: Site) -> None:
    """Not one for each backend on it."""
    site.install_library()
    for name, other in (("oil", "wax"), ("wax", "oil")):
        site.install_backend(
            name,
            f'primary_types = ["fractions:Fraction"]\nhigher_priority_than = ["{other}"]\n',
        )
    assert len(examined(site)) == 1


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


@pytest.mark.parametrize(
    ("backend", "options", "expected"),
    [
        ("setuptools.build_meta", "", "setuptools packs only Python modules"),
        ("setuptools.build_meta", '[tool.setuptools.package-data]\npaint_oil = ["*.toml"]', ""),
        ("setuptools.build_meta", '[tool.setuptools.package-data]\n"*" = ["backend.toml"]', ""),
        ("setuptools.build_meta", '[tool.setuptools.package-data]\nother = ["*.toml"]', "packs"),
        ("setuptools.build_meta", 'requires = ["setuptools", "setuptools_scm"]', ""),
        ("hatchling.build", "", ""),
        ("hatchling.build", '[tool.hatch.build]\nexclude = ["*.toml"]', "tool.hatch.build.exclude"),
        (
            "hatchling.build",
            '[tool.hatch.build.targets.wheel]\nexclude = ["/src/paint_oil/backend.toml"]',
            "tool.hatch.build.targets.wheel.exclude",
        ),
        ("flit_core.buildapi", "", ""),
        ("poetry.core.masonry.api", '[tool.poetry]\nexclude = ["**/*.toml"]', "poetry.exclude"),
        ("uv_build", '[tool.uv.build-backend]\nwheel-exclude = ["*.toml"]', "wheel-exclude"),
        ("mesonpy", "", "no meson.build installs it"),
    ],
)
def test_a_file_that_the_wheel_lacks(
    project: Path, backend: str, options: str, expected: str
) -> None:
    """The build configuration says which files are packed."""
    value = "paint_oil:backend.toml"
    given = POINT.format(group="paintlib.backends", value=value, backend=backend)
    found = said(project, f"{given}{options}\n")
    if not expected:
        assert found == []
        return
    (finding,) = found
    assert finding.startswith("warning: the wheel lacks this file: ")
    assert expected in finding


@pytest.mark.parametrize("installs", [True, False])
def test_a_file_that_another_configuration_packs(project: Path, installs: bool) -> None:
    """MANIFEST.in of setuptools, and meson.build, are read as texts."""
    value = "paint_oil:backend.toml"
    backend = "mesonpy" if installs else "setuptools.build_meta"
    name = "meson.build" if installs else "MANIFEST.in"
    text = "py.install_sources('backend.toml')" if installs else "graft src"
    (project.parents[1] / name).write_text(text)
    given = POINT.format(group="paintlib.backends", value=value, backend=backend)
    assert said(project, given) == []


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
    code = f"""
        from spatch_core.examination import update_file, verify_file

        for each in verify_file({str(project / "backend.toml")!r}).findings:
            print(f"{{each.severity}}: {{each.message}}. {{each.remedy}}")
        for each in update_file({str(project / "backend.toml")!r}, check=True).faults:
            print(f"update {{each.severity}}: {{each.message}}. {{each.remedy}}")
        """
    lines = run_python(code, path=[site.folder]).stdout.splitlines()
    assert expected in lines
    assert (f"update {expected}" in lines) == expected.startswith("error")
    assert (
        "note: the code does not register functions of the file: paintlib.filters:blur. Register "
        "them, or remove them by `spatch-core update --prune`"
    ) in lines


def test_groups_in_pyproject_that_resemble_a_librarys(site: Site, project: Path) -> None:
    """The libraries that are installed are known by their functions."""
    site.install_library()
    given = POINT.format(
        group="paintlib.backend", value="paint_oil:backend.toml", backend="hatchling.build"
    )
    (project.parents[1] / "pyproject.toml").write_text(given)
    code = f"""
        from spatch_core.examination import verify_file

        for each in verify_file({str(project / "backend.toml")!r}).findings:
            print(f"{{each.severity}}: {{each.message}}. {{each.remedy}}")
        """
    assert run_python(code, path=[site.folder]).stdout.splitlines() == [
        (
            "error: no library reads the entry point group 'paintlib.backend'. Write it as "
            "'paintlib.backends'"
        )
    ]
