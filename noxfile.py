"""Every check of the project, as sessions of nox; ``nox --list`` lists them.

    nox -s lint core-3.12                        # two of them
    nox -s core-3.12 -- tests/state -x           # arguments for pytest, in the sessions "core"

`python3 tools/check.py` makes an environment with nox and runs the quick sessions; with `--all`,
all of them. Environments and wheels are kept in .check/; a step reinstalls only changed
distributions.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import nox
from nox.command import CommandFailed

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))

from _environments import ROOT, VERSIONS, build_wheel, example_folders, find_interpreters
from _summary import summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FOLDER = ROOT / ".check"


def programs_of(session: str) -> Path:
    """Return the folder of the programs of a session's environment."""
    name = session.replace(".", "-")
    return FOLDER / "environments" / name / ("Scripts" if os.name == "nt" else "bin")


EVERYTHING = "everything"
"""The session whose environment has the examples and their dependencies."""
REPORTS = TemporaryDirectory(prefix="spatch-core-")

INTERPRETERS = find_interpreters()
if not INTERPRETERS:
    sys.exit(f"This needs CPython {VERSIONS[0]} to {VERSIONS[-1]}")
OLDEST = next(iter(INTERPRETERS))
# This Python runs the tests that run on one Python only.
MAIN = next(each for each in ("3.13", "3.12", "3.14", "3.11", "3.10") if each in INTERPRETERS)

PROCESS_TESTS = ("cli", "examination", "testing", "test_migration.py", "test_wheel.py")
"""Tests that start many processes: the main Python runs all of them, the oldest Python a part."""
SAMPLED_TESTS = (
    "property",
    "function/test_acceleration_stress.py",
    "test_forks.py",
    "test_newcomers.py",
)
"""Tests with many samples, processes or threads. Only the main Python runs them: all of them with
its C extension, and those that start no process also without it."""
PURE_TESTS = (
    *("property/test_explained.py", "property/test_resolution.py"),
    *("property/test_state.py", "property/test_switch.py"),
)
"""Of the tests with random samples, those of calls: what else they state does not depend on C."""
TOOL_TESTS = ("tools", "typing")
"""Tests of the tools and of the types. Only the main Python runs them, those of the types in the
session `types`."""
OLDEST_TESTS = (
    *("cli/test_list.py", "cli/test_schema.py", "examination/test_examination.py"),
    *("test_migration.py", "testing/test_kit.py"),
)
"""The part of `PROCESS_TESTS` that the oldest Python runs: some of each kind."""
INTERPRETER_TESTS = (
    *("call", "function", "protocols", "state", "switching"),
    "test_interrupts.py",
)
"""Tests of behaviour that differs between Pythons: frames, code, threads and interrupts. The
Pythons between the oldest and the main one run these."""
CALL_TESTS = (*("resolution", "test_failures.py", "test_hooks.py", "test_scale.py"),)
"""Further tests of calls, which the main Python runs without its C extension."""
SAMPLES = {
    **dict.fromkeys(("scipy-dispatch-dask", "scipy-dispatch-jax"), 20),
    **dict.fromkeys(("scipy-dispatch", "skimage-dispatch"), 4),
    **{f"scipy-dispatch-{name}": 4 for name in ("cupy", "opencv", "threads", "torch", "xarray")},
}
"""Examples whose parametrized tests go through all functions of a library, and one of how many of
them runs, always the same ones; `nox -s examples torch -- whole` runs all. The tests of
networkx-dispatch and tensorly-dispatch are those of the libraries themselves, and all run."""
QUICK = [f"--ignore=tests/{name}" for name in (*PROCESS_TESTS, *SAMPLED_TESTS, *TOOL_TESTS)]
UNMEASURED = (
    *("tools", "function/test_acceleration_stress.py", "test_forks.py", "test_free_threads.py"),
    *("test_import.py", "test_interrupts.py", "test_migration.py", "test_newcomers.py"),
    *("test_vendoring.py", "test_wheel.py"),
)
"""Tests that run without measuring coverage: they end processes, start many threads or
interpreters, or do not test the package as it is installed."""
MEASURED = ("tests", "--ignore=tests/typing", *(f"--ignore=tests/{each}" for each in UNMEASURED))

