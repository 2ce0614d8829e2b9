"""Functions with a frozen dispatch state, and what pickles of options hold.

They hold the options that differ from their default values, under the names that users write, and
the `BackendSystem`, which another process finds by the module that makes it.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial, update_wrapper
from types import CoroutineType, MethodType

from ._patterns import callable_identifier, import_identifier, loaded_object
from ._state import DispatchState
from ._wrapper import ASYNC_GENERATOR, COROUTINE, GENERATOR, PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    from ._state import Scope, StateKeeper

    F = TypeVar("F", bound=Callable[..., Any])


def freeze(owner: Any, scope: Scope, function: F) -> F:
    """Return a callable that always runs `function` in `scope` of the library `owner`."""
    made: Any
    if isinstance(function, (staticmethod, classmethod)):
        made = type(function)(freeze(owner, scope, function.__func__))
    elif isinstance(function, type):
        raise TypeError(
            f"backend options cannot decorate the class {function.__qualname__}, because a "
            "function would take its place: decorate its methods, or use a block"
        )
    elif callable(function):
        made = _kind_of(function)(owner, scope, function)
    else:
        raise TypeError(f"backend options decorate a function, not {function!r}")
    return made  # type: ignore[no-any-return]  # it is called like `function`


def nature_of_callable(function: Any) -> int:
    """Return the nature of a function or another callable; see `nature_of`."""
    nature = getattr(function, "nature", None)  # the results of `invoke` have it
    if type(nature) is int:
        return nature
    import inspect  # takes longer to import than everything else here

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


# Attributes of a dispatchable that would use the state in force, instead of the frozen one.
_ATTRIBUTES = ("explain", "invoke", "backends")


class FunctionWithState:
    """A callable that runs another one, its ``__wrapped__``, under a frozen dispatch state.

    A pickle holds only the names of backends, and a process that lacks these may load it: they are
    not `checked` before the first call, which raises `UnknownBackendError`.
    """

    def __init__(
        self, owner: Any, scope: Scope, function: Callable[..., Any], checked: bool = True
    ) -> None:
        update_wrapper(self, function)
        self.__wrapped__ = function
        if all(hasattr(function, name) for name in _ATTRIBUTES):
            for name in _ATTRIBUTES:
                self.__dict__.pop(name, None)
        self._owner = owner
        self._keeper: StateKeeper = owner.keeper
        self._scope = scope
        self._checked = checked

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not self._checked:
            self._check()
        # Inlined, so that a frozen function adds only this frame.
        keeper = self._keeper
        token = keeper.set(self._scope.tables)
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            keeper.variable.reset(token)

    def _check(self) -> None:
        catalog = self._owner.catalog()
        for name in self._scope.state.prioritized:
            catalog.check_backend(name)
        self._checked = True

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.__wrapped__!r} under {self._scope.state!r}>"

    def __reduce__(self) -> Any:
        function: Any = self.__wrapped__
        # With options of several libraries on one function, the name leads to the outermost.
        module: Any = getattr(self, "__module__", None)
        qualname = self.__dict__.get("__qualname__")
        is_found = (
            isinstance(module, str)
            and isinstance(qualname, str)
            and loaded_object(module, qualname) is self
        )
        if is_found and not _travels_by_value(module):
            function = f"{module}:{qualname}"
        elif is_found:
            # A process that runs the same script finds the function by this name. By its own name
            # pickle would find this object. (cloudpickle pickles these functions by value, whatever
            # their names.)
            function.__qualname__ = f"{qualname}.__wrapped__"
        options = self._scope.state.options
        return _restored, (self._owner.system, options, function)


def _restored(system: Any, options: Any, function: Any) -> FunctionWithState:
    """Make a pickled function again, of a callable or of the identifier of the frozen function."""
    if isinstance(function, str):
        # The object with this name has frozen the state of this process. The pickle has its own
        # state, so only the function inside is used.
        found = import_identifier(function)
        function = found.__wrapped__ if isinstance(found, FunctionWithState) else found
    others = {**options}
    prioritized, disabled = others.pop("prioritize", ()), others.pop("disable", ())
    state = DispatchState(tuple(prioritized), frozenset(disabled), **others)
    owner = system._dispatcher
    return _kind_of(function)(owner, owner.keeper.scope(state), function, checked=False)


def _travels_by_value(module: str) -> bool:
    """Whether another process may lack a module, because cloudpickle sends its functions."""
    registered: Any = getattr(sys.modules.get("cloudpickle"), "list_registry_pickle_by_value", set)
    return any(f"{module}.".startswith(f"{each}.") for each in ("__main__", *registered()))


def show_nature(made: Any, function: Any) -> None:
    """Give an object the attributes by which `inspect` tells the nature of a function."""
    own: Any = type(made).__call__
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        setattr(made, name, getattr(function, name, getattr(own, name)))
    vars(made).setdefault("__name__", type(made).__name__)


class CoroutineFunctionWithState(FunctionWithState):
    """A frozen coroutine function: the state is in force within each step."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        show_nature(self, self.__wrapped__)

    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not self._checked:
            self._check()
        return await Steps(self._keeper, self._scope).awaiting(self.__wrapped__, *args, **kwargs)


