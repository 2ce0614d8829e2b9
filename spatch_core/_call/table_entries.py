"""The entries of tables: implementations, and callables that try a whole chain by themselves."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .._parameters import Function, TakesFound


def tries_whole_chain(target: object) -> bool:
    """Whether an entry of a table tries the whole chain by itself."""
    if isinstance(target, FunctionType):
        return "_tries_whole_chain" in target.__dict__
    return isinstance(target, TakesFound)


def as_function(target: Any, function: Function) -> Callable[..., Any]:
    """Return the entry of a table for an object that tries a whole chain: a function.

    CPython calls Python functions without using the C stack, but objects with `__call__` through
    it, where deep recursion of a library's function could overflow the stack of a thread. For a
    function with a finder, the wrapper calls the method `call_found` of the object instead.
    """
    if function.parameters is None:
        return target  # type: ignore[no-any-return]  # a `TakesFound`
    run = target.run

    def call(*args: Any, **kwargs: Any) -> Any:
        return run(args, kwargs)

    made: Any = call
    made._tries_whole_chain = True  # an attribute, because the type of functions has no subclasses
    return call
