"""What importing costs: next to nothing, until backends are needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core.testing import run_python, write_distribution

PACKAGE = Path(spatch_core.__file__).parent
CORE = PACKAGE.parent

# Modules of the standard library that the package imports before a backend is needed.
# Most of them every interpreter has imported by then.
LIBRARY = """
    from spatch_core import BackendSystem

    system = BackendSystem(
        "photolib.backends", "PHOTOLIB", default_primary_types=["builtins:float"]
    )

    @system.dispatchable("x")
    def one(x, *, mode="reflect"):
        \"\"\"One.\"\"\"
        return "default"

    @system.dispatchable(("x", "y"))
    def two(x, y=None, *rest, **keywords):
        return "default"

    @system.dispatchable(None)
    def every(*arguments):
        return "default"

    @system.dispatchable({"x": 0})
    def positional(x, /):
        return "default"

    @system.dispatchable(lambda x: [x])
    def found(x):
        return "default"
"""


def imported(code: str, *path: Path) -> list[set[str]]:
    """Return what is imported when each line of `code` has run, beyond what was before.

    Without the module `site`, which in some environments imports much itself.
    """
    script = ["import sys", "before = set(sys.modules)"]
    for line in code.strip().splitlines():
        script += [line.strip(), "print(*sorted(sys.modules.keys() - before))"]
    done = run_python("\n".join(script), path=[*path, CORE], options=["-S"])
    return [set(line.split()) for line in done.stdout.splitlines()]


class TestPackage:
    """Importing the package itself."""

    def test_it_imports_nothing(self) -> None:
        (modules,) = imported("import spatch_core")

        assert modules == {"__future__", "spatch_core"}

    def test_every_public_name_is_there(self) -> None:
        for name in spatch_core.__all__:
            assert getattr(spatch_core, name).__module__.startswith("spatch_core.")
        assert set(spatch_core.__all__) <= set(dir(spatch_core))
        scope: dict[str, Any] = {}
        exec("from spatch_core import *", scope)  # noqa: S102  # how else
        assert set(spatch_core.__all__) <= scope.keys()

    def test_no_other_name_is(self) -> None:
        with pytest.raises(AttributeError, match="'spatch_core' has no attribute 'Backends'"):
            spatch_core.Backends  # noqa: B018

    @pytest.mark.parametrize(
        "path",
        [
            "spatch_core.backend_system:BackendSystem",
            "spatch_core.backend_system:DispatchContext",
            "spatch_core.backend_utils:BackendImplementation",
            "spatch_core.backend_utils:IF_NEEDED",
        ],
    )
    def test_the_paths_of_the_fields_documentation_are_there(self, path: str) -> None:
        module, _, name = path.partition(":")

        assert getattr(__import__(module, fromlist=[name]), name) is getattr(spatch_core, name)


class TestLibrary:
    """Importing a library that dispatches."""

    @pytest.fixture
    def site(self, tmp_path: Path) -> Path:
        write_distribution(
            tmp_path,
            "photolib",
            entry_points={
                "photolib.backends": {"file": "watched_a:backend.toml", "object": "watched_b:b"}
            },
            files={
                "photolib.py": LIBRARY,
                "watched_a/__init__.py": "",
                "watched_a/backend.toml": "name = 'file'\nprimary_types = ['builtins:str']",
                "watched_b.py": "b = {'name': 'object', 'primary_types': ['builtins:str']}",
            },
        )
        return tmp_path

    def test_it_imports_no_more_than_the_package_does(self, site: Path) -> None:
        """F9, F10: a library that uses it imports nothing else."""
        system, library = imported("from spatch_core import BackendSystem\nimport photolib", site)

        assert library - system == {"photolib"}

    def test_errors_may_be_imported_with_a_library(self, site: Path) -> None:
        """F9: they, and the caller's line, do without the larger modules of Python."""
        (more,) = imported("from spatch_core import NoImplementationError, stacklevel", site)

        assert more.isdisjoint({"typing", "dataclasses", "enum"})

    def test_few_modules_of_the_package_are_imported(self, site: Path) -> None:
        """Those that declare, at the import; those that decide, with the first call."""
        declaring, deciding = imported("import photolib\nphotolib.one(1.0)", site)

        own = [
            {name for name in names if name.startswith("spatch_core.")}
            - {"spatch_core._accelerator"}
            for names in (declaring, deciding)
        ]
        assert len(own[0]) <= 6, sorted(own[0])
        assert len(own[1] - own[0]) <= 14, sorted(own[1] - own[0])

    def test_it_reads_no_entry_points_and_no_file_until_the_first_call(self, site: Path) -> None:
        """F9: importing a library looks for nothing."""
        done = run_python(
            """
            import sys
            seen = []
            def watch(event, arguments):
                if event == "open" and isinstance(arguments[0], str):
                    seen.append(arguments[0])
            sys.addaudithook(watch)

            def report():
                files = [name for name in seen if name.endswith((".toml", "entry_points.txt"))]
                names = ["importlib.metadata", "tomllib", "tomli", "watched_a", "watched_b"]
                return len(files), [name for name in names if name in sys.modules]

            import photolib
            import json
            found = [report()]
            photolib.one(1.0)
            found.append(report())
            print(json.dumps(found))
            """,
            path=[site, CORE],
            options=["-S"] if sys.version_info >= (3, 11) else [],  # tomli lies in a site
        )

        before, after = json.loads(done.stdout)

        assert before == [0, []]
        assert after[0] >= 2, "the watch sees what is opened"
        parser = "tomllib" if sys.version_info >= (3, 11) else "tomli"
        assert after[1] == ["importlib.metadata", parser, "watched_b"]

    def test_without_a_group_nothing_looks_for_entry_points(self, tmp_path: Path) -> None:
        """F11: `group=None` stands for no group."""
        write_distribution(
            tmp_path,
            "photolib",
            files={"photolib.py": LIBRARY.replace('"photolib.backends"', "None")},
        )

        _, modules = imported("import photolib\nphotolib.one(1.0)", tmp_path)

        assert "importlib.metadata" not in modules
        assert not {"tomllib", "tomli"} & modules

    @pytest.mark.parametrize("options", [["-OO"], ["-W", "error"], ["-b", "-W", "error"]], ids=str)
    def test_it_works_with_every_option_of_the_interpreter(
        self, site: Path, options: list[str]
    ) -> None:
        done = run_python(
            """
            import photolib as p
            print(p.one(1.0), p.two("x", y=1), p.every(), p.positional(None), p.found("x"))
            print(p.one.explain("x").selected, list(p.system.backends))
            """,
            path=[site, CORE],
            options=options,
        )

        assert done.stdout.splitlines() == [
            "default default default default default",
            "default ['default', 'file', 'object']",
        ]
