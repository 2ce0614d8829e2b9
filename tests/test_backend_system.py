"""`BackendSystem`: a library's dispatching, wired together."""

from __future__ import annotations

import gc
import pickle
import sys
import types
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import (
    BackendSkippedWarning,
    BackendSystem,
    backend_system,
    backend_utils,
)
from spatch_core.exceptions import IdentifierError
from spatch_core.testing import run_python, write_distribution

PACKAGE = Path(spatch_core.__file__).parents[1]


class Foreign:
    """The backends' type."""


def first(x: Any) -> str:
    return "first"


def describe(name: str = "first", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:first"}},
        **fields,
    }


class Description:
    """The same as an object."""

    name = "first"
    primary_types = (f"{__name__}:Foreign",)
    functions: Mapping[str, Any] = {"lib:f": {"function": f"{__name__}:first"}}


# ---------------------------------------------------------------------------------------
# The public surface


def test_public_names() -> None:
    """F12: `spatch_core` exports these names, lazily, and no others."""
    assert {"BackendSystem", "BackendImplementation", "DispatchContext"} < set(spatch_core.__all__)
    for name in spatch_core.__all__:
        assert getattr(spatch_core, name) is getattr(spatch_core, name)
        assert name in dir(spatch_core)
    assert issubclass(BackendSkippedWarning, spatch_core.SpatchCoreWarning)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        spatch_core.nothing  # noqa: B018


def test_import_paths_of_the_field() -> None:
    """F12: the names that the field's documentation uses."""
    assert backend_system.BackendSystem is spatch_core.BackendSystem
    assert backend_system.DispatchContext is spatch_core.DispatchContext
    assert backend_utils.BackendImplementation is spatch_core.BackendImplementation


# ---------------------------------------------------------------------------------------
# Making one


def test_none_means_no_types_and_no_backends() -> None:
    """F15: as in the public package, whose adopters change the import and nothing else."""
    system = BackendSystem(None, "MYLIB", default_primary_types=None, backends=None)
    assert list(system.backends) == ["default"]
    assert system.backends["default"].primary_types == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (3, "LIB"),
            "group takes the name of an entry point group, e.g. 'mylib.backends', or None",
        ),
        ((b"lib", "LIB"), "group takes the name"),
        ((None, None), "environ_prefix takes a string, e.g. 'MYLIB', not None"),
        ((None, "LIB", 3), "default_primary_types takes several type patterns, in a list"),
        ((None, "LIB", "lib"), "default_primary_types takes several"),
        ((None, "LIB", (), 3), "backends takes several descriptions, in a list"),
        ((None, "LIB", (), "lib"), "backends takes several"),
        ((None, "LIB", (), {"name": "b"}), "backends takes several"),
    ],
    ids=str,
)
def test_arguments_of_wrong_types_are_named(arguments: Any, message: str) -> None:
    """The error says what to write."""
    with pytest.raises(TypeError, match=message):
        BackendSystem(*arguments)


@pytest.mark.parametrize("prefix", ["", "MY LIB", "MY-LIB", "1LIB", "MY.LIB"], ids=repr)
def test_prefix_must_start_names_of_variables(prefix: str) -> None:
    """F15: a prefix with which no shell could set a variable is a library's mistake."""
    with pytest.raises(ValueError, match="environ_prefix"):
        BackendSystem(None, prefix)


@pytest.mark.parametrize("patterns", [["numpy"], ["numpy:nd array"], [3], ["~"], [""]], ids=repr)
def test_default_types_must_be_patterns(patterns: Any) -> None:
    """F15: a malformed pattern is found when the library is imported."""
    with pytest.raises(IdentifierError, match="type pattern"):
        BackendSystem(None, "MYLIB", default_primary_types=patterns)


def test_one_pattern_is_not_a_list() -> None:
    """F15: a string would be taken letter by letter."""
    with pytest.raises(TypeError, match="in a list"):
        BackendSystem(None, "MYLIB", default_primary_types="numpy:ndarray")


@pytest.mark.parametrize(
    "make", [describe, Description, lambda: Description], ids=["mapping", "object", "class"]
)
def test_backends_in_code(make: Any) -> None:
    """D3: a mapping, an object or a class, passed by the library itself."""
    system = BackendSystem(None, "MYLIB", backends=(each for each in [make()]))
    f: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    assert list(system.backends) == ["default", "first"]
    assert f(Foreign()) == "first"
    assert system.problems == ()


def test_module_as_a_backend_in_code() -> None:
    """D3: a module's attributes are the fields."""
    module = types.ModuleType("first")
    vars(module).update(describe())
    assert list(BackendSystem(None, "MYLIB", backends=[module]).backends) == ["default", "first"]


def test_without_group_and_backends() -> None:
    """A library may decorate its functions before anybody writes a backend."""
    system = BackendSystem(None, "MYLIB")

    @system.dispatchable("x")
    def f(x: int) -> int:
        return x + 1

    assert f(1) == 2
    assert f.backends == ("default",)
    assert f.explain(1).selected == "default"
    assert list(system.backends) == ["default"]
    assert system.backend_opts().backends == ("default",)
    assert repr(system) == f"<BackendSystem of {__name__}, group None>"


# ---------------------------------------------------------------------------------------
# Identity


def test_is_found_again_in_other_processes() -> None:
    """S9: frozen functions carry their library by module and prefix."""
    system = BackendSystem(None, "MYLIB")
    assert pickle.loads(pickle.dumps(system)) is system
    other = BackendSystem(None, "OTHERLIB")
    assert pickle.loads(pickle.dumps([system, other])) == [system, other]


