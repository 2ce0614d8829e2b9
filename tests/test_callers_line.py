"""Warnings of the package are shown at the line of the caller."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import spatch_core
from spatch_core import stacklevel
from tests.library import Foreign, answering, declines, describe, make


def shown(call: Callable[[], object]) -> warnings.WarningMessage:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    (warning,) = caught
    assert str(warning.message) == "look here"
    return warning


# ---------------------------------------------------------------------------------------
# stacklevel


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


BACKENDS = {
    "no backend": describe("first", functions={}),
    "a backend": describe("first", declines),
    "a backend that is asked": describe("first", declines, should_run=answering(False)),
    "a backend that takes a context": describe("first", declines, uses_context=True),
}
STATES: list[dict[str, object]] = [{}, {"prioritize": "first"}, {"trace": True}]
FUNCTIONS: list[Any] = [warn_plainly, warn_by_a_helper]
if sys.version_info >= (3, 12):
    # The helper's own prefix would have to be given, too.
    FUNCTIONS.append(warn_with_prefixes)


@pytest.mark.parametrize("default", FUNCTIONS)
@pytest.mark.parametrize("dispatch_args", ["x", None], ids=["a name", "a finder"])
@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_a_librarys_warning_is_shown_at_its_callers_line(
    backend: dict[str, Any], state: Any, dispatch_args: Any, default: Any
) -> None:
    """F1: whatever frames of dispatching are in between."""
    system, function = make(backend, dispatch_args=dispatch_args, default=default)
    for x in (3, Foreign(), Foreign()):
        with system.backend_opts(**state):
            warning = shown(functools.partial(called, function, x))
        assert (warning.filename, warning.category) == (__file__, DeprecationWarning)


def test_stacklevel_counts_as_warnings_does(package: Any) -> None:
    """F1: without dispatching, and beyond the outermost frame."""
    assert stacklevel(1) == 1
    assert stacklevel() == 2
    assert stacklevel(10_000) >= 10_000


def test_a_warning_of_an_import_is_shown_at_its_line(package: Any) -> None:
    """F1: `warnings` leaves out the frames of the import system."""
    text = (
        "import warnings\nfrom spatch_core import stacklevel\n"
        "warnings.warn('look here', DeprecationWarning, stacklevel=stacklevel())\n"
    )
    name = package("unit_warning_import", {"deprecated.py": text})
    warning = shown(lambda: importlib.import_module(f"{name}.deprecated"))
    assert "importlib" in warning.filename
    assert "_bootstrap" not in warning.filename
