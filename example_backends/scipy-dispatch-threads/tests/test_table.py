"""Every function in the table is implemented, described, shared, and correct."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from scipy import ndimage
from sharing import STRATEGIES, forced, shared, why_not
from typical import CALLS, an_array

from scipy_dispatch import system
from scipy_dispatch.testing import assert_identical
from scipy_dispatch_threads import _pool
from scipy_dispatch_threads._table import TABLE
from scipy_dispatch_threads.ndimage import backend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_every_function_has_a_typical_call() -> None:
    assert CALLS.keys() == TABLE.keys()


def test_description_and_registry_agree() -> None:
    """The description file lists the registered functions."""
    text = files("scipy_dispatch_threads").joinpath("backend.toml").read_text(encoding="utf-8")
    functions = tomllib.loads(text)["functions"]
    assert functions.pop("auto-generation") == {
        "backend": "scipy_dispatch_threads.ndimage:backend",
        "modules": ["scipy_dispatch_threads.ndimage"],
    }
    defaults = functions.pop("defaults")
    assert {name: {**defaults, **fields} for name, fields in functions.items()} == {
        name: {**defaults, "function": each.identifier, "should_run": each.should_run}
        for name, each in backend.functions.items()
    }
    assert list(functions) == sorted(functions)


def test_the_backend_is_found_and_sound() -> None:
    (entry_point,) = entry_points(group="scipy_dispatch.backends", name="threads")
    assert entry_point.value == "scipy_dispatch_threads:backend.toml"
    assert system.backends["threads"].requires_opt_in
    assert not [problem for problem in system.problems if "threads" in str(problem)]


@pytest.mark.parametrize("key", STRATEGIES)
def test_a_typical_call_is_shared(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call makes the requested number of slabs; its result equals SciPy's bit for bit."""
    name, _ = STRATEGIES[key]
    numbers = []
    run = _pool.run

    def counting(task: Callable[[Any], object], items: Sequence[Any], share: int) -> None:
        items = list(items)
        numbers.append(len(items))
        run(task, items, share)

    monkeypatch.setattr(_pool, "run", counting)
    arguments = {"input": an_array(name), **CALLS[name]}
    if "by passes" in key:
        arguments.pop("structure", None)
    assert why_not(key, arguments, forced(5)) is None
    result = shared(key, forced(5))(**arguments)
    assert 5 in numbers
    assert_identical(result, getattr(ndimage, name)(**arguments))
