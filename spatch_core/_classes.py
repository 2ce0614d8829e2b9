"""Classes: methods that decide or follow, and types that override a library's functions.

A method that decides (``fit``) dispatches like any other function; once it has returned, its
instance remembers the backend that has run it. A method that follows (``predict``) is run by that
backend alone.

A class with the method of a library's own protocol takes the calls of the library's functions that
it is an argument of, as NumPy's ``__array_function__`` and PyTorch's ``__torch_function__`` do. All
overriding types of a call together are one candidate, after the prioritized backends and before all
others. If it defers, the other candidates follow. `library_functions` makes the base of a library's
own class, whose method turns results into objects of the subclass that has overridden.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._backends import Match
from ._call import Run, decision_of
from ._convert import awaited, is_container, rebuilt
from ._decide import Decision, Step, Verdict, decide
from ._matching import ARRAY_FUNCTION, GenericMethod
from ._patterns import DEFAULT, bases_of, is_derived, mro_of, shown, type_identifier
from ._wrapper import COROUTINE, function_of

if TYPE_CHECKING:
    from ._function import Dispatcher
    from ._traits import Memory
    from .backend_system import BackendSystem


# --- Methods that decide or follow ----------------------------------------------------------------


def remember(run: Run, memory: Memory) -> Any:
    """Call the candidates of a method that decides or follows, or the remembered backend."""
    decision, args, kwargs = run.decision, run.args, run.kwargs
    if memory.follows and not decision.sole:
        run.decision = followed(decision, memory, args, kwargs)
        if run.decision is not decision:
            return run.answer()
    if not memory.decides:
        return run.answer()
    if decision.function.nature & COROUTINE:
        answer = run.answer()
        return answer if answer is NotImplemented else _awaited(run, memory, answer)
    with _undecided(memory, args, kwargs):
        result = run.answer()
        if result is not NotImplemented:
            memory.keep(args, kwargs, _answered(run))
    return result


@contextmanager
def _undecided(memory: Memory, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
    """Forget the backend while a method that decides runs; restore it if no other is kept."""
    instance = memory.instance(args, kwargs)
    before = getattr(instance, memory.attribute, None)
    if before is not None:
        setattr(instance, memory.attribute, None)
    try:
        yield
    finally:
        if before is not None and getattr(instance, memory.attribute, None) is None:
            setattr(instance, memory.attribute, before)


async def _awaited(run: Run, memory: Memory, answer: Any) -> Any:
    with _undecided(memory, run.args, run.kwargs):
        result = await answer
        memory.keep(run.args, run.kwargs, _answered(run))
    return result


def _answered(run: Run) -> str:
    """Return the backend to remember, with the foreign types of the call if it is the default.

    Overriding types are not remembered (an empty string): they take part in the next call.
    """
    name, decision = run.backend or DEFAULT, run.decision
    if name == DEFAULT:
        return " ".join((name, *map(type_identifier, decision.foreign)))
    named = [each for each in decision.candidates if each.backend == name]
    if any(each.override is not None for each in named):
        return ""
    converts = any(each.conversions is not None for each in named)
    return DEFAULT if converts and (len(named) == 1 or name in run.reasons) else name


def followed(
    decision: Decision, memory: Memory, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Decision:
    """Return the decision of a call of a method that follows: only the remembered backend answers.

    It is the given one if no backend is remembered that implements the function.
    """
    step = _remembered_step(decision, memory, args, kwargs)
    if step is None:
        return decision
    name, reason = step.backend, _has_run(decision, memory, step.backend)

    def change(steps: list[Step]) -> list[Step]:
        if name == DEFAULT and step.may_answer:
            return [each if _is_own(each) else _later(each, reason) for each in steps]
        others = [
            _later(each, reason)
            for each in steps
            if each.backend not in (name, DEFAULT) and not each.is_last
        ]
        return [step, *others, Step(DEFAULT, verdict=Verdict.REFUSES, reason=reason, is_last=True)]

    made = decision.changed(change)
    if not step.may_answer:
        made.declined, made.is_operator = f"{reason}, and {step.reason}", False
        made.remedy = f"call {memory.method} again with arguments of these types"
    elif name != DEFAULT:
        # It may not defer; its `call_next` goes on with those that would follow otherwise.
        made.sole = True
        others = [each for each in decision.candidates if each.backend != name]
        made.rest = decision.with_candidates(others)
    return made


def _remembered_step(
    decision: Decision, memory: Memory, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Step | None:
    """Return the step of the backend that the instance of a call remembers.

    It runs, or does not match. None if no backend is remembered, or if it does not implement the
    function. Raises `UnknownBackendError` if there is no such backend any more.
    """
    kept = memory.recall(args, kwargs)
    if kept is None:
        return None
    backends, function, state = decision.backends, decision.function, decision.state
    # After the default follow the foreign types of the call that decided.
    name, *known = kept.split(" ")
    name = backends.catalog.check_backend(name)
    # Without the type of the instance, which the backend has fitted.
    own = type(memory.instance(args, kwargs))
    types = tuple(each for each in decision.types if each is not own)
    implementing, why = backends.implementing(function.identifier), ""
    if name == DEFAULT:
        found = decide(backends, function, state, types)
        first = found.first
        names = [each for each in map(type_identifier, found.match.foreign) if each not in known]
        if names and not found.match.fits(name) and first is not None and not _is_own(first):
            why = f"the library's own types do not include {', '.join(names)}"
    elif name not in implementing:
        return None
    else:
        # It counts as active even if a block disables it: it has run the earlier method.
        options = state.replace(prioritized=(name, *state.prioritized), disabled=frozenset())
        match = Match(backends, options, types, implementing, function.counts)
        if types and not match.fits(name):
            why = match.why_not(name)
    if why:
        return Step(name, verdict=Verdict.NO_MATCH, reason=why)
    implementation = backends.catalog.descriptions[name].implementation(function.identifier)
    return Step(name, implementation, prioritized=True, reason=_has_run(decision, memory, name))


def _has_run(decision: Decision, memory: Memory, name: str) -> str:
    """Say which backend an instance remembers."""
    return f"{shown(name, decision.default_name)} has run {memory.method}"


def _is_own(step: Step) -> bool:
    """Whether a candidate runs the default implementation, with converted arguments or without."""
    return step.backend == DEFAULT or step.conversions is not None


def _later(step: Step, reason: str) -> Step:
    """Return the step of a backend that does not answer, because another one is remembered."""
    if step.verdict not in (Verdict.RUNS, Verdict.LATER):
        return step
    return Step(step.backend, verdict=Verdict.LATER, reason=reason)


# --- Types that override --------------------------------------------------------------------------


def make_override(function: Any, classes: tuple[type, ...], protocol: str) -> Callable[..., Any]:
    """Return a callable that calls the methods of classes, in this order, until one answers."""
    wrapper = function.wrapper
    is_numpys = protocol == ARRAY_FUNCTION
    is_torchs = protocol == "__torch_function__" and "torch" in sys.modules
    if is_numpys:
        wrapper._implementation = function.default  # what `super().__array_function__(...)` calls

    def asking(cls: type) -> Callable[..., Any]:
        """Return a callable that calls the method of a class, or for NumPy, of an instance."""

        def ask(*args: Any, **kwargs: Any) -> Any:
            # `super().__torch_function__(...)` disables these methods and calls the function.
            if is_torchs and not sys.modules["torch"]._C._is_torch_function_enabled():
                return go_on(function.dispatcher, wrapper, args, kwargs)
            return getattr(cls, protocol)(wrapper, classes, args, kwargs)

        def ask_instance(*args: Any, **kwargs: Any) -> Any:
            for each in function.extract(args, kwargs):
                if type(each) is cls:
                    return getattr(each, protocol)(wrapper, classes, args, kwargs)
            return NotImplemented  # there is a type without an argument: the option `type`

        return ask_instance if is_numpys else ask

    asked = [*map(asking, classes)]

    def ask_all(*args: Any, **kwargs: Any) -> Any:
        for ask in asked:
            result = ask(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return NotImplemented

    made: Any = asked[0] if len(asked) == 1 else ask_all
    # By identity, because a metaclass may define == and hash. The classes and the function live as
    # long as `made`.
    made._overrides = (id(function), *map(id, classes))
    return made  # type: ignore[no-any-return]  # a function


def go_on(
    dispatcher: Dispatcher, wrapper: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call the candidates after the overriding types; for the method of the library's mixin."""
    function = function_of(wrapper)
    if function is None or function.dispatcher is not dispatcher:
        raise TypeError(f"{wrapper!r} is no dispatchable function of this library")
    found = function.extract(args, kwargs)
    decision = decision_of(function, map(type, found))
    return Run(decision.after_overriding(), args, kwargs).call()


