"""The types that users receive and annotate with.

Annotations, tools and pickles use this module; no call imports it. Once it is imported,
`typing.get_type_hints` works for everything public. Its names are imported on first use, so that an
annotation does not import `examination`.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from . import (
    _context,
    _errors,
    _function,
    _invoke,
    _observed,
    _options,
    _patterns,
    backend_system,
    backend_utils,
    exceptions,
)
from ._description import Description
from ._errors import Problem
from ._explain import Explanation
from ._function_type import DispatchableFunction
from ._observed import Trace

if TYPE_CHECKING:
    from ._description import AutoGeneration, Implementation, Variant
    from ._errors import Source
    from ._explain import ExplainedBackend, Verdict
    from ._observed import Call, Outcome, TraceEvent
    from ._options import BackendOptions
    from ._patterns import TypePattern
    from .examination import (
        FileReport,
        FileUpdate,
        Finding,
        Library,
        LibraryReport,
        Report,
        Severity,
    )

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
    "Problem",
    "Report",
    "Severity",
    "Source",
    "Trace",
    "TraceEvent",
    "TypePattern",
    "Variant",
    "Verdict",
]

_HOMES = {
    "AutoGeneration": "_description",
    "BackendOptions": "_options",
    "Call": "_observed",
    "ExplainedBackend": "_explain",
    "Implementation": "_description",
    "Outcome": "_observed",
    "Source": "_errors",
    "TraceEvent": "_observed",
    "TypePattern": "_patterns",
    "Variant": "_description",
    "Verdict": "_explain",
}
"""Modules of the names that are not imported above; all others are in `examination`."""

# `typing.get_type_hints` evaluates annotations in the namespaces of their modules. Those modules
# do not import names that only annotations use; they are added here.
_ANNOTATIONS: dict[str, Any] = {
    **{name: getattr(typing, name) for name in ("Any", "ClassVar", "Final", "Literal")},
    "BackendSystem": backend_system.BackendSystem,
    "Call": _observed.Call,
    "Callable": Callable,
    "Class": type,
    "DispatchArguments": (
        str | Iterable[str] | Mapping[str, int | None] | Callable[..., Iterable[Any]] | None
    ),
    "Description": Description,
    "DispatchableFunction": DispatchableFunction,
    "Explanation": Explanation,
    "F": TypeVar("F", bound=Callable[..., Any]),
    "Hook": Callable[[_observed.Call], typing.Any],
    "Invocation": _invoke.Invocation,
    "Iterable": Iterable,
    "Mapping": Mapping,
    "P": ParamSpec("P"),
    "Problem": Problem,
    "R": TypeVar("R"),
    "Sequence": Sequence,
    "Trace": Trace,
}
for _module in (
    *(_errors, _patterns, _function, backend_system, backend_utils, _context),
    *(_options, _observed, exceptions),
):
    for _name, _value in _ANNOTATIONS.items():
        vars(_module).setdefault(_name, _value)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES.get(name, 'examination')}", __package__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
