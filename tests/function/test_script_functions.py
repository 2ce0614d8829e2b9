"""cloudpickle sends dispatchables by value where a script defines them, and else by reference."""

from __future__ import annotations

import gc
import pickle
import weakref
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core._function.script_functions import restore_dispatchable
from spatch_core.testing import run_python

pytest.importorskip("cloudpickle")
CORE = Path(spatch_core.__file__).parents[1]

SCRIPT = """
import sys
import cloudpickle
from spatch_core import BackendSystem

system = BackendSystem(None, "SCRIPTLIB", ["builtins:int"], backends=[{
    "name": "first",
    "primary_types": ["fractions:Fraction"],
    "functions": {"__main__:f": {"function": "operator:neg"}},
}])
scale = 2

@system.dispatchable("x")
def f(x):
    return scale * x

@system.dispatchable(("x", "y"))
def g(x, y=3):
    return f(x) + y

@system.dispatchable(lambda x: [x])
def found(x):
    return x

@system.dispatchable("x")
async def waits(x):
    return f(x)

def use(x):
    return f(x), g(x)

options = system.backend_opts(disable="first")
frozen = options(use)
"""

DUMP = (
    SCRIPT
    + """
if "called" in sys.argv:
    f(1), g(1), found(1)
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump((f, g, found, waits, use, frozen, options), file)
"""
)

LOAD = """
import asyncio, fractions, inspect, pickle, sys

with open(sys.argv[1], "rb") as file:
    f, g, found, waits, use, frozen, options = pickle.load(file)
half = fractions.Fraction(1, 2)
for _ in range(2):
    print(f(1), g(1), g(1, y=5), found(4), f(half), use(half), frozen(half), asyncio.run(waits(1)))
with options:
    print(f(half))
print(f.backends, f.explain(half).selected, f.invoke(backend="default")(half))
print(inspect.signature(g), inspect.iscoroutinefunction(waits))
"""


@pytest.mark.parametrize("called", ["", "called"], ids=["before a call", "after a call"])
@pytest.mark.parametrize("script", ["", SCRIPT], ids=["other process", "same script"])
def test_a_library_of_a_script_travels(called: str, script: str, tmp_path: Path) -> None:
    """It dispatches where it arrives, under the options that travel with it."""
    file = str(tmp_path / "pickle")
    run_python(f"import sys\nsys.argv = ['', {file!r}, {called!r}]\n{DUMP}", path=[CORE])
    done = run_python(f"{script}\nimport sys\nsys.argv = ['', {file!r}]\n{LOAD}", path=[CORE])
    call = "2 5 7 4 -1/2 (Fraction(-1, 2), Fraction(5, 2)) (Fraction(1, 1), Fraction(4, 1)) 2"
    assert done.stdout.splitlines() == [
        call,
        call,
        "1",
        "('default', 'first') first 1",
        "(x, y=3) True",
    ]


def test_copies_of_a_library_are_freed(tmp_path: Path) -> None:
    """Each pickle that is loaded is a library of its own."""
    file = str(tmp_path / "pickle")
    run_python(f"import sys\nsys.argv = ['', {file!r}]\n{DUMP}", path=[CORE])
    references = []
    content = Path(file).read_bytes()
    for _ in range(3):
        f, *others = pickle.loads(content)
        assert f(1) == 2
        references.append(weakref.ref(f))
        del f, others
    for _ in range(3):
        gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_a_process_that_has_the_function_gets_no_second_one() -> None:
    """However often it is loaded."""
    system = BackendSystem(None, "SCRIPTLIB")
    function: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
    dispatcher = system._dispatcher
    content = {"default": lambda x: "other", "dispatch_args": "x", "identifier": "lib:f"}
    for _ in range(3):
        copy: Any = lambda *args, **kwargs: None  # noqa: E731  # given other code
        record = restore_dispatchable(dispatcher, {**content, "function": copy})
        assert record.wrapper is function
        assert copy(1) == 1
    assert len(dispatcher.records) == 1