TIME_LIMIT = ("-o", "faulthandler_timeout=600", "-o", "faulthandler_exit_on_timeout=true")
"""After 600 seconds, a test that hangs fails, and the stacks of its threads are shown."""

PYODIDE_UNAVAILABLE = 77
"""The exit code of tools/pyodide_tests/in_pyodide.py if Pyodide cannot be fetched."""

nox.needs_version = ">=2025.11.12"
nox.options.envdir = str(FOLDER / "environments")
nox.options.reuse_venv = "yes"
nox.options.report = str(Path(REPORTS.name) / "nox.json")
nox.options.download_python = "never"
# uv installs in a tenth of the time; tools/check.py installs it too, if it can.
nox.options.default_venv_backend = "uv|virtualenv"

# Variables that would change the results of tests. PYTHONDONTWRITEBYTECODE would make thousands
# of processes compile every module that they import.
_UNWANTED = re.compile(
    r"PYTHON(PATH|HOME|WARNINGS|STARTUP|DONTWRITEBYTECODE)|VIRTUAL_ENV|(SCIPY_DISPATCH|SKIMAGE_DISPATCH|SPATCH_CORE|TENSORLY)_.*"
)
for _name in filter(_UNWANTED.fullmatch, list(os.environ)):
    del os.environ[_name]
# The second variable makes nox recreate an environment after its interpreter has changed.
os.environ |= {"PYTHONUTF8": "1", "NOX_ENABLE_STALENESS_CHECK": "1"}


class Step:
    """The commands of a session. Each command runs, also after another one has failed."""

    def __init__(self, session: nox.Session, version: str, programs: Path) -> None:
        self.session = session
        self.version = version
        self.programs = programs
        self.failed: list[str] = []

    def install(
        self, folders: Iterable[Path] = (), *, groups: Sequence[str] = (), extras: str = ""
    ) -> None:
        """Install wheels of this checkout and dependency groups, if anything has changed."""
        target = FOLDER / "wheels" / self.version
        folders = list(folders)
        with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            built = pool.map(lambda each: build_wheel(self.python, each, target), folders)
            wheels = dict(zip(folders, built, strict=True))
        requirements = [
            f"spatch-core{extras} @ {wheel.as_uri()}" if folder == ROOT else str(wheel)
            for folder, wheel in wheels.items()
        ]
        arguments = [*(f"--group={name}" for name in groups), *requirements]
        projects = [(each / "pyproject.toml").read_text() for each in (ROOT, *wheels)]
        wanted = hashlib.sha256("\n".join([*arguments, *projects]).encode()).hexdigest()
        stamp = self.programs.parent / "installed"
        reused = stamp.exists()
        if reused and stamp.read_text() == wanted:
            return
        self.session.log(
            f"install {', '.join([*groups, *(each.name for each in wheels.values())])}"
        )
        self.session.install("--no-compile", *arguments, log=False)
        if reused and requirements:
            # Without this, pip keeps an installed wheel of the same version.
            options = ["--no-compile", "--no-deps", "--force-reinstall"]
            self.session.install(*options, *requirements, log=False)
        stamp.write_text(wanted)

    @property
    def python(self) -> str:
        return str(self.programs / "python")

    def run(
        self,
        program: str,
        *arguments: str | Path,
        folder: Path = ROOT,
        variables: dict[str, str] | None = None,
        says: str = "",
        code: int = 0,
        quiet: bool = False,
    ) -> None:
        """Run a program of the environment; note when it fails or does not print `says`.

        With `quiet` or `says`, its output is shown only when it fails.
        """
        command = [str(self.programs / program), *map(str, arguments)]
        self.session.log(" ".join(command))
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PATH": path, **(variables or {})},
            stdout=subprocess.PIPE if quiet or says else None,
            stderr=subprocess.STDOUT if quiet or says else None,
            encoding="utf-8",
            check=False,
        )
        output = done.stdout or ""
        if done.returncode != code:
            self.session.warn(f"{' '.join(command)} ended with {done.returncode}:\n{output}")
        elif says not in output:
            self.session.warn(f"{' '.join(command)} did not print {says!r}:\n{output}")
        else:
            return
        self.failed.append(program)

    def run_together(self, *tasks: Callable[[], None]) -> None:
        """Run programs of one thread each on all cores; those that take longest come first."""
        with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            for each in [pool.submit(task) for task in tasks]:
                each.result()

    def pytest(
        self,
        title: str,
        *arguments: str | Path,
        folder: Path = ROOT,
        variables: dict[str, str] | None = None,
        shared: str = "worksteal",
    ) -> None:
        """Run pytest on all cores, or in one process if none are `shared`.

        Its counts go into the summary.
        """
        cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
        workers = max(2, min(cores, 8))
        together = [f"-n{workers}", f"--dist={shared}"] if shared else ["-n0"]
        report = Path(REPORTS.name) / self.session.name / f"{title}.xml"
        options = ["-q", *together, f"--junitxml={report}", *TIME_LIMIT]
        # The command, not `python -m`, which would put this checkout before the wheels.
        self.run(
            "pytest",
            *(*options, *arguments),
            folder=folder,
            variables=variables,
            quiet=not shared,
        )

    def example(self, name: str, *arguments: str) -> None:
        """Run the tests of an example, and its README, in one process: all of them, or a part."""
        every = 1 if "whole" in self.session.posargs else SAMPLES.get(name, 1)
        self.pytest(
            *(name, "-p", "part_of_tests", f"--every={every}", *arguments),
            folder=ROOT / "example_backends" / name,
            variables={"PYTHONPATH": str(ROOT / "tools")},
            shared="",
        )


