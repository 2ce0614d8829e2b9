"""scikit-image's own examples, which each function has in its docstring.

`tools/skimage_tests.py` runs its tests, which its wheels lack.
"""

from __future__ import annotations

import doctest
import io
import warnings
from importlib import import_module
from typing import Any

import pytest

from scipy_dispatch_threads._split import Policy
from skimage_dispatch import backend_opts, system
from spatch_core.testing.backend_run import replace_functions

MODULES = ("filters", "filters.rank", "morphology")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
doctest.register_optionflag("FLOAT_CMP")  # of a plugin of pytest


def failures(module: str) -> dict[str, int]:
    """Run the examples of a module's functions; return how many of each fail."""
    counts = {}
    ours: Any = import_module(f"skimage_dispatch.{module}")
    finder = doctest.DocTestFinder(recurse=False)
    for name in ours.__all__:
        if (default := getattr(getattr(ours, name), "__wrapped__", None)) is None:
            continue
        runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for test in finder.find(default, name, globs=dict(default.__globals__)):
                runner.run(test, out=io.StringIO().write)
        if runner.tries:
            counts[name] = runner.failures
    return counts


def test_the_examples_give_what_they_give_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """With scikit-image's functions replaced by the dispatchables, and three slabs in each call."""
    plain = {module: failures(module) for module in MODULES}
    assert sum(not failed for counts in plain.values() for failed in counts.values()) > 30
    monkeypatch.setattr(Policy, "current", lambda: Policy(2, smallest=1, slabs=3))
    put_back = replace_functions(system)
    try:
        assert {module: failures(module) for module in MODULES} == plain
        with backend_opts(prioritize="threads", trace=True) as trace:
            assert {module: failures(module) for module in MODULES} == plain
    finally:
        put_back()
    assert sum(event.backend == "threads" for event in trace) > 30
