"""Dispatching for the functions of Python libraries.

A library decorates its public functions; installed backends, which it has never heard
of, extend them to new types or offer other implementations for the same types.

Names are imported on first use, so that ``import spatch_core`` costs next to nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = [
    "IF_NEEDED",
    "BackendDeferredError",
    "BackendImplementation",
    "BackendSkippedWarning",
    "BackendSystem",
    "DescriptionError",
    "DispatchContext",
    "DuplicateFunctionWarning",
    "EnvironmentVariableWarning",
    "FallbackWarning",
    "GlobalOptionsWarning",
    "IdentifierError",
    "ImplementationImportError",
    "NoImplementationError",
    "SpatchCoreError",
    "SpatchCoreWarning",
    "UnknownBackendError",
    "UnknownFunctionError",
    "UnknownTypeError",
    "stacklevel",
]

TYPE_CHECKING = False  # type checkers know this name; importing `typing` would take too long
if TYPE_CHECKING:
    from ._errors import stacklevel
    from ._wrapper import accelerated as accelerated
    from .backend_system import BackendSystem, DispatchContext
    from .backend_utils import IF_NEEDED, BackendImplementation
    from .exceptions import *

_HOMES = {
    "accelerated": "_wrapper",
    "IF_NEEDED": "backend_utils",
    "stacklevel": "_errors",
    "BackendSystem": "backend_system",
    "DispatchContext": "backend_system",
    "BackendImplementation": "backend_utils",
}


def __getattr__(name: str) -> object:
    if name not in __all__ and name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{__name__}.{_HOMES.get(name, 'exceptions')}"
    # Not `import_module`: a small program would import `importlib` for it.
    value: object = getattr(__import__(home, fromlist=[name]), name)
    globals()[name] = value  # so that later accesses do not get here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_HOMES})
