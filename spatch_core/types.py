"""The types that users receive and annotate with.

All but that of decorated functions, which only type checkers need, are imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from ._decide import Verdict
    from ._description import (
        AutoGeneration,
        Description,
        Finding,
        Implementation,
        Severity,
        Source,
        Variant,
    )
    from ._explain import ExplainedBackend, Explanation, Outcome, Trace, TraceEvent
    from ._hooked import Call
    from ._options import BackendOptions
    from ._patterns import TypePattern
    from .examination import FileReport, FileUpdate, Library, LibraryReport, Report

__all__ = [
    "AutoGeneration",
    "BackendOptions",
    "Call",
    "Description",
    "DispatchableFunction",
    "ExplainedBackend",
    "Explanation",
    "FileReport",
    "FileUpdate",
    "Finding",
    "Implementation",
    "Library",
    "LibraryReport",
    "Outcome",
    "Report",
    "Severity",
    "Source",
    "Trace",
    "TraceEvent",
    "TypePattern",
    "Variant",
    "Verdict",
]

_HOMES = (
    *("_options", "_patterns", "_description", "_hooked", "_decide", "_explain"),
    "examination",
)
"""The modules that define them, in the order in which fewer are imported."""


def __getattr__(name: str) -> Any:
    for home in _HOMES if name in __all__ else ():
        found = vars(import_module(f".{home}", __package__)).get(name)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)


class DispatchableFunction(Protocol[P, R_co]):
    """The type of a decorated function: called like the original, with three more attributes."""

    __name__: str
    __qualname__: str
    __module__: str
    __wrapped__: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function."""
        ...

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