def test_that_is_gone_is_named() -> None:
    """A module that makes no such system any more is the error, not a crash."""
    data = pickle.dumps(BackendSystem(None, "GONELIB"))
    gc.collect()
    with pytest.raises(LookupError, match=r"test_backend_system.*GONELIB"):
        pickle.loads(data)
    system = BackendSystem(None, "MYLIB")
    reduced: Any = system.__reduce__()
    with pytest.raises(LookupError, match="NEVERLIB"):
        reduced[0](__name__, "NEVERLIB")


def test_can_be_collected() -> None:
    """A library that nothing refers to any more goes away with its tables and callbacks."""
    system = BackendSystem(None, "MYLIB", backends=[describe()])
    f: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
    f(Foreign())
    with system.backend_opts(prioritize="first"):
        f(Foreign())
    kept = weakref.ref(system)
    del system, f
    gc.collect()
    assert kept() is None


def test_two_libraries_in_one_process() -> None:
    """Systems share nothing: functions, backends, state."""
    one = BackendSystem(None, "ONELIB", backends=[describe("first")])
    two = BackendSystem(None, "TWOLIB", backends=[describe("second")])
    f: Any = one.dispatchable("x", module="lib", qualname="f")(lambda x: "one")
    g: Any = two.dispatchable("x", module="lib", qualname="f")(lambda x: "two")
    with one.backend_opts(disable="first"):
        assert (f(Foreign()), g(Foreign())) == ("one", "first")
    with pytest.raises(ValueError, match="no backend is named 'second'"):
        one.backend_opts(prioritize="second")
    assert (one.functions["lib:f"], two.functions["lib:f"]) == (f, g)


def test_can_be_vendored(tmp_path: Path) -> None:
    """F13: relative imports only, so that a library can ship the folder."""
    import shutil

    target = tmp_path / "vendorlib" / "_vendored"
    shutil.copytree(
        PACKAGE / "spatch_core", target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )
    (tmp_path / "vendorlib" / "__init__.py").write_text("", encoding="utf-8")
    done = run_python(
        """
        import sys
        from vendorlib._vendored import BackendSystem, BackendImplementation
        backend = BackendImplementation("own")
        system = BackendSystem("vendorlib.backends", "VENDORLIB", ["builtins:int"])
        @system.dispatchable("x")
        def f(x): return 2 * x
        with system.backend_opts(trace=True) as trace:
            assert f(2) == 4
        print(trace[0], [name for name in sys.modules if name.startswith("spatch_core")])
        """,
        path=[tmp_path],
        environment={"PYTHONPATH": None},
    )
    assert done.stdout.strip() == "__main__:f -> default called []"


def test_without_a_parser_files_are_skipped(tmp_path: Path) -> None:
    """E2, F13: a vendored copy on Python 3.10 requires no tomli; there is one warning."""
    for name in ("first", "second"):
        write_distribution(
            tmp_path,
            f"{name}-dist",
            entry_points={"reloadlib.backends": {name: f"noparser_{name}:backend.toml"}},
            files={
                f"noparser_{name}/backend.toml": (
                    f'name = "{name}"\nprimary_types = ["builtins:int"]\n'
                )
            },
        )
    done = run_python(
        """
        import sys
        import warnings
        sys.modules["tomli" if sys.version_info < (3, 11) else "tomllib"] = None
        from spatch_core import BackendSystem
        own = {"name": "own", "primary_types": ["builtins:float"]}
        system = BackendSystem("reloadlib.backends", "RELOADLIB", ["builtins:int"], [own])
        @system.dispatchable("x", module="lib", qualname="f")
        def f(x): return x
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print(f(2), list(system.backends))
        print(len(caught), [each.backend for each in system.problems])
        print(caught[0].message)
        """,
        path=[tmp_path, PACKAGE],
    )
    first, second, message = done.stdout.splitlines()
    assert first == "2 ['default', 'own']"
    assert second == "1 ['first', 'second']"
    assert "TOML files cannot be read here" in message
    assert "Install tomli" in message


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    """F13: the core runs where no other package can be imported."""
    write_distribution(
        tmp_path,
        "reloadlib-late",
        entry_points={"reloadlib.backends": {"late": "reloadlib_late:backend.toml"}},
        files={
            "reloadlib_late/__init__.py": "",
            "reloadlib_late/backend.toml": 'name = "late"\nprimary_types = ["builtins:str"]\n',
        },
    )
    done = run_python(
        """
        import sys
        from spatch_core import BackendSystem
        system = BackendSystem("reloadlib.backends", "RELOADLIB", ["builtins:int"])
        @system.dispatchable("x", module="lib", qualname="f")
        def f(x): return x
        print(f(2), list(system.backends))
        loaded = {name.partition(".")[0] for name in sys.modules}
        print(sorted(loaded - sys.stdlib_module_names - {"__main__", "spatch_core"}))
        """,
        path=[tmp_path, PACKAGE],
        options=["-S"],
    )
    assert done.stdout.splitlines() == ["2 ['default', 'late']", "[]"]


@pytest.mark.parametrize("name", ["catalog", "check_type", "keeper", "resolver"])
def test_what_is_not_documented_is_private(name: str) -> None:
    """F12: the public names of a system are those of its page."""
    assert not hasattr(BackendSystem(None, "ASKEDLIB"), name)
