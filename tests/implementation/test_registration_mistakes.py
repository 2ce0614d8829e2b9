"""Mistakes in registering implementations are errors at the line that has them."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from spatch_core import BackendImplementation


def fresh() -> BackendImplementation:
    return BackendImplementation("fresh")


def name_of_type(given: object) -> str:
    return type(given).__name__


def helper(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


BARE = {
    "function": "@backend.implements\ndef f(x): ...",
    "async function": "@backend.implements\nasync def f(x): ...",
    "static method": "class Image:\n    @backend.implements\n    @staticmethod\n    def f(x): ...",
    "class method": "class Image:\n    @backend.implements\n    @classmethod\n    def f(x): ...",
    "inner function": "def make():\n    @backend.implements\n    def f(x): ...\nmake()",
    "wrapped function": "@backend.implements\n@helper\ndef f(x): ...",
    "cached function": "@backend.implements\n@functools.lru_cache\ndef f(x): ...",
    "class": "@backend.implements\nclass f: ...",
}


@pytest.mark.parametrize("text", [*BARE.values()], ids=[*BARE])
def test_implements_needs_parentheses(text: str) -> None:
    """F14: an error at the function, which says what to write; nothing is registered."""
    implementation = fresh()
    scope = {"backend": implementation, "helper": helper, "functools": functools}
    write = r'write @backend\.implements\("library\.module:function"\), with parentheses'
    with pytest.raises(TypeError, match=rf"not the .*f: {write}"):
        exec(compile(text, "pkg.py", "exec"), {**scope, "__name__": "pkg"})  # noqa: S102
    assert implementation.functions == {}


@pytest.mark.parametrize("name", ["f", "_"])
def test_set_should_run_needs_parentheses(name: str) -> None:
    """F14: the error for an implementation that is not registered would mislead."""
    text = f"def _(x): ...\n@backend.set_should_run\ndef {name}(context, x): ..."
    with pytest.raises(TypeError, match=r"write @backend\.set_should_run\(implementation\)"):
        exec(text, {"backend": fresh(), "__name__": "pkg"})  # noqa: S102  # own text


@pytest.mark.parametrize("given", [None, 3, ["photolib:blur"], object()], ids=name_of_type)
def test_what_names_no_function_is_refused(given: Any) -> None:
    """F14: at the line that has the mistake."""
    with pytest.raises(TypeError, match=r'identifier, not .*write @backend\.implements\("lib'):
        fresh().implements(given)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"should_run": True}, "should_run takes a function or its identifier, not True"),
        ({"uses_context": "yes"}, "uses_context takes True or False, not 'yes'"),
        ({"uses_context": None}, "uses_context takes True or False, not None"),
    ],
    ids=["should_run", "uses_context", "None"],
)
def test_options_of_wrong_types_are_refused(options: dict[str, Any], text: str) -> None:
    """F14: the function would be registered with them, and fail later."""
    with pytest.raises(TypeError, match=text):
        fresh().implements("photolib:blur", **options)
