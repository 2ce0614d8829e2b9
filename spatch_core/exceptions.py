"""Errors and warnings. Each carries its data; its text is made from the data."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._reporting.errors import (
        BackendDeferredError,
        DescriptionError,
        IdentifierError,
        ImplementationImportError,
        NoImplementationError,
        SpatchCoreError,
    )
    from ._reporting.unknown_names import (
        UnknownBackendError,
        UnknownFunctionError,
        UnknownTypeError,
    )
    from ._reporting.warning_categories import (
        BackendSkippedWarning,
        DuplicateFunctionWarning,
        EnvironmentVariableWarning,
        FallbackWarning,
        GlobalOptionsWarning,
        SpatchCoreWarning,
    )

__all__ = [
    "BackendDeferredError",
    "BackendSkippedWarning",
    "DescriptionError",
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
]


def __getattr__(name: str) -> object:
    # Imported on first use: most programs need few of them.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name.endswith("Warning"):
        home = "._reporting.warning_categories"
    else:
        home = "._reporting.unknown_names" if name.startswith("Unknown") else "._reporting.errors"
    found = globals()[name] = getattr(import_module(home, __package__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
