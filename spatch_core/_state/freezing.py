"""Freezes a dispatch state into functions, and restores them from pickles."""

from __future__ import annotations

from .._parameters import ASYNC_GENERATOR, COROUTINE, GENERATOR, PLAIN
from .._patterns import import_identifier
from .frozen_coroutines import CoroutineFunctionWithState
from .frozen_function import FunctionWithState
from .option_checks import check_and_keep
from .pickles import check_names, state_of
from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from .options_owner import Owner
    from .scope import Scope

    F = TypeVar("F", bound=Callable[..., Any])


def freeze(owner: Owner, scope: Scope, function: F) -> F:
    """Return a callable that always runs `function` in `scope`.

    Parameters
    ----------
    owner : Owner
        The library.
    scope : Scope
        The state to freeze, with its tables.
    function : callable
        A function, a coroutine function or any other callable.

    Returns
    -------
    callable
        A `FunctionWithState`, which can be pickled.

    Raises
    ------
    TypeError
        If `function` cannot be called, or is a generator function.
    """
    if isinstance(function, (staticmethod, classmethod)):
        method: Any = type(function)(freeze(owner, scope, function.__func__))
        return method  # type: ignore[no-any-return]  # the same kind of method
    if not callable(function):
        raise TypeError(f"backend options decorate a function, not {function!r}")
    frozen: Any = _kind_of(function)(owner, scope, function)
    return frozen  # type: ignore[no-any-return]  # it is called like `function`


def freeze_alone(
    options: Any, function: F, prioritize: Any, disable: Any, others: Mapping[str, Any]
) -> F:
    """Return `function` frozen under the given options only, not those in force here.

    Parameters
    ----------
    options : BackendOptions or type of BackendOptions
        The library's options; the options of an object hold around the given ones.
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


def nature_of_callable(function: Any) -> int:
    """Return the nature of a function or another callable; see `nature_of`."""
    nature = getattr(function, "nature", None)  # the results of `invoke` have it
    if type(nature) is int:
        return nature
    import inspect

    checks = {
        GENERATOR: inspect.isgeneratorfunction,
        ASYNC_GENERATOR: inspect.isasyncgenfunction,
        COROUTINE: inspect.iscoroutinefunction,
    }
    for nature, check in checks.items():
        if check(function) or check(type(function).__call__):
            return nature
    return PLAIN


def _kind_of(function: Any) -> type[FunctionWithState]:
    """Return the class that freezes a callable."""
    nature = nature_of_callable(function)
    if nature == PLAIN:
        return FunctionWithState
    if nature & COROUTINE:
        return CoroutineFunctionWithState
    kind = "an asynchronous generator" if nature & ASYNC_GENERATOR else "a generator"
    name = getattr(function, "__qualname__", None) or repr(function)
    raise TypeError(
        f"backend options cannot decorate {name}, which is {kind} function: its body runs after "
        "the call, step by step. Decorate the function that iterates over it, or a function that "
        "it calls"
    )


def restore_function(owner: Owner, content: Mapping[str, Any]) -> FunctionWithState:
    """Rebuild a pickled function; see `pickles`."""
    check_names(content, ("options", "function", "decorated", "is_coroutine"))
    function: Any = content.get("function")
    if "decorated" in content:
        # The object with this name has frozen the state of this process. The pickle has its own
        # state, so only the function inside is used.
        found = import_identifier(content["decorated"])
        function = found.__wrapped__ if isinstance(found, FunctionWithState) else found
    kind = CoroutineFunctionWithState if content.get("is_coroutine") else _kind_of(function)
    scope = owner.keeper.scope(state_of(content["options"]))
    return kind(owner, scope, function, checked=False)
