"""The text of wrappers, and the code that is compiled from it once for each shape."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

import pytest

from spatch_core._dispatch_arguments import nature_of
from spatch_core._function import template

PLACES: dict[str, Any] = {
    "finder": None,
    "no dispatch arguments": (),
    "one": ((0, True),),
    "two": ((0, True), (1, True)),
    "positional only": ((0, False),),
    "keyword only": ((None, True),),
    "apart": ((2, True), (None, True)),
    "one position twice": ((0, True), (0, True)),
}
NATURES = {
    "plain": 0,
    "generator": inspect.CO_GENERATOR,
    "awaitable generator": inspect.CO_GENERATOR | inspect.CO_ITERABLE_COROUTINE,
    "coroutine": inspect.CO_COROUTINE,
    "asynchronous generator": inspect.CO_ASYNC_GENERATOR,
}
SHAPES: dict[str, Any] = {
    f"{nature}, {places}{', catches' * catches}": (PLACES[places], NATURES[nature], catches)
    for nature in NATURES
    for places in PLACES
    for catches in (False, True)
}


def words(shape: Any) -> dict[str, str]:
    return {name: name for name in (*template.own_names(shape), *template.SHARED)}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_text_is_one_function(shape: Any) -> None:
    """It uses no name but its own: the globals are those of a library."""
    text = template.source_of(shape, "f", words(shape))
    (function,) = ast.parse(text).body
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    stored |= {
        node.name or ""
        for node in ast.walk(function)
        if isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler))
    }
    parameters = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    loaded = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    assert loaded <= stored | parameters | words(shape).keys()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_compiled_code_has_no_globals(shape: Any) -> None:
    """Names of the library can mean anything; each shape is compiled once."""
    code = template.compiled(shape)
    assert {*code.co_freevars} <= words(shape).keys()
    steps = {"__anext__", "asend", "athrow", "aclose"}
    attributes = {"call_found", "check", "deferred", "extract", "failed", "fill", "get", *steps}
    assert set(code.co_names) <= attributes
    assert template.compiled(shape) is code


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_code_has_the_nature_of_the_function(shape: Any) -> None:
    """`inspect` and frameworks look at these flags."""
    code = template.compiled(shape)
    closure = tuple(types.CellType() for _ in code.co_freevars)
    assert nature_of(types.FunctionType(code, {}, "f", None, closure)) == shape[1]
    assert code.co_argcount == code.co_kwonlyargcount == 0
