"""Functions with a dispatch state frozen into them, which travel to other processes."""

from __future__ import annotations

import sys

from .._identifiers import import_identifier, loaded_object
from ..exceptions import UnknownBackendError
from .pickles import check_names, options_of, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from .owner import Owner
    from .scope import Scope

    F = TypeVar("F", bound=Callable[..., Any])


# Attributes of a dispatchable, which would answer for the state in force instead.
_ATTRIBUTES = ("explain", "invoke", "backends")


def freeze(owner: Owner, scope: Scope, function: F) -> F:
    """Return `function` so that it always runs in `scope`.

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
        For what cannot be called, and for a generator function, which would have to leave
        and enter the state at every step.
    """
    if isinstance(function, (staticmethod, classmethod)):
        method: Any = type(function)(freeze(owner, scope, function.__func__))
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
    frozen: Any = kind(owner, scope, function)
    return frozen  # type: ignore[no-any-return]  # it is called like `function`


class FunctionWithState:
    """A callable that runs another one under a frozen dispatch state.

    Parameters
    ----------
    owner : Owner
        The library.
    scope : Scope
        The frozen state, with its tables.
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
        scope: Scope,
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
        self._keeper = owner.keeper
        self._scope = scope
        self._checked = checked

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not self._checked:
            self._check()
        entered = self._keeper.enter(self._scope)
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            self._keeper.leave(entered)
            # Or the traceback of an exception would go on holding the outer observation.
            del entered

    def _check(self) -> None:
        catalog = self._owner.catalog()
        for name in self._scope.state.prioritized:
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
        return f"<{self.__wrapped__!r} under {self._scope.state!r}>"

    def __reduce__(self) -> Any:
        content: dict[str, Any] = {"options": options_of(self._scope.state)}
        if isinstance(self, CoroutineFunctionWithState):
            content["is_coroutine"] = True
        function: Any = self.__wrapped__
        # With options of several libraries on one function, the name leads to the outermost.
        module = getattr(self, "__module__", None)
        qualname = self.__dict__.get("__qualname__")
        is_found = (
            isinstance(module, str)
            and isinstance(qualname, str)
            and loaded_object(module, qualname) is self
        )
        if is_found and module != "__main__":
            content["decorated"] = f"{module}:{qualname}"
        else:
            if is_found:
                # A process that runs the same script finds the function by this name. By
                # its own name pickle would find this object. (cloudpickle pickles functions
                # of `__main__` by value, whatever their names.)
                function.__qualname__ = f"{qualname}.__wrapped__"
            content["function"] = function
        return self._owner.restore, ("function", content)


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
        if not self._checked:
            self._check()
        entered = self._keeper.enter(self._scope)
        try:
            return await self.__wrapped__(*args, **kwargs)
        finally:
            self._keeper.leave(entered)
            del entered


def restore_function(owner: Owner, content: Mapping[str, Any]) -> FunctionWithState:
    """Make a function again that was pickled; see `pickles`."""
    check_names(content, ("options", "function", "decorated", "is_coroutine"))
    function: Any = content.get("function")
    if "decorated" in content:
        # What the name leads to has frozen the state of this process; only what it wraps
        # is wanted.
        found = import_identifier(content["decorated"])
        function = found.__wrapped__ if isinstance(found, FunctionWithState) else found
    kind = CoroutineFunctionWithState if content.get("is_coroutine") else FunctionWithState
    scope = owner.keeper.scope(state_of(content["options"]))
    return kind(owner, scope, function, checked=False)
