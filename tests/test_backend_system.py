"""`BackendSystem`: a library's dispatching, wired together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.exceptions import IdentifierError
from spatch_core.testing import run_python, write_distribution
from tests.library import Foreign, answering, describe, make, pattern

PACKAGE = Path(spatch_core.__file__).parents[1]


class Description:
    """The same as an object."""

    name = "first"
    primary_types = (pattern("Foreign"),)
    functions: Mapping[str, Any] = {"lib:f": {"function": answering("first")}}


# ---------------------------------------------------------------------------------------
# Making one


def test_none_means_no_types_and_no_backends() -> None:
    """F11: as in the public package, whose adopters change the import and nothing else."""
    system = BackendSystem(None, "MYLIB", default_primary_types=None, backends=None)
    assert list(system.backends) == ["default"]
    assert system.backends["default"].primary_types == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, "LIB"), "group takes a name, or None, not 3"),
        ((b"lib", "LIB"), "group takes a name"),
        ((None, None), "environ_prefix takes a name as 'MYLIB', not None"),
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
    """F11: a prefix with which no shell could set a variable is a library's mistake."""
    with pytest.raises(ValueError, match="environ_prefix"):
        BackendSystem(None, prefix)


@pytest.mark.parametrize("patterns", [["numpy"], ["numpy:nd array"], [3], ["~"], [""]], ids=repr)
def test_default_types_must_be_patterns(patterns: Any) -> None:
    """F11: a malformed pattern is found when the library is imported."""
    with pytest.raises(IdentifierError, match="type pattern"):
        BackendSystem(None, "MYLIB", default_primary_types=patterns)


@pytest.mark.parametrize("given", [list, "builtins.list"], ids=repr)
def test_a_class_and_a_dotted_name_say_which_pattern_is_meant(given: Any) -> None:
    """F11: the error has the text to write."""
    with pytest.raises(IdentifierError, match="; write 'builtins:list'"):
        BackendSystem(None, "MYLIB", [given])


@pytest.mark.parametrize(
    "described",
    [describe("first"), Description(), Description],
    ids=["mapping", "object", "class"],
)
def test_backends_in_code(described: Any) -> None:
    """D1: a mapping, an object or a class, passed by the library itself."""
    system = BackendSystem(None, "MYLIB", backends=(each for each in [described]))
    f: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    assert list(system.backends) == ["default", "first"]
    assert f(Foreign()) == "first"
    assert system.problems == ()


# ---------------------------------------------------------------------------------------
# Identity


def test_two_libraries_in_one_process() -> None:
    """Systems share nothing: functions, backends, state."""
    (one, f), (two, g) = (make(describe(name)) for name in ("first", "second"))
    with one.backend_opts(disable="first"):
        assert (f(Foreign()), g(Foreign())) == ("default", "second")
    with pytest.raises(ValueError, match="no backend is named 'second'"):
        one.backend_opts(prioritize="second")
    assert (one.functions["lib:f"], two.functions["lib:f"]) == (f, g)


def test_without_a_parser_files_are_skipped(tmp_path: Path) -> None:
    """E2, F10: a vendored copy on Python 3.10 requires no tomli."""
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
    assert second == "2 ['first', 'second']"
    assert "TOML files cannot be read here" in message
    assert "Install tomli" in message