def step(
    title: str,
    *,
    name: str = "",
    version: str = MAIN,
    requires: Sequence[str] = (),
    environment: str = "",
    default: bool = True,
    quick: bool = False,
    backend: str | None = None,
) -> Callable[[Callable[[Step], None]], None]:
    """Register a function as a session.

    It has its own environment, made by `backend`, or with `environment` that of the session of
    this name. With `default=False` it runs only if it is named. With `quick`, it is one of those
    that `tools/check.py` runs without `--all`.
    """

    def register(function: Callable[[Step], None]) -> None:
        def run(session: nox.Session) -> None:
            programs = programs_of(environment) if environment else Path(session.bin)
            step = Step(session, version, programs)
            function(step)
            if step.failed:
                session.error(f"failed: {', '.join(step.failed)}")

        run.__doc__ = title
        register_session = nox.session(
            name=name or function.__name__.replace("_", "-"),
            python=False if environment else INTERPRETERS[version],
            requires=[environment] if environment else requires,
            default=default,
            tags=["quick"] if quick else [],
            venv_backend=backend,
        )
        register_session(run)

    return register


@step("ruff: rules and format", quick=True)
def lint(step: Step) -> None:
    step.install(groups=["lint"])
    step.run("ruff", "check", ".")
    step.run("ruff", "format", "--check", "--diff", ".")


@step("import-linter: each module imports only from those below", quick=True)
def imports(step: Step) -> None:
    step.install(groups=["lint"])
    step.run("lint-imports")


@step("mypy --strict and pyright, of all but the examples", quick=True)
def types(step: Step) -> None:
    step.install([ROOT], groups=["test", "types"], extras="[cli]")
    checked = ("spatch_core", "tools", "tests", "docs", "conftest.py", "noxfile.py")
    step.run_together(
        partial(step.run, "mypy", *checked, quiet=True),
        partial(step.run, "pyright", "--pythonpath", step.python, quiet=True),
    )
    step.pytest("typing", "-m", "", "tests/typing")


def run_parts(step: Step, parts: list[list[str]], **variables: str) -> None:
    """Run pytest with each of these arguments, or once with those of the command line."""
    posargs = step.session.posargs
    for number, part in enumerate([posargs] if posargs else parts):
        step.pytest(f"core-{number}", "-m", "", *part, variables=variables)


