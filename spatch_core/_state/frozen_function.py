"""A function with a frozen dispatch state, which can be pickled for other processes."""

from __future__ import annotations

from .._errors import UnknownBackendError
from .._patterns import loaded_object
from .pickles import options_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .options_owner import Owner
    from .scope import Scope


# Attributes of a dispatchable that would use the state in force, instead of the frozen one.
_ATTRIBUTES = ("explain", "invoke", "backends")


class FunctionWithState:
    """A callable that runs another one under a frozen dispatch state.

    Parameters
    ----------
    owner : Owner
        The library.
    scope : Scope
        The frozen state, with its tables.
    function : callable
        The callable, kept as ``__wrapped__``.

    Notes
    -----
    A pickle holds only the names of backends. The process that loads it must have the prioritized
    ones installed; otherwise a call raises `UnknownBackendError`.
    """

    is_coroutine = False

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
        # The pattern of `state_keeper`, inlined: a frozen function adds only this frame.
        keeper = self._keeper
        token = keeper.set(self._scope.tables)
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            keeper.variable.reset(token)

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
        if self.is_coroutine:
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
