"""The errors; `test_exceptions` has the text of each."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import spatch_core
from spatch_core import exceptions
from spatch_core._reporting import errors
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]
ERRORS = sorted(name for name in vars(errors) if name.endswith("Error"))


@pytest.mark.parametrize("name", ERRORS)
def test_users_find_them_among_the_exceptions(name: str) -> None:
    """E8: pickles and tracebacks name the public module."""
    error = getattr(errors, name)

    assert getattr(exceptions, name) is error
    assert error.__module__ == "spatch_core.exceptions"
    assert pickle.loads(pickle.dumps(error)) is error
    assert name in dir(exceptions)


def test_a_pickled_import_error_keeps_attributes_that_were_added() -> None:
    """E8: such as notes."""
    error = errors.ImplementationImportError("gpu", "lib:f", "gpu_lib:f", "LIB_BLOCK")
    error.__notes__ = ["while loading the model"]  # type: ignore[attr-defined]  # as of 3.11

    other = pickle.loads(pickle.dumps(error))

    assert vars(other) == vars(error)
    assert str(other) == str(error)


def test_they_import_no_warnings_and_no_errors_for_names() -> None:
    """A program that handles an error of a backend does not import the other classes."""
    code = "import sys; import spatch_core._reporting.errors; print(*sys.modules)"
    loaded = run_python(code, path=[CORE]).stdout.split()
    assert "spatch_core._reporting.warning_categories" not in loaded
    assert "spatch_core._reporting.unknown_names" not in loaded