def core(version: str) -> None:
    """Add the tests of spatch_core on one Python."""
    title = f"tests of spatch_core on Python {version}"
    name = f"core-{version}"
    environment = ""
    parts = [["tests", *QUICK]]
    if version == MAIN:
        title += ", with coverage of lines"
        environment = "main"
        parts = [
            [*MEASURED, "--cov", "--cov-report=term"],
            [f"tests/{each}" for each in UNMEASURED],
        ]
    elif version == OLDEST:
        title += ", with a part of the tests of the command line"
        # A separate run: pytest collects nothing in a folder that it is told to ignore.
        parts.append([f"tests/{each}" for each in OLDEST_TESTS])
    else:
        title += ": behaviour that depends on the interpreter"
        parts = [[*(f"tests/{each}" for each in INTERPRETER_TESTS), *QUICK]]

    @step(title, name=name, version=version, environment=environment)
    def tests(step: Step) -> None:
        if not environment:
            step.install([ROOT], groups=["test"], extras="[cli]")
        run_parts(step, parts)

    if version == MAIN and version not in ("3.10", "3.11"):  # which have no C extension
        title = f"tests of spatch_core without its C extension on Python {version}"

        @step(title, name=f"{name}-pure", version=version, environment="main")
        def pure(step: Step) -> None:
            # The oldest Python, which has no C extension, runs the other tests.
            tests = [f"tests/{each}" for each in (*INTERPRETER_TESTS, *CALL_TESTS, *PURE_TESTS)]
            stress = "--ignore=tests/function/test_acceleration_stress.py"
            run_parts(step, [[*tests, stress]], SPATCH_CORE_PURE="1")


@step("install the dependencies of the tests on the main Python, for the sessions that use them")
def main(step: Step) -> None:
    # The benchmarks compare with packages that must not be installed beside the examples: SciPy
    # uses uarray.
    step.install([ROOT], groups=["test", "bench"], extras="[cli]")


@step(
    "the tests that are not slow, as `pytest` runs them, and those of calls without C",
    environment="main",
    quick=True,
    default=False,
)
def quick(step: Step) -> None:
    step.pytest("quick", shared="loadfile")  # a worker runs a whole page of the docs
    calls = [f"tests/{each}" for each in (*INTERPRETER_TESTS, *CALL_TESTS)]
    step.pytest("quick-pure", *calls, variables={"SPATCH_CORE_PURE": "1"})


for _version in INTERPRETERS:
    core(_version)


@step(
    "the gate: the tests that use nothing private of spatch_core, with and without C; "
    "`-- --core FOLDER` runs them on the spatch_core in that folder",
    environment="main",
    default=False,
)
def gate(step: Step) -> None:
    folders, arguments = [str(ROOT / "tools")], [*step.session.posargs]
    if "--core" in arguments:
        place = arguments.index("--core")
        _, core = arguments[place : place + 2]
        del arguments[place : place + 2]
        folders.insert(0, str(Path(core).resolve()))
    variables = {"PYTHONPATH": os.pathsep.join(folders)}
    for title, more in (("gate", {}), ("gate-pure", {"SPATCH_CORE_PURE": "1"})):
        part = arguments or ["tests"]
        step.pytest(title, "-p", "gate", "-m", "", *part, variables=variables | more)


@step(f"branch coverage on Python {MAIN}: only on request", environment="main", default=False)
def branches(step: Step) -> None:
    # Before Python 3.14, coverage counts branches with a trace function: it takes twice the time.
    variables = {"COVERAGE_CORE": "ctrace"}
    step.pytest(
        *("branches", "-m", "", *MEASURED, "--cov", "--cov-branch", "--cov-report=term"),
        variables=variables,
    )


@step("install the examples and their dependencies, for the sessions that use them")
def everything(step: Step) -> None:
    groups = ["examples", "docs", "demo"]
    step.install([ROOT, *example_folders()], groups=groups, extras="[cli]")


@step("tests of the small examples", environment=EVERYTHING, quick=True, default=False)
def small_examples(step: Step) -> None:
    names = ("duck-array", "minimal", "minimal-type")
    step.run_together(*(partial(step.example, name) for name in names))


