"""The test kit: distributions on disk, fresh interpreters, classes as backends, isolation."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from contextlib import ExitStack
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem, DispatchContext
from spatch_core.testing import BackendDummy, Distribution, isolated, run_python, write_distribution
from tests.testing.conftest import GROUP


def test_the_standard_library_reads_it(distribution: Distribution) -> None:
    """It records its files; text loses its indentation, and bytes stay."""
    (found,) = distributions(path=[str(distribution.folder)])
    assert (found.metadata["Name"], found.version) == ("Loud.backend--dist", "1.2.3")
    assert [(each.group, each.name, each.value) for each in found.entry_points] == [
        (GROUP, "loud", "testing_loud:backend.toml"),
        ("spatch_core.libraries", "x", "y:z"),
    ]
    assert found.files is not None
    assert {found.locate_file(file) for file in found.files} == set(distribution.files)
    metadata = "loud_backend_dist-1.2.3.dist-info"
    assert distribution.metadata == distribution.folder / metadata
    assert {file.relative_to(distribution.folder).as_posix() for file in distribution.files} == {
        *(f"testing_loud/{name}" for name in ("__init__.py", "backend.toml", "bytes.bin")),
        *(f"{metadata}/{name}" for name in ("METADATA", "entry_points.txt", "RECORD")),
    }
    package = distribution.folder / "testing_loud"
    assert (package / "__init__.py").read_text() == 'def double(x):\n    return "loud"\n'
    assert (package / "bytes.bin").read_bytes() == b"\xff\x00"


def test_removing_it_leaves_what_is_others(distribution: Distribution) -> None:
    other = write_distribution(
        distribution.folder, "other", files={"testing_loud/other.py": "", "other/x.py": ""}
    )

    distribution.remove()

    left = {file for file in distribution.folder.rglob("*") if file.is_file()}
    assert left == set(other.files)
    other.remove()
    assert list(distribution.folder.iterdir()) == []
    other.remove()


def test_it_finds_what_is_on_the_path_before_everything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/json.py").write_text(f"number = {number}", encoding="utf-8")
        (tmp_path / f"{number}/own{number}.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "2"))

    done = run_python("import json, own1, own2; print(json.number)", path=[str(tmp_path / "1")])

    assert done.stdout == "1\n"


def test_it_does_not_find_what_lies_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lies_here.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)

    done = run_python("import lies_here", check=False)

    assert done.returncode == 1
    assert "No module named 'lies_here'" in done.stderr


def test_variables_are_added_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_script_that_fails_shows_what_it_said() -> None:
    with pytest.raises(RuntimeError, match="ended with 3") as caught:
        run_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert str(caught.value) == "the script ended with 3\nout\nerr"


def test_a_script_that_hangs_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_python("import threading; threading.Event().wait()", timeout=0.1)


@pytest.mark.parametrize("path", ["folder", Path("folder")], ids=["str", "Path"])
def test_one_folder_is_refused_where_several_are_taken(system: BackendSystem, path: Any) -> None:
    """Its characters would be taken for folders."""
    message = r"path takes several folders: write path=\[.*folder.*\]"
    with pytest.raises(TypeError, match=message):
        isolated(system, path=path).__enter__()
    with pytest.raises(TypeError, match=message):
        run_python("", path=path)


class Floats(BackendDummy):
    name = "floats"
    primary_types = ("builtins:float",)
    secondary_types = ("builtins:int",)
    requires_opt_in = False

    @staticmethod
    def double(x: Any) -> Any:
        """Implement `double` for floats."""
        return "floats", 2 * x


def library(*backends: Any) -> tuple[BackendSystem, Any]:
    system = BackendSystem(None, "DUMMYLIB", ["builtins:int"], backends=backends)

    @system.dispatchable(None, module="lib", qualname="dummy_func")
    def dummy_func(*args: Any, **kwargs: Any) -> Any:
        """Say what was given."""
        return "default", args, kwargs

    return system, dummy_func


def test_it_answers_for_functions_of_its_methods_names() -> None:
    """D1: whatever their modules and classes; also for functions that are added later."""
    system, dummy_func = library(Floats())
    assert dummy_func(1) == ("default", (1,), {})
    assert dummy_func(1, y=2.0) == ("floats", (1,), {"y": 2.0})
    for qualname, expected in (("Image.double", ("floats", 3.0)), ("halve", "default")):
        function: Any = system.dispatchable("x", module="other", qualname=qualname)(
            lambda x: "default"
        )
        assert function(1.5) == expected
    assert system.problems == ()


def test_only_what_it_documents_is_shown() -> None:
    """F5: the answer of every dummy needs no words in the docs of the library."""
    system, dummy_func = library(Floats())
    double: Any = system.dispatchable("x", module="lib", qualname="double")(lambda x: "default")
    assert list(system.backends) == ["default", "floats"]
    assert dummy_func.__doc__.endswith(
        "floats\n    Types: builtins:float; converts builtins:int.\n"
    )
    assert "Implement `double` for floats." in double.__doc__


def test_fields_of_the_class_hold_for_all_of_its_functions() -> None:
    """C3, C4: a class in a function, too, which no identifier could lead to."""

    class Careful(BackendDummy):
        name = "careful"
        primary_types = ("builtins:float",)
        uses_context = True

        @staticmethod
        def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool:
            return bool(args[0] > 0)

        @classmethod
        def double(cls, context: DispatchContext, x: Any) -> Any:
            return cls.name, context.name, 2 * x

    system, _ = library(Careful())
    double: Any = system.dispatchable("x", module="lib", qualname="double")(lambda x: "default")
    assert double(1.5) == ("careful", "careful", 3.0)
    assert double(-1.5) == "default"


@pytest.mark.parametrize("name", ["defaults", "lib:name", "lib:get_function", "lib:nothing"])
def test_other_names_are_no_functions(name: str) -> None:
    assert Floats.get_function(name) is None
    assert Floats().functions.get(name, 3) == 3


def test_backends_on_the_path_are_there_for_the_block(
    system: BackendSystem, double: Any, distribution: Distribution
) -> None:
    """Docstrings follow, and blocks nest."""
    before = double.__doc__
    assert double("text") == "default"
    with isolated(system, path=[distribution.folder]) as same:
        assert same is system
        assert double("text") == "loud"
        assert system.problems == ()
        assert "loud" in double.__doc__
        with isolated(system, environment={"TESTING_LIBRARY_BLOCK": "loud"}):
            assert double("text") == "default"
        assert double("text") == "loud"
    assert double("text") == "default"
    assert list(system.backends) == ["default"]
    assert double.__doc__ == before


def test_the_environment_holds_for_the_block(
    system: BackendSystem,
    double: Any,
    distribution: Distribution,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For example, the library's own tests may block all backends."""
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


