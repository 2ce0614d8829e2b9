"""Warnings of the package are shown at the line of the caller."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem, GlobalOptionsWarning, SpatchCoreWarning, stacklevel
from spatch_core._callers_line import warn_caller


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module with the name of one of this package."""
    module = types.ModuleType("spatch_core._pretended")
    module.__dict__["warn_caller"] = warn_caller
    module.__dict__["GlobalOptionsWarning"] = GlobalOptionsWarning
    text = (
        "def inner(): warn_caller(GlobalOptionsWarning('look here'))\n"
        "def outer(call=None): (call or inner)()\n"
        "def accept(value): inner()\n"
    )
    exec(compile(text, "pretended.py", "exec"), vars(module))  # noqa: S102  # own text
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def shown(call: Callable[[], object]) -> warnings.WarningMessage:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    (warning,) = caught
    assert str(warning.message) == "look here"
    return warning


def test_a_warning_is_shown_at_the_callers_line(ours: types.ModuleType) -> None:
    """E2: not at a line of this package."""

    def call() -> None:
        ours.outer()

    warning = shown(call)
    assert os.path.samefile(warning.filename, __file__)
    assert warning.lineno == call.__code__.co_firstlineno + 1
    assert warning.category is GlobalOptionsWarning


def test_a_warning_is_shown_at_the_callers_line_through_the_standard_library(
    ours: types.ModuleType,
) -> None:
    """`functools` calls back into the package with a frame of its own."""
    dispatch = functools.singledispatch(ours.accept)

    def call() -> None:
        dispatch(1)

    warning = shown(call)
    assert os.path.samefile(warning.filename, __file__)
    assert warning.lineno == call.__code__.co_firstlineno + 1


def test_a_warning_during_an_import_is_shown_at_the_import(
    ours: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library may need its backends while a user imports it."""
    (tmp_path / "warns_when_imported.py").write_text(
        "import spatch_core._pretended as ours\nours.outer()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "warns_when_imported", raising=False)
    warning = shown(lambda: importlib.import_module("warns_when_imported"))
    assert Path(warning.filename).name == "warns_when_imported.py"
    assert warning.lineno == 2


def test_a_module_of_a_similar_name_is_a_caller(ours: types.ModuleType) -> None:
    """Only frames of this package are skipped."""
    namespace: dict[str, Any] = {"__name__": "spatch_core_extras", "ours": ours}
    exec(compile("def call():\n    ours.outer()\n", "extras.py", "exec"), namespace)  # noqa: S102  # own text
    warning = shown(namespace["call"])
    assert (warning.filename, warning.lineno) == ("extras.py", 2)


@pytest.mark.parametrize("name", [None, 3])
def test_a_caller_without_a_name_is_a_caller(ours: types.ModuleType, name: object) -> None:
    namespace: dict[str, Any] = {"__name__": name, "ours": ours}
    exec(compile("def call():\n    ours.outer()\n", "nameless.py", "exec"), namespace)  # noqa: S102  # own text
    warning = shown(namespace["call"])
    assert (warning.filename, warning.lineno) == ("nameless.py", 2)


def test_a_warning_is_shown_once_at_a_line(ours: types.ModuleType) -> None:
    """As Python's own warnings are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            ours.outer()
    assert len(caught) == 1


def test_a_warning_can_be_turned_into_an_error(ours: types.ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpatchCoreWarning)
        with pytest.raises(GlobalOptionsWarning, match="look here"):
            ours.outer()


# ---------------------------------------------------------------------------------------
# stacklevel


class Foreign:
    """The backends' type."""


def called(function: Any, x: object) -> None:
    """Be the caller, whose line is shown."""
    function(x)


def warn_of(level: int) -> None:
    """Warn as a helper of a library does."""
    warnings.warn("look here", DeprecationWarning, stacklevel=stacklevel(level))


def warn_plainly(x: object) -> str:
    warnings.warn("look here", DeprecationWarning, stacklevel=stacklevel())
    return "default"


def warn_by_a_helper(x: object) -> str:
    warn_of(3)
    return "default"


def warn_with_prefixes(x: object) -> str:
    prefixes = ("<dispatch of ", os.path.dirname(spatch_core.__file__))
    options: Any = {"skip_file_prefixes": prefixes}
    warnings.warn("look here", DeprecationWarning, stacklevel=2, **options)
    return "default"


def defers(*args: object) -> object:
    return NotImplemented


def never(*args: object) -> object:
    return False


ENTRIES: dict[str, dict[str, object]] = {
    "no backend": {},
    "a backend": {"function": f"{__name__}:defers"},
    "a backend that is asked": {
        "function": f"{__name__}:defers",
        "should_run": f"{__name__}:never",
    },
    "a backend that takes a context": {"function": f"{__name__}:defers", "uses_context": True},
}
STATES: list[dict[str, object]] = [{}, {"prioritize": "first"}, {"trace": True}]
FUNCTIONS: list[Any] = [warn_plainly, warn_by_a_helper]
if sys.version_info >= (3, 12):
    # The helper's own prefix would have to be given, too.
    FUNCTIONS.append(warn_with_prefixes)


@pytest.mark.parametrize("default", FUNCTIONS)
@pytest.mark.parametrize("dispatch_args", ["x", None], ids=["a name", "a finder"])
@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("entry", [*ENTRIES.values()], ids=[*ENTRIES])
def test_a_librarys_warning_is_shown_at_its_callers_line(
    entry: dict[str, object], state: Any, dispatch_args: Any, default: Any
) -> None:
    """F17: whatever frames of dispatching are in between."""
    description = {
        "name": "first",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": entry} if entry else {},
    }
    system = BackendSystem(None, "MYLIB", backends=[description])
    function: Any = system.dispatchable(dispatch_args, module="lib", qualname="f")(default)
    for x in (3, Foreign(), Foreign()):
        with system.backend_opts(**state):
            warning = shown(functools.partial(called, function, x))
        assert (warning.filename, warning.category) == (__file__, DeprecationWarning)


def test_stacklevel_counts_as_warnings_does(package: Any) -> None:
    """F17: without dispatching, and beyond the outermost frame."""
    assert stacklevel(1) == 1
    assert stacklevel() == 2
    assert stacklevel(10_000) >= 10_000


def test_a_warning_of_an_import_is_shown_at_its_line(package: Any) -> None:
    """F17: `warnings` leaves out the frames of the import system."""
    text = (
        "import warnings\nfrom spatch_core import stacklevel\n"
        "warnings.warn('look here', DeprecationWarning, stacklevel=stacklevel())\n"
    )
    name = package("unit_warning_import", {"deprecated.py": text})
    warning = shown(lambda: importlib.import_module(f"{name}.deprecated"))
    assert "importlib" in warning.filename
    assert "_bootstrap" not in warning.filename
