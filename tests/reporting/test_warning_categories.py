"""The categories of warnings; `test_exceptions` has the text of each."""

from __future__ import annotations

import warnings
from pathlib import Path

import spatch_core
from spatch_core import FallbackWarning
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]


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
