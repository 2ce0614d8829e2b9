"""The types that users receive and annotate with.

The package imports this module for no call: annotations and tools use it.
"""

from __future__ import annotations

from ._description.description import AutoGeneration, Description, Implementation
from ._function.protocol import DispatchableFunction
from ._problems import Problem, Source
from ._resolution.explanation import ExplainedBackend, Explanation, Verdict
from ._state.options import BackendOptions
from ._state.trace import Outcome, Trace, TraceEvent
from ._type_patterns import TypePattern
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