# --- The base of a library's own class ------------------------------------------------------------


def library_functions(system: BackendSystem) -> type[Any]:
    """Return the base of a library's own class, which lets subclasses override its functions.

    It has the method of the library's protocol, and nothing else. For a subclass, the method calls
    the function as if there were no protocol, and turns objects of the library's class in the
    result into objects of the subclass, by ``result.as_subclass(cls)``, which the library's class
    defines. The library's class itself does not override: its calls cost no more than without a
    protocol.

    Parameters
    ----------
    system : BackendSystem
        Made with ``protocol=``.

    Returns
    -------
    type
        The same class for each call with this system.

    Raises
    ------
    TypeError
        If the system has no protocol.

    Examples
    --------
    >>> from spatch_core import BackendSystem
    >>> system = BackendSystem(None, "MYLIB", ["~mylib:Array"], protocol="__mylib_function__")
    >>> class Array(library_functions(system)):
    ...     @system.dispatchable("self")
    ...     def twice(self):
    ...         return Array()
    ...     def as_subclass(self, cls):
    ...         return cls()
    >>> class Image(Array):
    ...     pass
    >>> type(Image().twice()).__name__, type(Array().twice()).__name__
    ('Image', 'Array')
    """
    if system.protocol is None:
        raise TypeError(
            f"{system!r} has no protocol: make it with BackendSystem(protocol='__mylib_function__')"
        )
    # Kept by the system, so that the class lives and ends with it.
    known: dict[str, Any] = vars(system)
    if _KEPT not in known:
        made = type("LibraryFunctions", (), {"__slots__": (), "__doc__": _DOC})
        setattr(made, system.protocol, GenericMethod(_make_method(system, made)))
        known.setdefault(_KEPT, made)  # in one step: if two threads make one, the first one stays
    found: type[Any] = known[_KEPT]
    return found


