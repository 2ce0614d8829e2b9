"""Implementations in two steps: a plan decides and prepares; the callable it returns computes."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Any, TypeAlias

from .._reporting.errors import BackendDeferredError

Plan: TypeAlias = Callable[..., "Callable[[], Any] | str"]


class Planned:
    """A function of a backend that is planned before it runs.

    `BackendImplementation.plans` makes it. It is called like the library's function. The backend's
    description names its attributes: ``"module:function.run"``, ``"module:function.should_run"``.

    Parameters
    ----------
    plan : callable
        Takes the arguments of the library's function. Returns a callable without arguments that
        computes the result, or the reason why the backend defers.
    backend : str
        The backend's name.
    function : str
        Identifier of the library's function.
    uses_context : bool, optional
        Whether the plan takes the `DispatchContext` first; it is None in a direct call.

    Attributes
    ----------
    plan : callable
        As given.
    run : callable
        The implementation. It takes the context, in which `should_run` has put the prepared
        callable.

    Raises
    ------
    BackendDeferredError
        When called directly, or with ``force=True``, and the plan returns a reason to defer.

    Examples
    --------
    >>> def double(x):
    ...     return "x is negative" if x < 0 else lambda: 2 * x
    >>> planned = Planned(double, "twice", "mylib:double")
    >>> planned(2)
    4
    >>> planned.plan(-1)
    'x is negative'
    """

    __module__: str
    __name__: str
    __qualname__: str

    def __init__(self, plan: Plan, backend: str, function: str, uses_context: bool = False) -> None:
        update_wrapper(self, plan)
        self.plan = plan
        self.uses_context = uses_context
        self.backend = backend
        self.function = function

        def run(context: Any, /, *args: Any, **kwargs: Any) -> Any:
            prepared = getattr(context, "_plan", None)
            if prepared is None:  # `should_run` was not called
                return self._call(context, args, kwargs)
            context._plan = None  # it keeps the arguments alive
            return prepared()

        run.__module__, run.__doc__ = plan.__module__, plan.__doc__
        run.__name__, run.__qualname__ = "run", f"{plan.__qualname__}.run"
        own = signature(plan)
        name = "context"
        while name in own.parameters:
            name = f"_{name}"
        first = [] if uses_context else [Parameter(name, Parameter.POSITIONAL_ONLY)]
        run.__signature__ = own.replace(  # type: ignore[attr-defined]  # what `inspect` reads
            parameters=[*first, *own.parameters.values()]
        )
        self.run = run
        parameters = [*own.parameters.values()][uses_context:]
        self.__signature__ = own.replace(parameters=parameters)

    def should_run(self, context: Any, /, *args: Any, **kwargs: Any) -> bool | str:
        """Plan a call; the context passes the prepared callable on to `run`."""
        prepared = self._prepared(context, args, kwargs)
        if isinstance(prepared, str):
            return prepared
        context._plan = prepared
        return True

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(None, args, kwargs)

    def _call(self, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        prepared = self._prepared(context, args, kwargs)
        if isinstance(prepared, str):
            raise BackendDeferredError(self.backend, self.function, prepared)
        return prepared()

    def _prepared(
        self, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[], Any] | str:
        try:
            if self.uses_context:
                return self.plan(context, *args, **kwargs)
            return self.plan(*args, **kwargs)
        except TypeError as error:
            # If the call itself failed, not the plan's code, the backend defers: the library's own
            # function reports wrong arguments.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            return f"the arguments do not fit: {error}"

    def __repr__(self) -> str:
        return f"<planned {self.__module__}:{self.__qualname__}>"

    def __reduce__(self) -> str:
        return self.__qualname__
