"""PyTorch devices written in Python, whose operators spatch-core dispatches."""

from ._fallback import ConversionError
from ._report import Report
from .environment import BackendEnvironment

__all__ = ["BackendEnvironment", "ConversionError", "Report"]
