"""Freezes a dispatch state into functions, and restores them from pickles."""

from __future__ import annotations

from .._dispatch_arguments import ASYNC_GENERATOR, COROUTINE
from .._identifiers import import_identifier
from .frozen_coroutines import (
    AsyncGeneratorFunctionWithState,
    CoroutineFunctionWithState,
    GeneratorFunctionWithState,
)
from .frozen_function import FunctionWithState
from .option_checks import check_and_keep
from .pickles import check_names, state_of
from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from .owner import Owner
    from .scope import Scope

    F = TypeVar("F", bound=Callable[..., Any])


def freeze(owner: Owner, scope: Scope, function: F) -> F:
    """Return `function` so that it always runs in `scope`.

    Parameters
    ----------
    owner : Owner
        The library.
    scope : Scope
        The state to freeze, with its tables.
    function : callable
        A function, a coroutine function, a generator function or any other callable.

    Returns
    -------
    callable
        A `FunctionWithState`, which can be pickled.

    Raises
    ------
    TypeError
        For what cannot be called.
    """
    if isinstance(function, (staticmethod, classmethod)):
        method: Any = type(function)(freeze(owner, scope, function.__func__))
        return method  # type: ignore[no-any-return]  # the same kind of method
    if not callable(function):
        raise TypeError(f"backend options decorate a function, not {function!r}")
    frozen: Any = kind_of(function)(owner, scope, function)
    return frozen  # type: ignore[no-any-return]  # it is called like `function`


def freeze_alone(
    options: Any, function: F, prioritize: Any, disable: Any, others: Mapping[str, Any]
) -> F:
    """Return `function` under the options that are given, and nothing of what is in force here.

    Parameters
    ----------
    options : BackendOptions or type of BackendOptions
        The library's; of an object, its own options are outer ones.
    function : callable
        The callable to freeze.
    prioritize, disable : optional
        As for a block.
    others : mapping of str to object
        The other options of a block.
    """
    owner: Owner = options._owner
    state = check_and_keep(options, prioritize, disable, others).within(DispatchState())
    if not isinstance(options, type):
        state = state.within(options._own.within(DispatchState()))
    return freeze(owner, owner.keeper.scope(state), function)


def kind_of(function: Any) -> type[FunctionWithState]:
    """Return the class for a callable, by its nature."""
    nature = getattr(function, "nature", None)  # of what `invoke` returns
    if type(nature) is int:
        if nature & ASYNC_GENERATOR:
            return AsyncGeneratorFunctionWithState
        if nature & COROUTINE:
            return CoroutineFunctionWithState
        return GeneratorFunctionWithState if nature else FunctionWithState
    import inspect

    def is_kind(check: Callable[[Any], bool]) -> bool:
        return check(function) or check(type(function).__call__)

    if is_kind(inspect.isgeneratorfunction):
        return GeneratorFunctionWithState
    if is_kind(inspect.isasyncgenfunction):
        return AsyncGeneratorFunctionWithState
    if is_kind(inspect.iscoroutinefunction):
        return CoroutineFunctionWithState
    return FunctionWithState


def restore_function(owner: Owner, content: Mapping[str, Any]) -> FunctionWithState:
    """Make a function again that was pickled; see `pickles`."""
    check_names(content, ("options", "function", "decorated", "is_coroutine"))
    function: Any = content.get("function")
    if "decorated" in content:
        # What the name leads to has frozen the state of this process; only what it wraps
        # is wanted.
        found = import_identifier(content["decorated"])
        function = found.__wrapped__ if isinstance(found, FunctionWithState) else found
    kind = CoroutineFunctionWithState if content.get("is_coroutine") else kind_of(function)
    scope = owner.keeper.scope(state_of(content["options"]))
    return kind(owner, scope, function, checked=False)