@step("types and tests of the example library and backends", environment=EVERYTHING)
def examples(step: Step) -> None:
    sources = [str(folder / "src") for folder in example_folders()]
    # The packages that `tools` and `docs` import are installed here, but not in that of "types".
    checked = [*sources, "tools", "docs"]
    path = {"MYPYPATH": os.pathsep.join(sources)}
    # These tests need packages that the environments of the core lack.
    tools = [f"tests/tools/test_{name}.py" for name in ("real_work", "scipy_tests")]
    others = ["tests/test_estimators.py"]
    tested = [each.name for each in example_folders() if (each / "tests").exists()]
    tested.sort(key=lambda name: -SAMPLES.get(name, 9))  # those of all functions take longest
    step.run_together(
        *(partial(step.example, name) for name in tested),
        partial(step.run, "mypy", *checked, variables=path, quiet=True),
        partial(step.pytest, "tools", "-m", "", *others, *tools, shared=""),
    )


if OLDEST <= "3.12":  # the last Python that the oldest supported JAX has wheels for

    @step(
        "tests of the backends for JAX and Dask with the oldest supported releases of these",
        version=OLDEST,
    )
    def examples_older(step: Step) -> None:
        names = (
            "scipy-dispatch",
            *(f"scipy-dispatch-{each}" for each in ("dask", "jax", "threads")),
        )
        folders = [folder for folder in example_folders() if folder.name in names]
        step.install([ROOT, *folders], groups=["older"], extras="[cli]")
        # Only the newest releases run the sampled settings and the tests of memory.
        newest = ("cuts", "interpolation", "measurements", "memory")
        left_out = [f"--ignore=tests/test_{each}.py" for each in newest]
        tested = ("scipy-dispatch-jax", "scipy-dispatch-dask")
        step.run_together(*(partial(step.example, name, *left_out) for name in tested))


if "3.11" in INTERPRETERS:
    # With pip: its configuration may say where PyTorch lies, and uv does not read that.
    @step("types and tests of the examples that need PyTorch", version="3.11", backend="virtualenv")
    def torch(step: Step) -> None:
        folders = [
            ROOT / "example_backends" / each
            for each in (
                "torch-device",
                "torch-device-jit",
                "scipy-dispatch",
                "scipy-dispatch-torch",
                "tensorly-dispatch",
            )
        ]
        for each in (ROOT, *folders):  # a failure here has nothing to do with PyTorch
            build_wheel(step.python, each, FOLDER / "wheels" / step.version)
        try:
            step.install([ROOT, *folders], groups=["torch"], extras="[cli]")
        except CommandFailed:
            step.session.skip("PyTorch cannot be installed here")
        sources = [str(each / "src") for each in folders]
        checked = (*sources[:2], sources[3])
        path = {"MYPYPATH": os.pathsep.join(sources)}
        description = folders[3] / "src" / "scipy_dispatch_torch" / "backend.toml"
        update = ("spatch-core", "update", "--check", "--prune", description)
        # A test starts the tests of each device in a separate process; JAX's takes longest, so that
        # it runs beside all others.
        longest = "tests/test_devices.py::test_device[jax]"
        others = ("tests", "--ignore=tests/device", f"--deselect={longest}")
        every = {"EVERY": "1"} if "whole" in step.session.posargs else {}
        device = partial(step.pytest, folder=folders[0], variables=every, shared="")
        step.run_together(
            partial(device, "torch-device", *others),
            partial(device, "torch-device-jax", longest),
            lambda: step.example("torch-device-jit"),
            lambda: step.example("scipy-dispatch-torch"),
            lambda: step.run("mypy", *checked, variables=path, quiet=True),
            lambda: step.run(*update, quiet=True),
        )
        core = [
            "tests/protocols/test_torch_function.py",
            "docs/how-to/coming-from-array-function.md",
        ]
        # The blocks of a page run in one worker.
        step.pytest("torch", "-m", "", *core, shared="loadfile")


