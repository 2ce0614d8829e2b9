"""When things go wrong: real broken distributions on disk.

The library always goes on: it answers itself, and through the backends that are in order.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

import spatch_core
from spatch_core import BackendSkippedWarning, BackendSystem
from spatch_core.testing import isolated, run_python, write_distribution
from spatch_core.types import Finding

CORE = Path(spatch_core.__file__).parents[1]
GROUP = "photolib.backends"
LIBRARY = """
    from spatch_core import BackendSystem

    system = BackendSystem(
        "photolib.backends", "PHOTOLIB", default_primary_types=["builtins:float"]
    )

    @system.dispatchable("x")
    def double(x):
        return "default"
"""
HEALTHY = """
    name = "healthy"
    primary_types = ["builtins:int"]
    [functions."photolib:double"]
    function = "healthy_backend.code:double"
"""


class Report(NamedTuple):
    """What a library says that finds a site's backends."""

    calls: list[str]  # with a type of its own and with one of the healthy backend's, twice
    backends: set[str]
    problems: tuple[Finding, ...]
    caught: list[warnings.WarningMessage]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a healthy backend in it."""
    write_distribution(
        tmp_path,
        "healthy-dist",
        entry_points={GROUP: {"healthy": "healthy_backend:backend.toml"}},
        files={
            "healthy_backend/__init__.py": "",
            "healthy_backend/backend.toml": HEALTHY,
            "healthy_backend/code.py": "def double(x):\n    return 'healthy'\n",
        },
    )
    return tmp_path


def make_library() -> tuple[BackendSystem, Any]:
    """Return a library that has not looked for its backends, and its function."""
    system = BackendSystem(GROUP, "PHOTOLIB", ["builtins:float"])
    return system, system.dispatchable("x", identifier="photolib:double")(lambda x: "default")


def observe(site: Path) -> Report:
    """Use a library that finds what is installed in `site`."""
    system, double = make_library()
    with isolated(system, path=[site]), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calls = [double(1.0), double(1), double(1.0), double(1)]
        return Report(calls, {*system.backends}, system.problems, caught)


def run(site: Path, code: str, **options: Any) -> str:
    """Run code in a fresh interpreter that finds the library and what is installed in `site`."""
    if not (site / "photolib.py").exists():
        write_distribution(site, "photolib", files={"photolib.py": LIBRARY})
    return run_python(code, path=[site, CORE], **options).stdout


def install(site: Path, value: str, files: dict[str, str | bytes], name: str = "broken") -> None:
    """Install a backend of the library."""
    write_distribution(
        site, f"{name}-dist", "1.5", entry_points={GROUP: {name: value}}, files=files
    )


def toml(rest: str = "") -> str:
    return f"name = 'broken'\nprimary_types = ['builtins:str']\n{rest}"


class Broken(NamedTuple):
    """A backend that must be skipped, and every fault that must be reported."""

    value: str
    """Of its entry point."""
    content: str | bytes | None
    """Of the file that the entry point names, if there is one."""
    faults: list[tuple[str | None, str]]
    """The key of each fault, and a part of its message."""
    path: str = "broken_backend/backend.toml"
    """Of the file."""


FILE = "broken_backend:backend.toml"
FUNCTION = '[functions."photolib:double"]\n'

MODULE = "broken_backend/sub.py"
OBJECT = "broken_backend.sub:backend"
BROKEN = {
    "file-missing": Broken(FILE, None, [(None, "'backend.toml'")]),
    "package-missing": Broken("no_such_package:backend.toml", None, [(None, "'backend.toml'")]),
    "not-toml": Broken(FILE, "name == 3", [(None, "not valid TOML")]),
    "too-deep": Broken(FILE, "name = " + "[" * 20_000, [(None, "not valid TOML")]),
    "not-utf-8": Broken(FILE, b"name = '\xff'", [(None, "not valid TOML")]),
    "implementation-not-an-identifier": Broken(
        FILE,
        toml(FUNCTION + "function = 'os.system(1)'\nshould_run = 'x'"),
        [
            ('functions."photolib:double".function', "identifier"),
            ('functions."photolib:double".should_run', "identifier"),
        ],
    ),
    "file-outside-the-package": Broken(
        "broken_backend:../other/backend.toml",
        toml(),
        [(None, "inside a package")],
        "other/backend.toml",
    ),
    "module-missing": Broken(
        "no_such_package.sub:backend", None, [(None, "No module named 'no_such_package'")]
    ),
    **{
        f"module-raises-{error}": Broken(OBJECT, code, [(None, error)], MODULE)
        for error, code in {
            "ZeroDivisionError": "1 / 0",
            "Own": "class Own(BaseException): pass\nraise Own('sick')",
            "SystemExit": "raise SystemExit(3)",
            "RecursionError": "def recurse(): recurse()\nrecurse()",
        }.items()
    },
    "object-missing": Broken(OBJECT, "backends = {}", [(None, "did you mean 'backends'?")], MODULE),
    "attribute-raises": Broken(
        OBJECT,
        """
        class Backend:
            name = "broken"
            @property
            def primary_types(self):
                raise LookupError("no types today")
        backend = Backend()
        """,
        [(None, "LookupError: no types today")],
        MODULE,
    ),
    "value-is-no-identifier": Broken(
        "broken_backend:backend()", None, [(None, "identifier")], MODULE
    ),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_backend_is_skipped_with_one_warning_and_every_fault(
    site: Path, broken: Broken
) -> None:
    """E1, E2: the warning names distribution, entry point, file, key and remedy."""
    files: dict[str, str | bytes] = {"broken_backend/__init__.py": ""}
    if broken.content is not None:
        files[broken.path] = broken.content
    install(site, broken.value, files)
    report = observe(site)
    assert report.calls == ["default", "healthy"] * 2
    assert report.backends == {"default", "healthy"}
    assert len(report.problems) == len(broken.faults)
    for problem in report.problems:
        assert any(
            problem.key == key and message in problem.message for key, message in broken.faults
        )
        assert problem.backend == "broken"
        assert problem.source is not None
        assert problem.source.distribution == "broken-dist"
        assert problem.remedy
    (warning,) = report.caught
    assert warning.category is BackendSkippedWarning
    assert warning.filename == __file__, "the line that used the library"
    text, first = str(warning.message), report.problems[0]
    for part in (
        *("backend 'broken' is skipped", "broken-dist 1.5", f"'broken = {broken.value}'"),
        *(first.message, first.remedy, first.key or ""),
    ):
        assert part in text
    if broken.value == FILE and broken.content is not None:
        assert str(site / broken.path) in text
    more = len(report.problems) - 1
    assert (f"{more} more fault" in text) == bool(more)


@pytest.mark.parametrize("content", [b"broken\n", b"broken = a\xff:b\n"])
def test_entry_points_that_cannot_be_parsed_break_neither_library_nor_backends(
    site: Path, content: bytes
) -> None:
    """P7: one warning names the distribution."""
    distribution = write_distribution(site, "broken-dist", "1.5")
    file = distribution.metadata / "entry_points.txt"
    file.write_bytes(b"[photolib.backends]\n" + content)
    report = observe(site)
    assert report.calls == ["default", "healthy"] * 2
    assert len(report.problems) == 1
    (warning,) = report.caught
    assert "broken-dist" in str(warning.message)


def test_with_warnings_as_errors_the_library_works_at_the_second_call(site: Path) -> None:
    """E2: the first call raises the warning."""
    install(site, FILE, {"broken_backend/backend.toml": "name = 3"})
    system, double = make_library()
    with isolated(system, path=[site]), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BackendSkippedWarning) as caught:
            double(1)
        assert isinstance(caught.value, BackendSkippedWarning)
        assert [problem.key for problem in caught.value.problems] == ["name", "primary_types"]
        assert (double(1), double(1.0)) == ("healthy", "default")


class Failing:
    """A finder whose distributions cannot be asked for."""

    @staticmethod
    def find_spec(*_: object) -> None: ...

    @staticmethod
    def find_distributions(context: object = None) -> Any:
        raise OSError("no disk")


class FailingLater(Failing):
    """A finder whose distributions cannot be gone through."""

    @staticmethod
    def find_distributions(context: object = None) -> Any:
        yield from ()
        raise AttributeError("stub")


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("item", [Path("absent"), "absent", Failing(), Failing, FailingLater])
def test_the_search_path_of_a_program_breaks_no_call(
    site: Path, monkeypatch: pytest.MonkeyPatch, item: Any, place: str
) -> None:
    """P7: a path object, or a finder that fails, whose distributions are not found."""
    name = "path" if isinstance(item, (str, Path)) else "meta_path"
    others = [*getattr(sys, name)]
    monkeypatch.setattr(sys, name, [item, *others] if place == "first" else [*others, item])
    report = observe(site)
    assert report.calls == ["default", "healthy"] * 2
    assert (report.problems, report.caught) == ((), [])


class TestCallsDuringImport:
    """A backend's module calls the library while it is being imported, in a fresh interpreter."""

    SELFISH = """
        import photolib
        early = photolib.double("text")

        class backend:
            name = "selfish"
            primary_types = ["builtins:str"]
            functions = {"photolib:double": {"function": "selfish_backend:double"}}

        def double(x):
            return "selfish"
    """

    @pytest.mark.parametrize(
        "first",
        ["photolib.double('text')", "__import__('selfish_backend')"],
        ids=["discovery-imports-it", "the-user-imports-it"],
    )
    def test_only_the_default_is_there_then_and_the_backend_later(
        self, site: Path, first: str
    ) -> None:
        """E5: a backend calls the library while it is imported."""
        install(site, "selfish_backend:backend", {"selfish_backend.py": self.SELFISH}, "selfish")

        output = run(
            site,
            f"""
            import photolib
            {first}
            import selfish_backend
            print(selfish_backend.early, photolib.double("text"), photolib.double(1))
            """,
            options=["-W", "error"],
        )

        assert output.split() == ["default", "selfish", "healthy"]

    @pytest.mark.parametrize(
        ("library", "needed"),
        [
            pytest.param(
                LIBRARY + "\n    early = double('text')\n    late = 1\n", "photolib", id="library"
            ),
            pytest.param(LIBRARY, "user_code", id="user"),
        ],
    )
    def test_a_backend_may_need_the_module_that_calls(
        self, site: Path, library: str, needed: str
    ) -> None:
        """E5: it calls while it is imported itself, so that the backend comes too early."""
        files: dict[str, str | bytes] = {
            "photolib.py": library,
            "user_code.py": "import photolib\nearly = photolib.double('text')\nlate = 1\n",
            "needy_backend.py": f"from {needed} import late\n"
            + dedent(self.SELFISH)
            .replace('early = photolib.double("text")', "")
            .replace("selfish", "needy"),
        }
        install(site, "needy_backend:backend", files, "needy")

        output = run(
            site,
            f"""
            import photolib, {needed}
            print({needed}.early, photolib.double("text"), len(photolib.system.problems))
            """,
            options=["-W", "error"],
        )

        assert output.split() == ["default", "needy", "0"]

    def test_a_program_may_run_while_it_is_imported(self, site: Path) -> None:
        """E1: a broken backend leaves out no other."""
        app = "import photolib\nprint(photolib.double(1), len(photolib.system.problems))\n"
        install(site, "no_such_package:backend", {"app.py": app})

        assert run(site, "import app", options=["-W", "ignore"]).split() == ["healthy", "1"]

    def test_asking_which_backends_there_are_is_an_error_of_that_backend_alone(
        self, site: Path
    ) -> None:
        """E1, E5: while they are being discovered."""
        install(
            site,
            "nosy_backend:backend",
            {"nosy_backend.py": "import photolib\nphotolib.system.backends"},
            "nosy",
        )
        output = run(
            site,
            """
            import photolib, warnings

            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                print(photolib.double(1.0), photolib.double(1))
            print(*[each.message for each in caught])
            """,
        )
        assert output.startswith("default healthy\n")
        assert output.count("the backends are being discovered") == 1
