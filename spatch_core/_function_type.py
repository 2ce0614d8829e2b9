"""The type of a decorated function, for annotations and type checkers.

It imports `typing`, and nothing imports it when a library is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from ._explain import Explanation

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)


class DispatchableFunction(Protocol[P, R_co]):
    """A decorated function: called like the original, with three more attributes."""

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
        """Return which implementation would run for this call, and why.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the call.

        Returns
        -------
        Explanation
            The verdict on each backend, and the selected one.
        """
        ...

    def invoke(
        self, *, backend: str | None = None, type: type | str | None = None, force: bool = False
    ) -> Callable[P, R_co]:
        """Return the function as one backend, or for one type, would run it.

        Parameters
        ----------
        backend : str, optional
            The backend whose implementation runs, for arguments of any types.
        type : type, optional
            A type that counts as the type of one more argument.
        force : bool, optional
            Whether to run the backend without asking its ``should_run``.

        Returns
        -------
        callable
            Takes the arguments of the function. It can be pickled.
        """
        ...
