"""For backends: a plan decides and prepares a call; the callable that it returns computes.

So the arguments are read once, for the decision and for the work.

Examples
--------
>>> backend = PlannedBackend("gpu")
>>> @backend.plans("scipy_dispatch.ndimage:laplace")
... def laplace(input):
...     if len(input) < 3:
...         return "the array is too small"
...     return lambda: f"the Laplacian of {input}"
>>> laplace([1, 2, 3])
'the Laplacian of [1, 2, 3]'
>>> backend.functions["scipy_dispatch.ndimage:laplace"].should_run.rpartition(":")[2]
'laplace.should_run'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Any, TypeAlias

from spatch_core import BackendDeferredError, BackendImplementation

from .calls import Deferred

__all__ = ["Plan", "Planned", "PlannedBackend", "Prepared"]

Prepared: TypeAlias = "Callable[[], Any] | str"
"""A callable without arguments that computes the result, or the reason why the backend defers."""
Plan: TypeAlias = Callable[..., Prepared]
"""Takes the arguments of the library's function, and returns what it has prepared.

It may raise `scipy_dispatch.calls.Deferred` in the place of returning a reason."""


class Planned:
    """A function of a backend that is planned before it runs; `PlannedBackend.plans` makes it.

    It is called like the library's function, and raises `BackendDeferredError` where the plan
    defers. The backend's description names its attributes: ``"module:function.run"`` and
    ``"module:function.should_run"``.

    Parameters
    ----------
    plan : callable
        See `Plan`.
    backend : str
        The backend's name.
    function : str
        Identifier of the library's function.
    uses_context : bool, optional
        Whether the plan takes the `DispatchContext` first; it is None in a direct call.

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
            prepared = getattr(context, "prepared", None)
            if prepared is None:  # `should_run` was not called
                return self._call(context, args, kwargs)
            context.prepared = None  # it keeps the arguments alive
            return prepared()

        run.__module__, run.__doc__ = plan.__module__, plan.__doc__
        run.__name__, run.__qualname__ = "run", f"{plan.__qualname__}.run"
        # What `inspect` reads, and with it `spatch-core verify`.
        own = signature(plan)
        parameters = [*own.parameters.values()][uses_context:]
        context = Parameter("_context", Parameter.POSITIONAL_ONLY)
        self.__signature__ = own.replace(parameters=parameters)
        with_context = own.replace(parameters=[context, *parameters])
        run.__signature__ = with_context  # type: ignore[attr-defined]
        self.run = run

    def should_run(self, context: Any, /, *args: Any, **kwargs: Any) -> bool | str:
        """Plan a call; the context passes the prepared callable on to `run`."""
        prepared = self._prepared(context, args, kwargs)
        if isinstance(prepared, str):
            return prepared
        context.prepared = prepared
        return True

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(None, args, kwargs)

    def _call(self, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        prepared = self._prepared(context, args, kwargs)
        if isinstance(prepared, str):
            raise BackendDeferredError(self.backend, self.function, prepared)
        return prepared()

    def _prepared(self, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Prepared:
        try:
            return self.plan(*((context, *args) if self.uses_context else args), **kwargs)
        except Deferred as reason:
            return str(reason)
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


class PlannedBackend(BackendImplementation):
    """Collects a backend's implementations, which may be planned; its parameter is the name."""

    def plans(self, identifier: str, *, uses_context: bool = False) -> Callable[[Plan], Planned]:
        """Return a decorator that registers the plan of a function.

        Parameters
        ----------
        identifier : str
            Identifier of the library's function, ``"module:qualname"``.
        uses_context : bool, optional
            Whether the plan takes a `DispatchContext` first.

        Raises
        ------
        IdentifierError, TypeError, ValueError
            As in `BackendImplementation.implements`.
        """

        def register(plan: Plan) -> Planned:
            if not callable(plan):
                raise TypeError(f"only a function can plan {identifier}, not {plan!r}")
            planned = Planned(plan, self.name, identifier, uses_context)
            should_run = f"{planned.__module__}:{planned.__qualname__}.should_run"
            self.implements(identifier, should_run=should_run, uses_context=True)(planned.run)
            return planned

        return register

    def plans_each(
        self,
        module: str,
        plans: Mapping[str, Plan],
        namespace: dict[str, Any],
        prefix: str = "",
    ) -> None:
        """Register the plans of many functions, and put each planned function into a module.

        Parameters
        ----------
        module : str
            The module of the library's functions, such as ``"scipy_dispatch.ndimage"``.
        plans : mapping of str to callable
            The plan of each function of the module. It gets the name of the library's function, so
            no two may be the same object.
        namespace : dict
            The globals of the backend's module.
        prefix : str, optional
            What comes before the name of each function there, for functions of several modules.

        Examples
        --------
        >>> def turning(degrees):
        ...     def plan(image):
        ...         return lambda: f"{image} is turned by {degrees}"
        ...     return plan
        >>> backend = PlannedBackend("gpu")
        >>> backend.plans_each("mylib", {"rot90": turning(90), "rot180": turning(180)}, globals())
        >>> rot90("an image")
        'an image is turned by 90'
        """
        for name, plan in plans.items():
            # The description names the planned function by these, so they must lead to it.
            plan.__module__ = namespace["__name__"]
            plan.__name__ = plan.__qualname__ = prefix + name
            namespace[prefix + name] = self.plans(f"{module}:{name}")(plan)
