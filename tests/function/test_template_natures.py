"""The text for coroutine functions and generators; how they behave is tried in `test_template`."""

from __future__ import annotations

from pathlib import Path
from types import CellType, FunctionType

import pytest

import spatch_core
from spatch_core._dispatch_arguments import ASYNC_GENERATOR, COROUTINE, GENERATOR, nature_of
from spatch_core._function.template import compiled
from spatch_core._function.template_natures import ANSWERS
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]


@pytest.mark.parametrize(
    "nature",
    [
        pytest.param(COROUTINE, id="coroutine"),
        pytest.param(GENERATOR, id="generator"),
        pytest.param(GENERATOR | 0x100, id="marked generator"),
        pytest.param(ASYNC_GENERATOR, id="asynchronous generator"),
    ],
)
@pytest.mark.parametrize("places", [None, ((0, True),)], ids=["finder", "name"])
def test_the_wrapper_has_the_nature_of_the_function(places: object, nature: int) -> None:
    """F2: `inspect` and frameworks tell natures apart by flags of the code."""
    code = compiled((places, nature, True))  # type: ignore[arg-type]  # one of the two
    closure = tuple(CellType() for _ in code.co_freevars)
    assert nature_of(FunctionType(code, {}, "f", None, closure)) == nature


def test_every_nature_that_a_wrapper_may_have_is_there() -> None:
    assert ANSWERS.keys() == {COROUTINE, GENERATOR, ASYNC_GENERATOR}


def test_plain_functions_do_without() -> None:
    code = """
        import sys
        from spatch_core import BackendSystem
        system = BackendSystem(None, "LIB")
        name = "spatch_core._function.template_natures"
        @system.dispatchable("x")
        def f(x): return x
        print(name in sys.modules)
        @system.dispatchable("x")
        async def g(x): return x
        print(name in sys.modules)
    """
    done = run_python(code, path=[CORE])
    assert done.stdout.split() == ["False", "True"]
