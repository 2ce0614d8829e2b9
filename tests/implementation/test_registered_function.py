"""What is kept of a registered implementation: identifiers that lead to it and its should_run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from spatch_core import BackendImplementation


def sharpen(image: object) -> str:
    return "gpu"


def is_large(context: object, image: Any) -> bool:
    return bool(image > 100)


class Kernels:
    def scale(self, image: object) -> str:
        return "gpu"


def fresh() -> BackendImplementation:
    return BackendImplementation("fresh")


# --- functions without a usable name ------------------------------------------------------


class CallableObject:
    def __call__(self, *args: object) -> bool:
        return True


@pytest.mark.parametrize(
    "register",
    [
        lambda: fresh().implements("photolib:blur")(CallableObject()),
        lambda: fresh().implements("photolib:blur", should_run=CallableObject())(sharpen),
    ],
    ids=["implementation", "should_run"],
)
def test_an_object_that_has_no_name_is_refused_with_the_reason(
    register: Callable[[], object],
) -> None:
    """Its identifier can be given instead."""
    with pytest.raises(TypeError, match="has no name that an identifier could use"):
        register()


@pytest.mark.parametrize("implementation", [len, Kernels().scale], ids=["builtin", "bound method"])
def test_a_lambda_needs_an_implementation_that_can_keep_it(
    implementation: Callable[..., object],
) -> None:
    """The lambda becomes an attribute; a function with a name need not."""
    with pytest.raises(TypeError, match="no name; give it one"):
        fresh().implements("photolib:size", should_run=lambda context, image: True)(implementation)
    implemented = fresh()
    implemented.implements("photolib:size", should_run=is_large)(implementation)
    assert implemented.functions["photolib:size"].should_run == f"{__name__}:is_large"


# --- mistakes in registering -------------------------------------------------------------


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
    "cached function": "@backend.implements\n@functools.lru_cache\ndef f(x): ...",
}


@pytest.mark.parametrize("text", [*BARE.values()], ids=[*BARE])
def test_implements_needs_parentheses(text: str) -> None:
    """F11: an error at the function, which says what to write; nothing is registered."""
    implementation = fresh()
    scope = {"backend": implementation, "helper": helper, "functools": functools}
    write = r'write @backend\.implements\("library\.module:function"\), with parentheses'
    with pytest.raises(TypeError, match=rf"identifier, not .*: {write}"):
        exec(compile(text, "pkg.py", "exec"), {**scope, "__name__": "pkg"})  # noqa: S102
    assert implementation.functions == {}


def test_set_should_run_needs_parentheses() -> None:
    """F11: an error at the function."""
    text = "@backend.set_should_run\ndef f(context, x): ..."
    with pytest.raises(ValueError, match=r"not registered.*decorate it with implements"):
        exec(text, {"backend": fresh(), "__name__": "pkg"})  # noqa: S102  # own text


@pytest.mark.parametrize("given", [None, 3, ["photolib:blur"], object()], ids=name_of_type)
def test_what_names_no_function_is_refused(given: Any) -> None:
    """F11: at the line that has the mistake."""
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
    """F11: the function would be registered with them, and fail later."""
    with pytest.raises(TypeError, match=text):
        fresh().implements("photolib:blur", **options)