_KEPT = "_library_functions"
_DOC = "The base of a library's own class; see `spatch_core.protocols.library_functions`."


def _make_method(system: BackendSystem, mixin: type) -> Callable[..., Any]:
    dispatcher = system._dispatcher

    def method(
        cls: type,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call the function as without the protocol; return its result as one of the subclass."""
        # Unrelated classes do not mix.
        if not all(issubclass(cls, each) for each in types):
            return NotImplemented
        kwargs = {} if kwargs is None else kwargs
        result = go_on(dispatcher, func, args, kwargs)
        given = (*args, *kwargs.values())
        if function_of(func).nature & COROUTINE:
            return awaited(result, lambda found: _preserved(mixin, cls, found, given))
        return _preserved(mixin, cls, result, given)

    method.__name__ = method.__qualname__ = str(system.protocol)
    return method


def _preserved(mixin: type, cls: type, result: Any, given: tuple[Any, ...]) -> Any:
    """Return a result with the library's objects in it as objects of a subclass.

    Arguments that are returned, such as `out`, stay the same objects.
    """
    # The library's own class: the nearest one that has the mixin among its bases.
    base = next(each for each in mro_of(cls) if any(one is mixin for one in bases_of(each)))

    def is_leaf(found: type) -> bool:
        return found is base or (is_derived(found, base) and not is_derived(found, cls))

    def change(value: Any) -> Any:
        return _as_subclass(value, cls) if is_leaf(type(value)) else value

    if is_container(type(result)) and not is_leaf(type(result)):
        # Each object becomes one object of the subclass.
        done = {id(each): (each, each) for each in given if not is_container(type(each))}
        return rebuilt(result, change, done)
    return result if any(each is result for each in given) else change(result)


def _as_subclass(result: Any, cls: type) -> Any:
    convert = getattr(result, "as_subclass", None)
    if convert is None:
        raise TypeError(
            f"{type_identifier(type(result))} cannot become {type_identifier(cls)}: define its "
            "method as_subclass(self, cls), which returns an instance of the subclass"
        )
    return convert(cls)
