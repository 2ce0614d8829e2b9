"""The categories of warnings; `test_exceptions` has the text of each."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest

import spatch_core
from spatch_core import FallbackWarning, exceptions
from spatch_core._reporting import warning_categories
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]
CATEGORIES = sorted(name for name in vars(warning_categories) if name.endswith("Warning"))


@pytest.mark.parametrize("name", CATEGORIES)
def test_users_find_them_among_the_exceptions(name: str) -> None:
    """E8: pickles, tracebacks and filters name the public module."""
    category = getattr(warning_categories, name)

    assert getattr(exceptions, name) is category
    assert category.__module__ == "spatch_core.exceptions"
    assert pickle.loads(pickle.dumps(category)) is category
    assert name in dir(exceptions)


def test_errors_do_without_them() -> None:
    """They are imported when one is looked up, and a filter of the command line finds them."""
    code = """
        import sys
        import spatch_core.exceptions
        print("spatch_core._reporting.warning_categories" in sys.modules)
        try:
            spatch_core.exceptions.OtherWarning
        except AttributeError as error:
            print(error)
        from spatch_core.exceptions import *
        print(FallbackWarning.__name__, SpatchCoreError.__name__)
    """
    done = run_python(code, path=[CORE])

    assert done.stdout.splitlines() == [
        "False",
        "module 'spatch_core.exceptions' has no attribute 'OtherWarning'",
        "FallbackWarning SpatchCoreError",
    ]


def test_a_filter_by_name_finds_them() -> None:
    """As ``-W`` and ``PYTHONWARNINGS`` name them."""
    code = """
        import warnings
        from spatch_core import FallbackWarning
        warnings.warn(FallbackWarning("lib:f", ["m:B"], ["m:B"], []))
    """
    option = "-Werror::spatch_core.exceptions.FallbackWarning"
    done = run_python(code, path=[CORE], options=[option], check=False)

    assert "spatch_core.exceptions.FallbackWarning: lib:f runs" in done.stderr
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FallbackWarning)
        warnings.warn(FallbackWarning("lib:f", [], [], []), stacklevel=1)
    assert [each.category for each in caught] == [FallbackWarning]
