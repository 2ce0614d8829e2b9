"""Errors and warnings. Each carries its data; its text is made from the data."""

from __future__ import annotations

from ._errors import (
    BackendDeferredError,
    BackendSkippedWarning,
    DescriptionError,
    DuplicateFunctionWarning,
    EnvironmentVariableWarning,
    FallbackWarning,
    GlobalOptionsWarning,
    IdentifierError,
    ImplementationImportError,
    NoImplementationError,
    SpatchCoreError,
    SpatchCoreWarning,
    UnknownBackendError,
    UnknownFunctionError,
    UnknownTypeError,
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