class Steps:
    """Runs each step of another coroutine or generator in a scope; an awaitable and an iterator.

    The consumer never sees the state. The step after one that has ended inside of a block starts
    with the block's state.
    """

    __slots__ = ("_iterator", "_keeper", "_start", "_tables")

    def __init__(self, keeper: StateKeeper, scope: Scope) -> None:
        self._keeper = keeper
        self._tables = scope.tables

    def of(self, start: Callable[[], Any]) -> Steps:
        """Go on with the steps of the generator that `start` returns in the first of them."""
        self._start, self._iterator = start, None
        return self

    def awaiting(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Steps:
        """Go on with the steps in which the result of a call is awaited."""
        return self.of(lambda: _awaiting(function, args, kwargs).__await__())

    # ``yield from`` and ``await`` call these methods.

    def __iter__(self) -> Steps:
        return self

    __await__ = __iter__

    def __next__(self) -> Any:
        return self._step("__next__")

    def send(self, value: Any) -> Any:
        return self._step("send", value)

    def throw(self, *error: Any) -> Any:
        return self._step("throw", *error)

    def close(self) -> None:
        self._step("close")

    def _step(self, method: str, *arguments: Any) -> Any:
        keeper = self._keeper
        before = keeper.get()
        keeper.set(self._tables)
        try:
            if self._iterator is None:
                self._iterator = self._start()
            return getattr(self._iterator, method)(*arguments)
        finally:
            # What a block has put in force that this step has entered and not left.
            self._tables = keeper.get()
            keeper.set(before)


async def _awaiting(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return await function(*args, **kwargs)


def stepwise(nature: int, keeper: StateKeeper, scope: Scope, start: Callable[[], Any]) -> Any:
    """Return a coroutine or generator that runs each step of the one that `start` returns."""
    if nature & ASYNC_GENERATOR:
        return delegated(start, Steps(keeper, scope).awaiting)
    if nature & COROUTINE:
        return _awaiting(Steps(keeper, scope).awaiting, (start,), {})
    return _stepwise_generator(Steps(keeper, scope), start)


def _stepwise_generator(steps: Steps, start: Callable[[], Any]) -> Any:
    def begin() -> Any:
        made = start()
        # A function that `types.coroutine` marks may return a coroutine in place of a generator.
        return made.__await__() if type(made) is CoroutineType else _generator(made)

    return (yield from steps.of(begin))


def _generator(made: Iterable[Any]) -> Any:
    """Return a generator of any iterable: some iterators have no `throw`, or no `close`."""
    return (yield from made)


async def delegated(
    start: Callable[[], Any],
    step_of: Callable[..., Any] = lambda method, *args: method(*args),
    context: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Any:
    """Yield from the asynchronous generator of `start`; `step_of` makes an awaitable of a step."""
    with context():
        generator = start()
        step = step_of(generator.__anext__)
        try:
            while True:
                value = await step
                try:
                    sent = yield value
                except GeneratorExit:
                    await step_of(generator.aclose)
                    raise
                except BaseException as error:  # noqa: BLE001  # any may be thrown
                    step = step_of(generator.athrow, error)
                else:
                    # Other iterators have no `asend`.
                    method = generator.__anext__ if sent is None else partial(generator.asend, sent)
                    step = step_of(method)
        except StopAsyncIteration:
            return


def reduce_options(owner: Any, state: DispatchState) -> Any:
    """Return the result of ``__reduce__`` for options that describe `state`."""
    if state.hook is not None:
        raise TypeError(
            "backend options with a hook cannot be pickled or copied, because a hook belongs to "
            f"its process; give {callable_identifier(state.hook[0])} where the options are used"
        )
    options = state.options
    if state.trace is not None:
        options["trace"] = True  # each process has a trace of its own
    return _options_again, (owner.system, options)


def _options_again(system: Any, options: Mapping[str, Any]) -> Any:
    return system.backend_opts(**options)
