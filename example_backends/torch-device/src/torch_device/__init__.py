"""PyTorch devices written in Python, whose operators spatch-core dispatches."""

from ._fallback import ConversionError, KernelError, Report
from .compilers import register_compiler
from .environment import BackendEnvironment

__all__ = ["BackendEnvironment", "ConversionError", "KernelError", "Report", "register_compiler"]
