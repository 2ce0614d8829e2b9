"""The attributes of dispatchables: `invoke` runs one backend, `explain` says what would run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._call import Chain, ask, shared_part
from ._context import CallContext, IfNeeded
from ._errors import nearest
from ._options import checked_type
from ._parameters import Unknown, check_instance, with_instance
from .exceptions import UnknownFunctionError

if TYPE_CHECKING:
    from ._decide import Decision, Step
    from ._dispatcher import Dispatcher
    from ._entries import Guard
    from ._explain import Explanation
    from ._state import DispatchState


class Invocation:
    """A dispatchable bound to a backend or to a type; see `Dispatchable.invoke`."""

    __slots__ = ("_backend", "_force", "_record", "_type")

    def __init__(
        self, record: Any, backend: str | None, type: type | str | None, force: bool
    ) -> None:
        self._record = record
        self._backend = backend
        self._type = type
        self._force = force

    @property
    def nature(self) -> int:
        """The nature of the function; see `nature_of`. Options frozen into this object read it."""
        nature: int = self._record.function.nature
        return nature

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        record, dispatcher = self._record, self._record.dispatcher
        calls, state = dispatcher.ensure_loaded(), dispatcher.keeper.current()
        if self._type is not None:
            state = state.replace(type=checked_type(dispatcher, self._type))
        function = record.function
        if "." in getattr(function.default, "__qualname__", ""):
            check_instance(function, record.wrapper, args)
        found = function.extract(args, kwargs)
        types = calls.decider.unique_types(map(type, found), state)

        def way(types: tuple[type, ...]) -> Chain | Guard:
            made: Chain | Guard
            if self._backend is None:
                made = calls.way(function, state, types)
            else:
                made = calls.invoked(function, self._backend, state, types, not self._force)
            return made

        if state.hook is None:
            return way(types).run(args, function.without_like(kwargs), found)
        from ._hooked import Hooked  # most programs have no hooks

        scope = dispatcher.keeper.get()[0]
        key = () if function.parameters is None else tuple(map(type, function.values(args, kwargs)))
        hooked = Hooked(calls, record, scope, state, way, types, key)
        return hooked.call_found(found, *args, **kwargs)

    def _options(self) -> dict[str, Any]:
        options = {"backend": self._backend, "type": self._type}
        given = {name: value for name, value in options.items() if value is not None}
        return {**given, "force": True} if self._force else given

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._options().items())
        return f"<{self._record.identifier} invoked with {given}>"

    def __reduce__(self) -> Any:
        content = {"function": self._record.wrapper, "options": self._options()}
        return self._record.dispatcher.restore, ("invocation", content)


def restore_invocation(_: object, content: Mapping[str, Any]) -> Invocation:
    """Make an invocation again that was pickled; see `_freezing`."""
    from ._freezing import check_names

    check_names(content, ("function", "options"))
    check_names(content["options"], ("backend", "type", "force"))
    invocation: Invocation = content["function"].invoke(**content["options"])
    return invocation


def explain_call(record: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """Explain what would run for a call; see `Dispatchable.explain`."""
    from ._explain import explain as explain_decision

    function, dispatcher = record.function, record.dispatcher
    args, kwargs = with_instance(function, args, kwargs)
    calls = dispatcher.ensure_loaded()
    decider = calls.decider
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
        types = decider.unique_types(_types(record, found), state)
        return explain_decision(decider.decide(function, state, types))
    types = decider.unique_types(map(type, found), state)

    def explain_in(state: DispatchState, said: Mapping[str, str] | None = None) -> Explanation:
        decision = decider.decide(function, state, types)
        answer, examine = _asking(decision, args, kwargs, found)
        return explain_decision(decision, answer, examine, said or {})

    traits = function.traits
    if traits is not None and traits.follows is not None:
        from ._classes import explain_followed  # few functions follow

        decision = decider.decide(function, state, types)
        return explain_followed(decision, traits.memory, args, kwargs, explain_in)
    return explain_in(state)


def _asking(
    decision: Decision, args: tuple[Any, ...], kwargs: dict[str, Any], found: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return what asks the ``should_run`` of steps, and what examines conversions."""

    def answer(step: Step) -> str | IfNeeded | None:
        context = CallContext()
        context._known = shared_part(decision, step, True, None)
        context._args, context._kwargs = found, kwargs
        return ask(decision, step, context, args, kwargs)

    def examine(step: Step) -> tuple[str, str]:
        from ._convert import Conversion  # few calls convert

        conversion = Conversion(decision, step)
        return conversion.obstacle(args, kwargs), conversion.text(args, kwargs)

    return answer, examine


def _types(record: Any, found: tuple[Any, ...]) -> list[type]:
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
    from ._explain import explain as explain_decision

    record: Any = dispatcher.by_identifier.get(identifier)
    if record is None and dispatcher.adoptions:
        record = dispatcher.adoptions[0].find(identifier)
    if record is None:
        raise UnknownFunctionError(identifier, nearest(identifier, dispatcher.by_identifier))
    given: Any = types
    is_several = isinstance(given, Iterable) and not isinstance(given, (str, type))
    classes: list[Any] = [*given] if is_several else [given]
    wrong = [each for each in classes if not is_several or not isinstance(each, type)]
    if wrong:
        raise TypeError(
            "explain_types() takes the classes of the dispatch arguments in a list, "
            f"e.g. [float], not {wrong[0]!r}"
        )
    decider, state = dispatcher.ensure_loaded().decider, dispatcher.keeper.current()
    found = decider.unique_types(classes, state)
    return explain_decision(decider.decide(record.function, state, found))
