"""The helpers for the tests of libraries and of backends."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem, GlobalOptionsWarning, UnknownBackendError
from spatch_core.testing import Distribution, isolated, run_python, write_distribution

GROUP = "testing_library.backends"


@pytest.fixture
def distribution(tmp_path: Path) -> Iterator[Distribution]:
    """A backend of the library below."""
    yield write_distribution(
        tmp_path / "site",
        "Loud.backend--dist",
        "1.2.3",
        entry_points={
            GROUP: {"loud": "testing_loud:backend.toml"},
            "spatch_core.libraries": {"x": "y:z"},
        },
        files={
            "testing_loud/__init__.py": """
                def double(x):
                    return "loud"
            """,
            "testing_loud/backend.toml": """
                name = "loud"
                primary_types = ["builtins:str"]
                [functions."testing_library:double"]
                function = "testing_loud:double"
            """,
            "testing_loud/bytes.bin": b"\xff\x00",
        },
    )
    sys.modules.pop("testing_loud", None)


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(GROUP, "TESTING_LIBRARY", default_primary_types=["builtins:float"])


@pytest.fixture
def double(system: BackendSystem) -> Any:
    @system.dispatchable("x", module="testing_library", qualname="double")
    def double(x: object) -> str:
        return "default"

    return double


class TestWriteDistribution:
    """What it writes is a distribution to everything that reads one."""

    def test_the_standard_library_reads_it(self, distribution: Distribution) -> None:
        (found,) = distributions(path=[str(distribution.folder)])

        assert (found.metadata["Name"], found.version) == ("Loud.backend--dist", "1.2.3")
        assert [(each.group, each.name, each.value) for each in found.entry_points] == [
            (GROUP, "loud", "testing_loud:backend.toml"),
            ("spatch_core.libraries", "x", "y:z"),
        ]
        assert found.files is not None
        assert {found.locate_file(file) for file in found.files} == set(distribution.files)
        assert all(file.is_file() for file in distribution.files)

    def test_it_records_what_it_wrote(self, distribution: Distribution) -> None:
        assert distribution.metadata.name == "loud_backend_dist-1.2.3.dist-info"
        assert distribution.metadata.parent == distribution.folder
        assert {
            file.relative_to(distribution.folder).as_posix() for file in distribution.files
        } == {
            "testing_loud/__init__.py",
            "testing_loud/backend.toml",
            "testing_loud/bytes.bin",
            "loud_backend_dist-1.2.3.dist-info/METADATA",
            "loud_backend_dist-1.2.3.dist-info/entry_points.txt",
            "loud_backend_dist-1.2.3.dist-info/RECORD",
        }

    def test_text_loses_its_indentation_and_bytes_stay(self, distribution: Distribution) -> None:
        package = distribution.folder / "testing_loud"

        assert (package / "__init__.py").read_text() == 'def double(x):\n    return "loud"\n'
        assert (package / "bytes.bin").read_bytes() == b"\xff\x00"

    def test_it_needs_neither_entry_points_nor_files(self, tmp_path: Path) -> None:
        write_distribution(tmp_path, "bare")

        (found,) = distributions(path=[str(tmp_path)])

        assert found.version == "0.1.0"
        assert list(found.entry_points) == []

    def test_removing_it_leaves_what_is_others(self, distribution: Distribution) -> None:
        other = write_distribution(
            distribution.folder, "other", files={"testing_loud/other.py": "", "other/x.py": ""}
        )

        distribution.remove()

        left = {file for file in distribution.folder.rglob("*") if file.is_file()}
        assert left == set(other.files)
        other.remove()
        assert list(distribution.folder.iterdir()) == []
        other.remove()


class TestRunPython:
    """A script in a fresh interpreter of the same kind."""

    def test_it_is_this_interpreter_and_another_process(self) -> None:
        done = run_python(
            """
            import os, sys
            print(sys.executable, os.getpid())
            """
        )

        executable, process = done.stdout.split()
        assert executable == sys.executable
        assert int(process) != os.getpid()

    def test_it_finds_what_is_on_the_path_before_everything_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in (1, 2):
            (tmp_path / f"{number}").mkdir()
            (tmp_path / f"{number}/json.py").write_text(f"number = {number}", encoding="utf-8")
            (tmp_path / f"{number}/own{number}.py").touch()
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "2"))

        done = run_python("import json, own1, own2; print(json.number)", path=[str(tmp_path / "1")])

        assert done.stdout == "1\n"

    def test_it_does_not_find_what_lies_in_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "lies_here.py").touch()
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("PYTHONPATH", raising=False)

        done = run_python("import lies_here", check=False)

        assert done.returncode == 1
        assert "No module named 'lies_here'" in done.stderr

    def test_variables_are_added_and_removed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TESTING_KEPT", "kept")
        monkeypatch.setenv("TESTING_REMOVED", "removed")

        done = run_python(
            """
            import os
            print(sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("TESTING_")))
            """,
            environment={"TESTING_ADDED": "added", "TESTING_REMOVED": None},
        )

        assert done.stdout.strip() == "['TESTING_ADDED=added', 'TESTING_KEPT=kept']"
        assert os.environ["TESTING_REMOVED"] == "removed"

    def test_no_cache_of_descriptions_is_touched_unless_that_is_wanted(self) -> None:
        """What is found must not depend on what was found before."""
        script = "import os; print(os.environ.get('SPATCH_CORE_CACHE'))"

        assert run_python(script).stdout == "off\n"
        assert run_python(script, environment={"SPATCH_CORE_CACHE": None}).stdout == "None\n"

    def test_options_are_the_interpreters(self) -> None:
        done = run_python("import sys; print(sys.flags.optimize)", options=["-OO"])

        assert done.stdout == "2\n"

    def test_a_script_that_fails_shows_what_it_said(self) -> None:
        with pytest.raises(RuntimeError, match="ended with 3") as caught:
            run_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

        assert str(caught.value) == "the script ended with 3\nout\nerr"

    def test_a_failure_may_be_what_is_wanted(self) -> None:
        done = run_python("1 / 0", check=False)

        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"

    def test_a_script_that_hangs_is_ended(self) -> None:
        with pytest.raises(subprocess.TimeoutExpired):
            run_python("import threading; threading.Event().wait()", timeout=0.1)

    def test_text_of_every_language_gets_through(self) -> None:
        done = run_python("print('größer ≥')", environment={"PYTHONIOENCODING": "utf-8"})

        assert done.stdout == "größer ≥\n"


class TestIsolated:
    """A fresh start for a block, and everything back after it."""

    def test_backends_on_the_path_are_there_for_the_block(
        self, system: BackendSystem, double: Any, distribution: Distribution
    ) -> None:
        assert double("text") == "default"

        with isolated(system, path=[distribution.folder]) as same:
            assert same is system
            assert double("text") == "loud"

        assert double("text") == "default"
        assert list(system.backends) == ["default"]

    def test_no_cache_of_descriptions_is_touched_unless_that_is_wanted(
        self, system: BackendSystem, distribution: Distribution, tmp_path: Path
    ) -> None:
        caches = tmp_path / "caches"
        variables: dict[str, str | None] = dict.fromkeys(
            ("XDG_CACHE_HOME", "LOCALAPPDATA"), str(caches)
        )
        for file in distribution.files:
            os.utime(file, (0, 0))

        with isolated(system, path=[distribution.folder], environment=variables):
            assert "loud" in system.backends
        assert not caches.exists()

        variables["SPATCH_CORE_CACHE"] = None
        with isolated(system, path=[distribution.folder], environment=variables):
            assert "loud" in system.backends
        assert caches.exists()

    def test_names_of_the_block_are_unknown_after_it(
        self, system: BackendSystem, distribution: Distribution
    ) -> None:
        """Options remember names that were checked; these are no longer those of backends."""
        with isolated(system, path=[distribution.folder]):
            assert system.backend_opts("loud").prioritized == ("loud",)

        with pytest.raises(UnknownBackendError):
            system.backend_opts("loud")

    def test_discovery_waits_for_the_first_use(self, system: BackendSystem) -> None:
        assert system.problems == ()

        with isolated(system):
            assert system._loader.loaded is None

    def test_what_had_been_discovered_is_back(self, system: BackendSystem) -> None:
        resolver = system._dispatcher.ensure_loaded().resolver
        with isolated(system):
            assert system._dispatcher.ensure_loaded().resolver is not resolver

        assert system._dispatcher.ensure_loaded().resolver is resolver

    def test_what_had_not_been_discovered_is_not(self, system: BackendSystem) -> None:
        with isolated(system):
            assert system.problems == ()

        assert system._loader.loaded is None

    def test_the_environment_holds_for_the_block(
        self,
        system: BackendSystem,
        double: Any,
        distribution: Distribution,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The library's own tests want no backend at all, say."""
        monkeypatch.syspath_prepend(distribution.folder)
        monkeypatch.setenv("TESTING_REMOVED", "removed")
        monkeypatch.setenv("TESTING_CHANGED", "before")
        with isolated(
            system,
            environment={
                "TESTING_LIBRARY_BLOCK": "*",
                "TESTING_REMOVED": None,
                "TESTING_CHANGED": "in the block",
            },
        ):
            assert double("text") == "default"
            assert "TESTING_REMOVED" not in os.environ
            os.environ["TESTING_LEFT_BEHIND"] = "1"

        assert double("text") == "loud"
        assert "TESTING_LIBRARY_BLOCK" not in os.environ
        assert "TESTING_LEFT_BEHIND" not in os.environ
        assert os.environ["TESTING_REMOVED"] == "removed"
        assert os.environ["TESTING_CHANGED"] == "before"

    def test_options_that_are_in_force_outside_are_not_in_the_block(
        self,
        system: BackendSystem,
        double: Any,
        distribution: Distribution,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.syspath_prepend(distribution.folder)
        with system.backend_opts(disable="loud"):
            assert double("text") == "default"
            with isolated(system):
                assert double("text") == "loud"
                assert system.backend_opts().disabled == ()
            assert double("text") == "default"
        assert double("text") == "loud"

    def test_what_is_enabled_globally_in_the_block_ends_with_it(
        self, system: BackendSystem, double: Any, distribution: Distribution
    ) -> None:
        """And a second block may enable without a warning that it overrides the first."""
        for _ in range(2):
            with isolated(system, path=[distribution.folder]):
                system.backend_opts(disable="loud").enable_globally()
                assert double("text") == "default"

        assert system.backend_opts().disabled == ()

    def test_whether_options_were_enabled_globally_is_put_back_too(
        self, system: BackendSystem
    ) -> None:
        """It decides whether the next ones warn that they override some."""
        with isolated(system):
            system.backend_opts(disable="default").enable_globally()
        system.backend_opts(disable="default").enable_globally()

        with isolated(system):
            system.backend_opts(disable="default").enable_globally()

        with pytest.warns(GlobalOptionsWarning):
            system.backend_opts(prioritize="default").enable_globally()

    def test_what_is_enabled_globally_outside_is_not_in_the_block(
        self,
        system: BackendSystem,
        double: Any,
        distribution: Distribution,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.syspath_prepend(distribution.folder)
        system.backend_opts(disable="loud").enable_globally()
        with isolated(system):
            assert double("text") == "loud"

        assert double("text") == "default"
        assert system.backend_opts().disabled == ("loud",)

    def test_docstrings_follow(
        self, system: BackendSystem, double: Any, distribution: Distribution
    ) -> None:
        before = double.__doc__
        with isolated(system, path=[distribution.folder]):
            assert system.problems == ()
            assert "loud" in double.__doc__

        assert double.__doc__ == before

    def test_modules_from_the_path_are_forgotten_and_others_kept(
        self, system: BackendSystem, double: Any, tmp_path: Path
    ) -> None:
        """The next test may bring others of the same names."""
        for answer in ("one", "two"):
            distribution = write_distribution(
                tmp_path / answer,
                answer,
                entry_points={GROUP: {"loud": "testing_loud.backend:fields"}},
                files={
                    "testing_loud/backend.py": f"""
                        import colorsys
                        fields = {{
                            "name": "loud",
                            "primary_types": ["builtins:str"],
                            "functions": {{
                                "testing_library:double": {{
                                    "function": "testing_loud.backend:double"
                                }}
                            }},
                        }}
                        def double(x):
                            return {answer!r}
                    """
                },
            )
            with isolated(system, path=[distribution.folder]):
                assert double("text") == answer

            assert not {"testing_loud", "testing_loud.backend"} & sys.modules.keys()
            assert "colorsys" in sys.modules
            with pytest.raises(ModuleNotFoundError):
                importlib.import_module("testing_loud")

    def test_a_block_that_fails_puts_everything_back_too(
        self, system: BackendSystem, double: Any, distribution: Distribution
    ) -> None:
        path = list(sys.path)

        def fail() -> Iterator[None]:
            with isolated(
                system, path=[distribution.folder], environment={"TESTING_LIBRARY_BLOCK": "x"}
            ):
                assert double("text") == "loud"
                raise LookupError

        with pytest.raises(LookupError):
            list(fail())

        assert double("text") == "default"
        assert sys.path == path
        assert "TESTING_LIBRARY_BLOCK" not in os.environ

    def test_blocks_nest(
        self, system: BackendSystem, double: Any, distribution: Distribution
    ) -> None:
        with isolated(system, path=[distribution.folder]):
            with isolated(system, environment={"TESTING_LIBRARY_BLOCK": "loud"}):
                assert double("text") == "default"
            assert double("text") == "loud"

    @pytest.mark.parametrize("value", ["x", None, sys], ids=["name", "None", "module"])
    def test_it_takes_a_system(self, value: Any) -> None:
        with pytest.raises(TypeError, match=r"takes the BackendSystem of a library, not"):
            isolated(value).__enter__()


@pytest.mark.parametrize("path", ["folder", Path("folder")], ids=["str", "Path"])
def test_one_folder_is_refused_where_several_are_taken(system: BackendSystem, path: Any) -> None:
    """Its characters would be taken for folders."""
    message = r"path takes several folders: write path=\[.*folder.*\]"
    with pytest.raises(TypeError, match=message):
        isolated(system, path=path).__enter__()
    with pytest.raises(TypeError, match=message):
        run_python("", path=path)