@step(
    "a part of the tests of spatch_core in Pyodide: CPython 3.14, without C and without threads",
    backend="virtualenv",  # with the pip that installs for Pyodide
)
def pyodide(step: Step) -> None:
    step.install(groups=["pyodide"])
    part = ["--every=8", *(f"tests/{name}" for name in ("call", "state", "switching"))]
    if "whole" in step.session.posargs:
        part = []
    try:
        step.session.run(step.python, "tools/pyodide_tests/in_pyodide.py", *part)
    except CommandFailed as error:
        if str(error).endswith(f"code {PYODIDE_UNAVAILABLE}"):
            step.session.skip("Pyodide is not available here")
        step.failed.append("pyodide_tests")


@step(
    "spatch-core update, verify and doctor, and the generated tables, of the example backends",
    environment=EVERYTHING,
    quick=True,
)
def backends(step: Step) -> None:
    files = sorted(file for each in example_folders() for file in each.glob("src/**/*.toml"))
    # Other files are written by hand.
    generated = [each for each in files if "auto-generation" in each.read_text(encoding="utf-8")]
    commands: list[Sequence[str | Path]] = [
        ("spatch-core", "update", "--check", "--prune", *generated),
        ("spatch-core", "verify", *files),
        ("spatch-core", "doctor"),
        ("python", "tools/agreement.py", "--check"),
    ]
    step.run_together(
        *(partial(step.run, str(first), *others, quiet=True) for first, *others in commands)
    )


@step(
    "code blocks of the docs and examples of docstrings as tests, then the pages with Sphinx",
    environment=EVERYTHING,
)
def docs(step: Step) -> None:
    # The tests of docstrings need numpydoc, which the environments of the core lack.
    parts = ["README.md", "docs", "tests/test_docs.py", "tests/function/test_dispatchable.py"]
    parts += ["tests/sphinx"]
    # The blocks of a page run in one worker.
    step.pytest("docs", "-m", "", *parts, shared="loadfile")
    step.pytest("docstrings", "--doctest-modules", "--pyargs", "spatch_core")
    sphinx = ["-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-j", "auto", "-b", "html"]
    step.run("python", *sphinx, "docs", FOLDER / "docs")


@step(
    "the page of spatch-core report, and the docs with the live tutorial, in Chromium",
    requires=[EVERYTHING],
)
def browser(step: Step) -> None:
    if shutil.which("chromium") is None:
        step.session.skip("there is no program chromium")
    try:
        step.install([ROOT], groups=["browser", "pyodide"], extras="[cli]")
    except CommandFailed:
        step.session.skip("Playwright cannot be installed here")
    pages = FOLDER / "docs"
    python = programs_of(EVERYTHING) / "python"
    # The programs of this environment are on the path, because Node.js fetches Pyodide.
    step.run(str(python), "-m", "sphinx", "-q", "-j", "auto", "docs", pages, quiet=True)
    # In two workers, each with a Chromium of its own: Pyodide starts anew in most of the tests.
    tests = ("tests/report/test_browser.py", "tests/docs")
    step.pytest("browser", "-m", "", *tests, variables={"BUILT_DOCS": str(pages)})


@step("the installed wheels: import, command line, demonstration", requires=[EVERYTHING])
def wheels(step: Step) -> None:
    step.install([ROOT])
    show = "import spatch_core as s; print(s.BackendSystem, s.__file__)"
    step.run("python", "-c", show, folder=FOLDER, says="site-packages")
    # The command line without the extra `cli`.
    step.run("spatch-core", "list", folder=FOLDER, says="spatch-core[cli]", code=2)
    everything = programs_of(EVERYTHING)
    with_all = str(everything / "spatch-core")
    step.run(with_all, "list", folder=FOLDER, says="threads")
    step.run(with_all, "list", "--json", folder=FOLDER, says="threads")
    picture = FOLDER / "demonstration.png"
    program = ROOT / "tools" / "demonstration.py"
    options = ["--enlarge", "1", "--picture", str(picture)]
    step.run(str(everything / "python"), program, *options, folder=FOLDER, says=str(picture))


@atexit.register
def _say_summary() -> None:
    """Print the summary below nox's own messages, unless nothing was tested."""
    folder = Path(REPORTS.name)
    if (folder / "nox.json").exists() and "--install-only" not in sys.argv:
        missing = [version for version in VERSIONS if version not in INTERPRETERS]
        sys.stderr.flush()
        print(summary(folder, missing), flush=True)
