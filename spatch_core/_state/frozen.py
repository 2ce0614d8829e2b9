"""Functions with a dispatch state frozen into them, which travel to other processes."""

from __future__ import annotations

import sys

from .._identifiers import import_identifier, loaded_object
from ..exceptions import UnknownBackendError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .state import Class, DispatchState, Owner

    F = TypeVar("F", bound=Callable[..., Any])


# What a dispatchable has besides, and what would speak of another state.
_ATTRIBUTES = ("explain", "invoke", "backends")


def freeze(owner: Owner, state: DispatchState, function: F) -> F:
    """Return `function` so that it always runs under `state`.

    Parameters
    ----------
    owner : BackendSystem
        The library's system.
    state : DispatchState
        The state to freeze.
    function : callable
        A function, a coroutine function or any other callable.

    Returns
    -------
    callable
        A `FunctionWithState`, which can be pickled.

    Raises
    ------
    TypeError
        For what cannot be called, and for a generator function, which would have to leave
        and enter the state at every step.
    """
    if isinstance(function, (staticmethod, classmethod)):
        method: Any = type(function)(freeze(owner, state, function.__func__))
        return method  # type: ignore[no-any-return]  # the same kind of method
    if not callable(function):
        raise TypeError(f"backend options decorate a function, not {function!r}")
    import inspect

    def is_kind(check: Callable[[Any], bool]) -> bool:
        return check(function) or check(type(function).__call__)

    if is_kind(inspect.isgeneratorfunction) or is_kind(inspect.isasyncgenfunction):
        raise TypeError(
            f"{function!r} is a generator function, which would leave and enter the options "
            "at every step; use a with block inside it"
        )
    kind = CoroutineFunctionWithState if is_kind(inspect.iscoroutinefunction) else FunctionWithState
    frozen: Any = kind(owner, state, function)
    return frozen  # type: ignore[no-any-return]  # it is called like `function`


class FunctionWithState:
    """A callable that runs another one under a frozen dispatch state.

    Parameters
    ----------
    owner : BackendSystem
        The library's system.
    state : DispatchState
        The frozen state.
    function : callable
        What to call, found again as ``__wrapped__``.

    Notes
    -----
    Pickled as the names of its backends, not with them: the process that loads it must
    have the backends installed that are prioritized, and says so when it is called.
    """

    def __init__(
        self,
        owner: Owner,
        state: DispatchState,
        function: Callable[..., Any],
        checked: bool = True,
    ) -> None:
        from functools import update_wrapper

        update_wrapper(self, function)
        self.__wrapped__ = function
        if all(hasattr(function, name) for name in _ATTRIBUTES):
            for name in _ATTRIBUTES:
                self.__dict__.pop(name, None)
        self._owner = owner
        self._frozen = state
        self._checked = checked

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        token = self.enter()
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            self.leave(token)

    def enter(self) -> Any:
        """Put the frozen state in force; returns what `leave` needs."""
        if not self._checked:
            self._check()
        return self._owner.keeper.variable.set(self._frozen.tables)

    def leave(self, token: Any) -> None:
        """Put back what was in force before."""
        self._owner.keeper.variable.reset(token)

    def _check(self) -> None:
        catalog = self._owner.resolver().catalog
        for name in self._frozen.prioritized:
            try:
                catalog.check_backend(name)
            except UnknownBackendError as error:
                function = getattr(self, "__name__", self.__wrapped__)
                here = f"this process, which was sent {function!r} with options that prioritize it"
                reason = (
                    f"{error.reason}, in {here}"
                    if error.reason
                    else f"it is not installed for {here}; installed: {', '.join(error.known)}"
                )
                raise UnknownBackendError(name, error.known, error.nearest, reason) from None
        self._checked = True

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        from types import MethodType

        return MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.__wrapped__!r} under {self._frozen!r}>"

    def __reduce__(self) -> Any:
        function: Any = self.__wrapped__
        # Those of the outermost one, where several libraries' options are on one function.
        module = getattr(self, "__module__", None)
        qualname = self.__dict__.get("__qualname__")
        if (
            isinstance(module, str)
            and isinstance(qualname, str)
            and loaded_object(module, qualname) is self
        ):
            if module == "__main__":
                # Where pickle finds it, in a process that runs the same script; what pickles
                # functions of scripts and notebooks by value does so for that module.
                function.__qualname__ = f"{qualname}.__wrapped__"
            else:
                function = f"{module}:{qualname}"
        state = self._frozen
        return _restore, (
            type(self),
            self._owner,
            state.prioritized,
            tuple(sorted(state.disabled)),
            state.type,
            function,
        )


class CoroutineFunctionWithState(FunctionWithState):
    """The same for a coroutine function: the state is in force until it has ended."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if sys.version_info >= (3, 12):
            from inspect import markcoroutinefunction

            markcoroutinefunction(self)
        else:
            from asyncio import coroutines

            self._is_coroutine = getattr(coroutines, "_is_coroutine", True)

    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        token = self.enter()
        try:
            return await self.__wrapped__(*args, **kwargs)
        finally:
            self.leave(token)


def _restore(
    kind: type[FunctionWithState],
    owner: Owner,
    prioritized: tuple[str, ...],
    disabled: tuple[str, ...],
    cls: Class | None,
    function: Any,
) -> FunctionWithState:
    if isinstance(function, str):
        # The name leads to the decorated function, which froze the state of this process.
        found = import_identifier(function)
        function = found.__wrapped__ if isinstance(found, FunctionWithState) else found
    state = owner.keeper.find(prioritized, frozenset(disabled), cls)
    return kind(owner, state, function, checked=False)
