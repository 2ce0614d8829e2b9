"""When things go wrong: real broken distributions on disk, met in fresh interpreters.

Each test stands for a row of the table in the specification's section on failures. The
library always goes on: it answers itself, and through the backends that are in order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import spatch_core
from spatch_core.testing import run_python, write_distribution

CORE = Path(spatch_core.__file__).parents[1]

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
# Calls the library with a type of its own and with one of the healthy backend's.
OBSERVE = """
    import json, warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import photolib

        calls = [photolib.double(1.0), photolib.double(1)]
        calls += [photolib.double(1.0), photolib.double(1)]
        backends = list(photolib.system.backends)
        problems = photolib.system.problems

    print(json.dumps({
        "calls": calls,
        "backends": backends,
        "warnings": [str(each.message) for each in caught],
        "categories": [each.category.__name__ for each in caught],
        "shown_in": [each.filename for each in caught],
        "problems": [
            {
                "backend": each.backend,
                "key": each.key,
                "message": each.message,
                "remedy": each.remedy,
                "distribution": each.source and each.source.distribution,
            }
            for each in problems
        ],
    }))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the library and a healthy backend in it."""
    write_distribution(tmp_path, "photolib", files={"photolib.py": LIBRARY})
    write_distribution(
        tmp_path,
        "healthy-dist",
        entry_points={"photolib.backends": {"healthy": "healthy_backend:backend.toml"}},
        files={
            "healthy_backend/__init__.py": "",
            "healthy_backend/backend.toml": HEALTHY,
            "healthy_backend/code.py": "def double(x):\n    return 'healthy'\n",
        },
    )
    return tmp_path


def observe(site: Path, **options: Any) -> dict[str, Any]:
    """Use the library in a fresh interpreter, and tell what came of it."""
    report: dict[str, Any] = json.loads(run(site, OBSERVE, **options))
    return report


def run(site: Path, code: str, **options: Any) -> str:
    """Run code in a fresh interpreter that finds what is installed in `site`."""
    return run_python(code, path=[site, CORE], **options).stdout


def install(
    site: Path,
    value: str,
    files: dict[str, str | bytes],
    name: str = "broken",
    distribution: str = "broken-dist",
) -> None:
    """Install a backend of the library."""
    write_distribution(
        site, distribution, "1.5", entry_points={"photolib.backends": {name: value}}, files=files
    )


def toml(rest: str = "", *, name: str = "broken", types: str = "'builtins:str'") -> str:
    return f"name = {name!r}\nprimary_types = [{types}]\n{rest}"


@dataclass
class Broken:
    """A backend that must be skipped, and every fault that must be reported.

    Parameters
    ----------
    value : str
        Of its entry point.
    content : str or bytes or None
        Of the file that the entry point names, if there is one.
    faults : list of (str or None, str)
        The key of each fault, and a part of its message.
    path : str
        Of the file.
    """

    value: str
    content: str | bytes | None
    faults: list[tuple[str | None, str]]
    path: str = "broken_backend/backend.toml"


FILE = "broken_backend:backend.toml"
FUNCTION = '[functions."photolib:double"]\n'

DESCRIPTIONS_IN_FILES = {
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
}
MODULE = "broken_backend/sub.py"
OBJECT = "broken_backend.sub:backend"
DESCRIPTIONS_IN_CODE = {
    "module-missing": Broken(
        "no_such_package.sub:backend", None, [(None, "No module named 'no_such_package'")]
    ),
    "module-raises": Broken(OBJECT, "1 / 0", [(None, "ZeroDivisionError")], MODULE),
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


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(case, id=name)
        for name, case in {**DESCRIPTIONS_IN_FILES, **DESCRIPTIONS_IN_CODE}.items()
    ],
)
def test_a_broken_backend_is_skipped_with_one_warning_and_every_fault(
    site: Path, broken: Broken
) -> None:
    """E1, E2: the warning names distribution, entry point, file, key and remedy."""
    files: dict[str, str | bytes] = {"broken_backend/__init__.py": ""}
    if broken.content is not None:
        files[broken.path] = broken.content
    install(site, broken.value, files)

    report = observe(site)

    assert report["calls"] == ["default", "healthy"] * 2
    assert sorted(report["backends"]) == ["default", "healthy"]
    problems = report["problems"]
    assert len(problems) == len(broken.faults)
    for problem in problems:
        assert any(
            problem["key"] == key and message in problem["message"]
            for key, message in broken.faults
        )
        assert problem["backend"] == "broken"
        assert problem["distribution"] == "broken-dist"
        assert problem["remedy"]

    assert report["categories"] == ["BackendSkippedWarning"]
    (text,) = report["warnings"]
    assert "backend 'broken' is skipped" in text
    assert "broken-dist 1.5" in text
    assert f"'broken = {broken.value}'" in text
    assert Path(report["shown_in"][0]).name == "script.py", "the line that used the library"
    first = problems[0]
    assert first["message"] in text
    assert first["remedy"] in text
    if first["key"]:
        assert first["key"] in text
    if broken.value == FILE and (site / broken.path).is_file() and broken.path.endswith(".toml"):
        assert str(site / broken.path) in text
    more = len(problems) - 1
    assert (f"{more} more fault" in text) == bool(more)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[photolib.backends]\nbroken\n", id="no-value"),
        pytest.param(b"[photolib.backends]\nbroken = a\xff:b\n", id="not-utf-8"),
    ],
)
def test_entry_points_that_cannot_be_parsed_break_neither_library_nor_backends(
    site: Path, content: bytes
) -> None:
    """P7: one warning names the distribution."""
    distribution = write_distribution(site, "broken-dist", "1.5")
    (distribution.metadata / "entry_points.txt").write_bytes(content)

    report = observe(site)

    assert report["calls"] == ["default", "healthy"] * 2
    assert len(report["warnings"]) == len(report["problems"]) == 1
    assert "broken-dist" in report["warnings"][0]


def test_with_warnings_as_errors_the_library_works_at_the_second_call(site: Path) -> None:
    """E2: the first call raises the warning."""
    install(site, FILE, {"broken_backend/backend.toml": "name = 3"})

    output = run(
        site,
        """
        import photolib
        from spatch_core import BackendSkippedWarning

        try:
            photolib.double(1)
        except BackendSkippedWarning as warning:
            print([problem.key for problem in warning.problems])
        print(photolib.double(1), photolib.double(1.0))
        """,
        options=["-W", "error"],
    )

    assert output.splitlines() == ["['name', 'primary_types']", "healthy default"]


class TestCycles:
    """Backends that each declare to go before another, which forms a cycle."""

    @pytest.fixture
    def circle(self, site: Path) -> Path:
        names = ["a", "b", "c"]
        for name, other in zip(names, ["b", "c", "a"], strict=True):
            install(
                site,
                f"{name}_backend:backend.toml",
                {
                    f"{name}_backend/backend.toml": toml(
                        f"higher_priority_than = ['{other}']\n"
                        + FUNCTION
                        + f"function = '{name}_backend.code:double'",
                        name=name,
                    ),
                    f"{name}_backend/code.py": f"def double(x):\n    return '{name}'\n",
                },
                name,
                f"{name}-dist",
            )
        return site

    def test_the_value_in_the_warning_mends_it(self, circle: Path) -> None:
        """P6: it is set, word for word, in a second interpreter; the first skips the backends."""
        report = observe(circle)
        assert report["calls"] == ["default", "healthy"] * 2
        assert [each["backend"] for each in report["problems"]] == ["a", "b", "c"]
        (text,) = report["warnings"]
        value = text.split("PHOTOLIB_SET_ORDER='")[1].split("'")[0]

        mended = observe(circle, environment={"PHOTOLIB_SET_ORDER": value})

        assert mended["problems"] == mended["warnings"] == []
        assert sorted(mended["backends"]) == ["a", "b", "c", "default", "healthy"]


class TestCallsDuringImport:
    """A backend's module calls the library while it is being imported."""

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

    def test_asking_which_backends_there_are_is_an_error_of_that_backend_alone(
        self, site: Path
    ) -> None:
        install(
            site,
            "nosy_backend:backend",
            {"nosy_backend.py": "import photolib\nphotolib.system.backends"},
            "nosy",
        )

        report = observe(site)

        assert report["calls"] == ["default", "healthy"] * 2
        (text,) = report["warnings"]
        assert "the backends are being discovered" in text
