"""The attributes of dispatchables, for users and type checkers.

`invoke` runs one backend, `explain` says what would run. Nothing here is imported when a library is
imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from ._call import Chain, ask, shared_part
from ._context import IfNeeded, context_of_call
from ._errors import nearest
from ._explain import Explanation, examining
from ._explain import explain as explain_decision
from ._options import checked_type
from ._patterns import loaded_object
from .exceptions import UnknownFunctionError

if TYPE_CHECKING:
    from ._decide import Decision, Step
    from ._function import Dispatcher

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)


class DispatchableFunction(Protocol[P, R_co]):
    """The type of a decorated function: called like the original, with three more attributes."""

    __name__: str
    __qualname__: str
    __module__: str
    __wrapped__: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    @overload
    def __get__(self, instance: None, owner: type) -> DispatchableFunction[P, R_co]: ...
    # On an instance, `explain` and `invoke` are left out of the type: with them, type checkers
    # would reject every plain method that overrides this one. At run time they do not get the
    # instance; `Class.method.explain(instance, ...)` is typed.
    @overload
    def __get__(
        self: DispatchableFunction[Concatenate[Any, Q], R_co],
        instance: object,
        owner: type | None = None,
    ) -> Callable[Q, R_co]: ...

    @property
    def backends(self) -> Sequence[str]:
        """Names of the backends that implement the function, by priority."""
        ...

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """Return which implementation would run for this call, and why."""
        ...

    def invoke(
        self, *, backend: str | None = None, type: type | str | None = None, force: bool = False
    ) -> Callable[P, R_co]:
        """Return the function as one backend, or for one type, would run it."""
        ...


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
        _check_instance(record, args, "invoke(...)")
        found = function.extract(args, kwargs)
        types = calls.decider.unique_types(map(type, found), state)

        def way(types: tuple[type, ...]) -> Chain:
            made: Chain
            if self._backend is None:
                made = calls.chain(function, state, types)
            else:
                made = calls.invoked(function, self._backend, state, types, not self._force)
            return made

        if state.hook is None:
            return way(types).run(args, function.without_like(kwargs), found)
        from ._hooked import Hooked  # most programs have no hooks

        scope = dispatcher.keeper.get()[0]
        return Hooked(calls, record, scope, state, way, types).run(args, kwargs, found)

    def _options(self) -> dict[str, Any]:
        options = {"backend": self._backend, "type": self._type}
        given = {name: value for name, value in options.items() if value is not None}
        return {**given, "force": True} if self._force else given

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._options().items())
        return f"<{self._record.identifier} invoked with {given}>"

    def __reduce__(self) -> Any:
        return Invocation._of, (self._record.wrapper, self._options())

    @staticmethod
    def _of(function: Any, options: dict[str, Any]) -> Any:
        return function.invoke(**options)


def explain_call(record: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """Explain what would run for a call; see `Dispatchable.explain`."""
    function, dispatcher = record.function, record.dispatcher
    _check_instance(record, args, "explain")
    misfit = function.misfit(args, kwargs)
    if misfit is not None:
        raise misfit
    decider = dispatcher.ensure_loaded().decider
    state = dispatcher.keeper.current()
    found, kwargs = function.extract(args, kwargs), function.without_like(kwargs)
    types = decider.unique_types(map(type, found), state)

    decision = decider.decide(function, state, types)
    steps = None
    if function.memory is not None and function.memory.follows:
        from ._classes import followed_steps  # few functions follow

        steps = followed_steps(decision, function.memory, args, kwargs)
    return explain_decision(decision, *_asking(decision, args, kwargs, found), steps=steps)


def _asking(
    decision: Decision, args: tuple[Any, ...], kwargs: dict[str, Any], found: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return what asks the ``should_run`` of steps, and what examines conversions."""

    def answer(step: Step) -> str | IfNeeded | None:
        context = context_of_call(shared_part(decision, step, True, None), found, kwargs)
        return ask(decision, step, context, args, kwargs)

    return answer, examining(decision, args, kwargs)


def _check_instance(record: Any, args: tuple[Any, ...], way: str) -> None:
    """Raise if `invoke` or `explain` of a method does not get the instance first.

    ``instance.method.explain`` is an attribute of the function, which does not know the instance.
    The first argument would pass for it, and the answer be silently wrong.
    """
    default, wrapper = record.function.default, record.wrapper
    path, _, name = getattr(default, "__qualname__", "").rpartition(".")
    cls: Any = loaded_object(str(default.__module__), path) if path and args else None
    if not isinstance(cls, type):
        return  # a function; or a class that is not found by its name
    found = vars(cls).get(name)
    is_class = isinstance(found, classmethod)
    if (found.__func__ if isinstance(found, classmethod) else found) is not wrapper:
        return  # a static method, or a function that another one has replaced
    holder: Any = args[0] if is_class else type(args[0])
    if isinstance(holder, type):
        borrowed = getattr(holder, name, None)  # a class may have a method of another one
        if issubclass(holder, cls) or getattr(borrowed, "__func__", borrowed) is wrapper:
            return
    raise TypeError(
        f"{path}.{name} is a method: pass the {'class' if is_class else 'instance'}, as in "
        f"{path}.{name}.{way}({'cls' if is_class else 'instance'}, ...)"
    )


def explain_types(dispatcher: Dispatcher, identifier: str, types: Iterable[type]) -> Explanation:
    """Explain what would run for dispatch arguments of these types; see `BackendSystem`."""
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
