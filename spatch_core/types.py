"""The types that users receive and annotate with.

The package imports this module for no call: annotations, tools and pickles use it. Once it is
imported, `typing.get_type_hints` works for everything public.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from . import _type_patterns, backend_system, backend_utils, exceptions
from ._call import context
from ._description.description import AutoGeneration, Description, Implementation
from ._function import dispatchable, invocation, protocol
from ._function.protocol import DispatchableFunction
from ._problems import Problem, Source
from ._resolution.explanation import ExplainedBackend, Explanation, Verdict
from ._state import block, options
from ._state.options import BackendOptions
from ._state.trace import Outcome, Trace, TraceEvent
from ._type_patterns import TypePattern
from .examination import doctor
from .examination.findings import Finding, Severity

__all__ = [
    "AutoGeneration",
    "BackendOptions",
    "Description",
    "DispatchableFunction",
    "ExplainedBackend",
    "Explanation",
    "Finding",
    "Implementation",
    "Outcome",
    "Problem",
    "Severity",
    "Source",
    "Trace",
    "TraceEvent",
    "TypePattern",
    "Verdict",
]

# Annotations are evaluated in the namespaces of their modules. A library imports these without
# what stands in their annotations alone, which is added here.
_ANNOTATIONS: dict[str, Any] = {
    **{name: getattr(typing, name) for name in ("Any", "ClassVar", "Final", "Literal")},
    "BackendSystem": backend_system.BackendSystem,
    "Callable": Callable,
    "Class": type,
    "DispatchArguments": (
        str | Iterable[str] | Mapping[str, int | None] | Callable[..., Iterable[Any]] | None
    ),
    "Description": Description,
    "DispatchableFunction": DispatchableFunction,
    "Explanation": Explanation,
    "F": TypeVar("F", bound=Callable[..., Any]),
    "Invocation": invocation.Invocation,
    "Iterable": Iterable,
    "Mapping": Mapping,
    "P": ParamSpec("P"),
    "Problem": Problem,
    "R": TypeVar("R"),
    "Sequence": Sequence,
    "Trace": Trace,
}
for _module in (
    *(_type_patterns, backend_system, backend_utils, block, context, dispatchable),
    *(doctor, exceptions, options, protocol),
):
    for _name, _value in _ANNOTATIONS.items():
        vars(_module).setdefault(_name, _value)


def restore(name: str, arguments: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    """Make a value again from a pickle, which names this function and a class of this module.

    Parameters
    ----------
    name : str
        Name of the class.
    arguments, fields
        What it is called with; later versions know the fields of this one.
    """
    return globals()[name](*arguments, **fields)
