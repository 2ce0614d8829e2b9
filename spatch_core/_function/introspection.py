"""Explanations of calls, for a function and for a library; imported when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._call.explained_call import explain_call
from .._errors import UnknownFunctionError, nearest
from .._resolution.dry_run import explain as dry_run
from .methods import Unknown, with_instance

if TYPE_CHECKING:
    from .._resolution.explanation import Explanation
    from .dispatcher import Dispatcher, Record


def explain(record: Record, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """Explain what would run for a call; see `Dispatchable.explain`."""
    function, dispatcher = record.function, record.dispatcher
    args, kwargs = with_instance(function, args, kwargs)
    caller = dispatcher.ensure_loaded()
    state = dispatcher.keeper.current()
    is_unknown = any(type(each) is Unknown for each in args[:1])
    if is_unknown and not function.runs_no_code:
        raise TypeError(
            f"{record.identifier} finds its dispatch arguments by a callable, which needs the "
            "instance: explain(instance, ...) of the class's own attribute takes it"
        )
    found, kwargs = function.extract(args, kwargs), function.without_like(kwargs)
    if is_unknown:
        # Without the instance, no `should_run` can be called.
        types = caller.resolver.unique_types(_types(record, found), state)
        return dry_run(caller.resolver, function, state, types)
    types = caller.resolver.types(found, state)
    return explain_call(caller.resolver, function, state, types, args, kwargs, found)


def _types(record: Record, found: tuple[Any, ...]) -> list[type]:
    """Return the types of dispatch arguments, including that of an unknown instance."""
    types: list[Any] = [each.cls if type(each) is Unknown else type(each) for each in found]
    if None in types:
        raise TypeError(
            f"{record.identifier} dispatches on its instance, whose class is not found: "
            "explain(instance, ...) of the class's own attribute takes it"
        )
    return types


def explain_types(dispatcher: Dispatcher, identifier: str, types: Iterable[type]) -> Explanation:
    """Explain what would run for dispatch arguments of these types; see `BackendSystem`."""
    record: Any = dispatcher.by_identifier.get(identifier)
    if record is None and dispatcher.adoptions:
        record = dispatcher.adoptions[0].find(identifier)
    if record is None:
        raise UnknownFunctionError(identifier, nearest(identifier, dispatcher.by_identifier))
    classes = _checked(types)
    resolver = dispatcher.ensure_loaded().resolver
    state = dispatcher.keeper.current()
    types = resolver.unique_types(classes, state)
    return dry_run(resolver, record.function, state, types)


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
