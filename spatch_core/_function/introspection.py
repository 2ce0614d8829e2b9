"""Explanations of calls, for a function and for a library; imported when they are asked for."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._identifiers import nearest
from .._replaced_arguments import replaced
from ..exceptions import UnknownFunctionError

if TYPE_CHECKING:
    from .._resolution.explanation import Explanation
    from .dispatcher import Dispatcher, Record


def explain(record: Record, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """Say what would run for a call; see `Dispatchable.explain`."""
    function, dispatcher = record.function, record.dispatcher
    try:
        # Not that of a function that the default wraps: the default gets the arguments.
        signature = inspect.signature(function.default, follow_wrapped=False)
    except (TypeError, ValueError):
        pass  # some functions written in C have none
    else:
        signature.bind(*args, **kwargs)
    caller = dispatcher.ensure_loaded()
    state = dispatcher.keeper.current()
    found, args, kwargs = replaced(function.extract(args, kwargs), args, kwargs)
    types = caller.resolver.types(found, state)
    return caller.explain(function, state, types, args, kwargs, found)


def explain_types(dispatcher: Dispatcher, identifier: str, types: Iterable[type]) -> Explanation:
    """Say what would run for dispatch arguments of these types; see `BackendSystem`."""
    record = dispatcher.by_identifier.get(identifier)
    if record is None:
        raise UnknownFunctionError(identifier, nearest(identifier, dispatcher.by_identifier))
    classes = _checked(types)
    from .._resolution.explaining import explain as explain_call

    resolver = dispatcher.ensure_loaded().resolver
    state = dispatcher.keeper.current()
    types = resolver.unique_types(classes, state)
    return explain_call(resolver, record.function, state, types, None)


def _checked(types: Any) -> list[type]:
    """Return `types` if they are several classes.

    Raises
    ------
    TypeError
        If they are anything else.
    """
    is_several = isinstance(types, Iterable) and not isinstance(types, (str, type))
    classes: list[Any] = [*types] if is_several else [types]
    wrong = [each for each in classes if not is_several or not isinstance(each, type)]
    if wrong:
        raise TypeError(
            "explain_types() takes the classes of the dispatch arguments in a list, "
            f"e.g. [float], not {wrong[0]!r}"
        )
    return classes