@pytest.mark.parametrize("is_global", [False, True], ids=["block", "globally"])
def test_options_in_force_outside_are_not_in_the_block(
    system: BackendSystem,
    double: Any,
    distribution: Distribution,
    monkeypatch: pytest.MonkeyPatch,
    is_global: bool,
) -> None:
    """They are again after it."""
    monkeypatch.syspath_prepend(distribution.folder)
    options = system.backend_opts(disable="loud")
    with ExitStack() as stack:
        options.enable_globally() if is_global else stack.enter_context(options)
        assert double("text") == "default"
        with isolated(system):
            assert double("text") == "loud"
            assert system.backend_opts().disabled == ()
        assert double("text") == "default"
        assert system.backend_opts().disabled == ("loud",)


def test_what_is_enabled_globally_in_the_block_ends_with_it(
    system: BackendSystem, double: Any, distribution: Distribution
) -> None:
    """A second block does not warn that it overrides the first."""
    for _ in range(2):
        with isolated(system, path=[distribution.folder]):
            system.backend_opts(disable="loud").enable_globally()
            assert double("text") == "default"
    assert system.backend_opts().disabled == ()


def test_modules_from_the_path_are_forgotten_and_others_kept(
    system: BackendSystem, double: Any, tmp_path: Path
) -> None:
    """The next test may have other modules with the same names."""
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
    system: BackendSystem, double: Any, distribution: Distribution
) -> None:
    """The search path, the environment and the backends."""
    path = list(sys.path)
    block = isolated(system, path=[distribution.folder], environment={"TESTING_LIBRARY_BLOCK": "x"})
    block.__enter__()
    assert double("text") == "loud"
    error = LookupError()
    assert not block.__exit__(LookupError, error, None)
    assert double("text") == "default"
    assert sys.path == path
    assert "TESTING_LIBRARY_BLOCK" not in os.environ


@pytest.mark.parametrize("value", ["x", None, sys], ids=["name", "None", "module"])
def test_it_takes_a_system(value: Any) -> None:
    with pytest.raises(TypeError, match=r"takes the BackendSystem of a library, not"):
        isolated(value).__enter__()
