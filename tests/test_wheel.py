"""Everything works from built wheels in a new environment, not only from the checkout."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path

import pytest

import spatch_core

ROOT = Path(__file__).parents[1]
MINIMAL = ROOT / "example_backends" / "minimal"
JUNK = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "tests", "*.so", ".*")

pytestmark = [
    pytest.mark.skipif(not MINIMAL.is_dir(), reason="only a checkout has what wheels are built of"),
    pytest.mark.skipif(
        importlib.util.find_spec("ensurepip") is None,
        reason="this Python cannot make an environment with pip",
    ),
]


@dataclass
class Environment:
    """An environment that has nothing of the checkout but its wheels."""

    folder: Path
    wheels: Path

    @property
    def programs(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    def run(
        self, *command: str | Path, check: bool = True, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, in its folder, away from the checkout."""
        program, *arguments = command
        found = shutil.which(str(program), path=str(self.programs))
        assert found, f"no {program} in {self.programs}"
        unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COVERAGE_PROCESS_CONFIG")
        done = subprocess.run(
            [found, *arguments],
            cwd=self.folder,
            env={name: each for name, each in os.environ.items() if name not in unwanted}
            | variables,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if check and done.returncode:
            pytest.fail(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def pip(self, *arguments: str | Path, check: bool = True) -> bool:
        """Run pip; tell whether it succeeded."""
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
        return not self.run("python", "-m", "pip", *quiet, *arguments, check=check).returncode

    def python(self, code: str) -> list[str]:
        """Run code and return the lines that it prints."""
        return self.run("python", "-c", code).stdout.splitlines()

    def wheel(self, name: str) -> zipfile.ZipFile:
        (file,) = self.wheels.glob(f"{name}-*.whl")
        return zipfile.ZipFile(file)


def copy_core(target: Path) -> None:
    """Copy what the wheel of the package is built of."""
    shutil.copytree(ROOT / "spatch_core", target / "spatch_core", ignore=JUNK)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheels of the package and of the minimal example, built and installed."""
    folder = tmp_path_factory.mktemp("wheels")
    made = Environment(folder / "environment", folder / "wheels")
    subprocess.run([sys.executable, "-m", "venv", str(made.folder)], check=True)
    requirements = ["setuptools>=77"]
    if sys.version_info < (3, 11):
        requirements.append("tomli>=2.0")
    if not made.pip("install", "--retries=0", *requirements, check=False):
        pytest.skip("no package index within reach, so that nothing can be built")

    # Copies, because building leaves files behind.
    core = folder / "core"
    copy_core(core)
    minimal = folder / "minimal"
    shutil.copytree(MINIMAL, minimal, ignore=JUNK)
    options: list[str | Path] = ["--no-deps", "--no-build-isolation", "--wheel-dir", made.wheels]
    made.pip("wheel", *options, core, minimal)
    made.pip("install", "--no-deps", *made.wheels.iterdir())
    shutil.rmtree(core)
    shutil.rmtree(minimal)
    return made


def test_the_wheel_holds_the_package_and_nothing_else(environment: Environment) -> None:
    with environment.wheel("spatch_core") as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        licenses = [name for name in wheel.namelist() if name.endswith("/licenses/LICENSE")]

    package = ROOT / "spatch_core"
    sources = {
        f"spatch_core/{each.relative_to(package).as_posix()}"
        for each in package.rglob("*.py*")
        if each.suffix in {".py", ".pyi"}
    }
    compiled = {name for name in names if name.endswith((".so", ".pyd"))}
    data = {f"spatch_core/{name}" for name in ("LICENSE", "py.typed", "backend.schema.json")}
    data |= {
        f"spatch_core/{each.relative_to(package).as_posix()}"
        for pattern in ("*.template", "shapes/*.json", "report/templates/*")
        for each in package.rglob(pattern)
    }
    assert names - compiled == sources | data
    extensions = sorted(Path(name).name.partition(".")[0] for name in compiled)
    assert extensions in ([], ["_accelerator"])
    assert len(licenses) == 1


def test_the_source_distribution_holds_the_extension(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is made where the extension is not wanted."""
    monkeypatch.setenv("SPATCH_CORE_PURE", "1")
    source = tmp_path / "source"
    copy_core(source)
    build = "import os; os.chdir({!r}); from setuptools import build_meta as b; b.build_sdist({!r})"
    environment.python(build.format(str(source), str(tmp_path)))

    (file,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {Path(name).name for name in archive.getnames()}
    assert {each.name for each in (ROOT / "spatch_core").rglob("*.c")} <= names
    assert {"backend.schema.json", "py.typed", "setup.py", "LICENSE"} <= names


def test_it_can_be_built_without_c(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extension is optional: nothing but speed is missing without a compiler."""
    source, target = tmp_path / "source", tmp_path / "target"
    copy_core(source)
    for name in ("CC", "CXX"):
        monkeypatch.setenv(name, "no-such-compiler")
    environment.pip("install", "--no-deps", "--no-build-isolation", "--target", target, source)

    assert not [*target.rglob("*.so"), *target.rglob("*.pyd")]
    lines = environment.python(
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import spatch_core\n"
        "print(spatch_core.accelerated, spatch_core.__file__)\n"
    )
    assert lines == [f"False {target / 'spatch_core' / '__init__.py'}"]


def test_the_metadata_asks_for_nothing_but_a_parser_on_old_interpreters(
    environment: Environment,
) -> None:
    with environment.wheel("spatch_core") as wheel:
        (file,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_string(wheel.read(file).decode())

    assert metadata["Name"] == "spatch-core"
    assert metadata["Version"] == spatch_core.__version__
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    needed = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert needed == ['tomli>=2.0; python_version < "3.11"']


def test_the_minimal_example_runs_from_its_wheel(environment: Environment) -> None:
    lines = environment.python(
        """
import minimal, minimal_backends, spatch_core
from decimal import Decimal
from pathlib import Path

for module in (minimal, minimal_backends, spatch_core):
    print("site-packages" in Path(module.__file__).parts)
print(minimal.sqrt(4.0), repr(minimal.sqrt(Decimal(4))))
with minimal.backend_opts(prioritize="rough"):
    print(minimal.sqrt(2.0))
for description in list(minimal.system.backends.values())[:2]:
    print(description.name, description.source.distribution, description.source.version)
print(minimal.system.problems)
"""
    )

    assert lines == [
        *["True"] * 3,
        "2.0 Decimal('2')",
        "1.414",
        "default None None",
        "precise spatch-core-minimal 0.1.0",
        "()",
    ]


def test_a_new_backend_is_built_and_installed_and_passes_its_tests_there(
    environment: Environment,
) -> None:
    """What `spatch-core new-backend` writes: a project of its own."""
    needed = ("click", "jinja2", "packaging", "pytest", "rich", "tomlkit")
    specs = [importlib.util.find_spec(name) for name in needed]
    if None in specs:
        pytest.skip(f"this needs {', '.join(needed)}")
    # The packages of this environment, behind those of the new one.
    folders = sorted({str(Path(str(spec.origin)).parents[1]) for spec in specs if spec})
    (purelib,) = environment.python("import sysconfig; print(sysconfig.get_path('purelib'))")
    behind = Path(purelib) / "behind.pth"
    behind.write_text("\n".join(folders), encoding="utf-8")
    project = environment.folder / "spatch-core-minimal-exact"
    try:
        new = ("new-backend", "minimal", "exact", "--type", "fractions:Fraction")
        printed = environment.run("python", "-m", "spatch_core", *new).stdout
        assert project.name in printed
        options = ["--no-deps", "--no-build-isolation"]
        environment.pip("wheel", *options, "--wheel-dir", environment.folder / "made", project)
        environment.pip("install", *options, *(environment.folder / "made").iterdir())
        shutil.rmtree(project / "src")
        command = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", project)
        assert "4 passed" in environment.run(*command).stdout
        environment.run("python", "-m", "spatch_core", "doctor", "minimal")
    finally:
        behind.unlink()
        environment.pip("uninstall", "--yes", project.name)


def editable(folder: Path, package: str, layout: str, setuptools: Sequence[str]) -> Path:
    """Write the source of a backend for the minimal example."""
    name = package.replace(".", "_")
    source = folder / name
    home = source.joinpath(layout, *package.split("."))
    home.mkdir(parents=True)
    (home / "code.py").write_text("def sqrt(x):\n    return __name__\n", encoding="utf-8")
    (home / "backend.toml").write_text(
        f"name = '{name}'\nprimary_types = ['builtins:str']\n"
        f"[functions.'minimal:sqrt']\nfunction = '{package}.code:sqrt'\n",
        encoding="utf-8",
    )
    lines = [
        "[build-system]",
        "requires = ['setuptools>=77']",
        "build-backend = 'setuptools.build_meta'",
        "[project]",
        f"name = '{name}'",
        "version = '0.1.0'",
        "[project.entry-points.'minimal.backends']",
        f"{name} = '{package}:backend.toml'",
        *setuptools,
    ]
    (source / "pyproject.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return home


def test_backends_are_found_where_they_are_developed(
    environment: Environment, tmp_path: Path
) -> None:
    """``pip install -e``: by a ``.pth`` file, by a finder, in a namespace package."""
    homes = {
        "in_src": editable(tmp_path, "in_src", "src", []),
        "in_the_open": editable(
            tmp_path, "in_the_open", ".", ["[tool.setuptools]", "packages = ['in_the_open']"]
        ),
        "shared_space": editable(
            tmp_path, "shared.space", ".", ["[tool.setuptools]", "packages = ['shared.space']"]
        ),
    }
    sources: list[str | Path] = [each for name in homes for each in ("-e", tmp_path / name)]
    environment.pip("install", "--no-deps", "--no-build-isolation", *sources)

    try:
        (line,) = environment.python(
            """
import json, sys
import minimal
print(json.dumps({
    "files": {
        name: description.source.file
        for name, description in minimal.system.backends.items()
        if name not in ("default", "precise", "rough")
    },
    "problems": [str(each) for each in minimal.system.problems],
    "imported": [name for name in sys.modules if name.startswith(("in_", "shared"))],
    "ran": {
        name: minimal.sqrt.invoke(backend=name)("x")
        for name in ("in_src", "in_the_open", "shared_space")
    },
}))
"""
        )
    finally:
        environment.pip("uninstall", "--yes", *homes)

    report = json.loads(line)
    assert report["problems"] == []
    files = {name: Path(file).resolve() for name, file in report["files"].items()}
    assert files == {name: (home / "backend.toml").resolve() for name, home in homes.items()}
    assert report["imported"] == []
    assert report["ran"] == {
        "in_src": "in_src.code",
        "in_the_open": "in_the_open.code",
        "shared_space": "shared.space.code",
    }
