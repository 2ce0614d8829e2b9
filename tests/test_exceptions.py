"""Errors and warnings: each carries its data, and its text is made from them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from spatch_core.exceptions import (
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
from spatch_core.types import ExplainedBackend, Problem, Source, Verdict

SOURCE = Source("gpu = pkg:gpu.toml", "/site-packages/pkg/gpu.toml")
PROBLEM = Problem("the field is missing", "Add it", "gpu", "name", SOURCE)
OTHER = Problem("1 is not a boolean", "Write true or false", "gpu", "requires_opt_in", SOURCE)
VARIABLE = Problem("the value '!' is ignored", "Write it well", key="LIB_BLOCK")


def with_cause(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


LATER = ExplainedBackend("gpu", Verdict.DEFERS, "too small")

EXAMPLES: list[tuple[Exception, dict[str, object], str]] = [
    (
        IdentifierError("a.b", "an identifier"),
        {"text": "a.b", "expected": "an identifier"},
        "'a.b' is not an identifier",
    ),
    (
        DescriptionError([PROBLEM, OTHER]),
        {"problems": (PROBLEM, OTHER)},
        f"{PROBLEM}\n{OTHER}",
    ),
    (
        NoImplementationError("lib:f", ["m:A", "m:B"], ["m:B"], [LATER], "raise", ["ask another"]),
        {
            "function": "lib:f",
            "types": ("m:A", "m:B"),
            "foreign": ("m:B",),
            "backends": (LATER,),
            "policy": "raise",
            "remedies": ("ask another",),
            "reason": "",
        },
        (
            "lib:f cannot be called with m:A, m:B: no backend runs it, and fallback='raise' keeps "
            "the library's own implementation from running for m:B\n  gpu defers: too small\n"
            "What would help: ask another"
        ),
    ),
    (
        NoImplementationError("lib:f", ["m:B"], ["m:B"], [], "convert", reason="it is too large"),
        {"backends": (), "remedies": (), "reason": "it is too large"},
        "lib:f cannot be called with m:B: it is too large\n  no backend is installed",
    ),
    (
        FallbackWarning("lib:f", ["m:A", "m:B"], ["m:B"], [LATER]),
        {"function": "lib:f", "types": ("m:A", "m:B"), "foreign": ("m:B",), "backends": (LATER,)},
        (
            "lib:f runs the library's own implementation for m:A, m:B, which is not made for m:B: "
            "no backend runs it\n  gpu defers: too small"
        ),
    ),
    (
        FallbackWarning("lib:f", ["m:B"], ["m:B"], [], 8000),
        {"size": 8000},
        (
            "lib:f runs the library's own implementation, which is not made for m:B (8000 bytes): "
            "no backend runs it"
        ),
    ),
    (
        UnknownBackendError("gpuu", ["default", "gpu"], ["gpu"]),
        {"name": "gpuu", "known": ("default", "gpu"), "nearest": ("gpu",), "reason": ""},
        "no backend is named 'gpuu'; did you mean 'gpu'?",
    ),
    (
        UnknownBackendError("gp", ["gpa", "gpb"], ["gpb", "gpa"]),
        {"nearest": ("gpb", "gpa")},
        "no backend is named 'gp'; did you mean 'gpb' or 'gpa'?",
    ),
    (
        UnknownBackendError("xyz", iter(["default", "gpu"])),
        {"known": ("default", "gpu"), "nearest": ()},
        "no backend is named 'xyz'; installed: default, gpu",
    ),
    (
        UnknownBackendError("gpu", ["default"], ["x"], "it is blocked"),
        {"reason": "it is blocked"},
        "backend 'gpu' cannot be used: it is blocked",
    ),
    (
        UnknownFunctionError("lib:blr", iter(["lib:blur", "lib:blend"])),
        {"identifier": "lib:blr", "nearest": ("lib:blur", "lib:blend")},
        (
            "the library has no dispatchable function 'lib:blr'; "
            "did you mean 'lib:blur' or 'lib:blend'?"
        ),
    ),
    (
        UnknownFunctionError("xyz"),
        {"nearest": ()},
        (
            "the library has no dispatchable function 'xyz'; give the identifier of one of its "
            "functions, 'module:qualname' (system.functions has them), whose module is imported"
        ),
    ),
    (
        UnknownTypeError(int, ["numpy:ndarray", "~m:Q"]),
        {"type": int, "known": ("numpy:ndarray", "~m:Q")},
        (
            "<class 'int'> is not a primary type of any backend; "
            "primary types are: numpy:ndarray, ~m:Q"
        ),
    ),
    (
        UnknownTypeError(int, []),
        {"known": ()},
        "<class 'int'> is not a primary type of any backend; primary types are: none",
    ),
    (
        ImplementationImportError("gpu", "lib:blur", "pkg:blur", "LIB_BLOCK"),
        {
            "backend": "gpu",
            "function": "lib:blur",
            "identifier": "pkg:blur",
            "block": "LIB_BLOCK",
        },
        (
            "backend 'gpu' uses 'pkg:blur' for lib:blur, which cannot be imported. "
            "Repair or uninstall the backend, or block it by setting LIB_BLOCK=gpu"
        ),
    ),
    (
        with_cause(
            ImplementationImportError("gpu", "lib:blur", "pkg:blur", "LIB_BLOCK"),
            ModuleNotFoundError("No module named 'pkg'"),
        ),
        {},
        (
            "backend 'gpu' uses 'pkg:blur' for lib:blur, which cannot be imported "
            "(No module named 'pkg'). Repair or uninstall the backend, "
            "or block it by setting LIB_BLOCK=gpu"
        ),
    ),
    (
        BackendDeferredError("gpu", "lib:blur", "it returned NotImplemented"),
        {"backend": "gpu", "function": "lib:blur", "reason": "it returned NotImplemented"},
        "backend 'gpu' did not run lib:blur: it returned NotImplemented",
    ),
    (BackendSkippedWarning([PROBLEM]), {"problems": (PROBLEM,)}, str(PROBLEM)),
    (
        BackendSkippedWarning([PROBLEM, OTHER]),
        {"problems": (PROBLEM, OTHER)},
        f"{PROBLEM} (1 more fault: see the library's system.problems)",
    ),
    (
        BackendSkippedWarning([PROBLEM, OTHER, OTHER]),
        {},
        f"{PROBLEM} (2 more faults: see the library's system.problems)",
    ),
    (EnvironmentVariableWarning(VARIABLE), {"problem": VARIABLE}, str(VARIABLE)),
    (
        DuplicateFunctionWarning("lib:f", "a.py:1", "b.py:2"),
        {"identifier": "lib:f", "earlier": "a.py:1", "later": "b.py:2"},
        (
            "two functions are dispatchable as 'lib:f', and backends reach only the later one: "
            "a.py:1 and b.py:2. Give one of them another identifier, "
            "with dispatchable(identifier=...)"
        ),
    ),
    (GlobalOptionsWarning("it was called before"), {}, "it was called before"),
]
IDS = [f"{type(error).__name__}-{number}" for number, (error, _, _) in enumerate(EXAMPLES)]


@pytest.mark.parametrize(("error", "data", "text"), EXAMPLES, ids=IDS)
def test_it_carries_its_data_and_renders_them(
    error: Exception, data: dict[str, object], text: str
) -> None:
    """E8: the text is made from the data."""
    assert {name: getattr(error, name) for name in data} == data
    assert str(error) == text


@pytest.mark.parametrize(("error", "data", "text"), EXAMPLES, ids=IDS)
@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_it_can_be_copied_and_pickled(
    error: Exception, data: dict[str, object], text: str, again: Callable[[Exception], Exception]
) -> None:
    """Errors cross processes, as from a Dask worker."""
    other = again(error)
    assert type(other) is type(error)
    assert {name: getattr(other, name) for name in data} == data
    if error.__cause__ is None:  # which Python does not pickle
        assert str(other) == text


@pytest.mark.parametrize(
    ("cls", "base"),
    [
        (IdentifierError, ValueError),
        (DescriptionError, ValueError),
        (UnknownBackendError, ValueError),
        (UnknownFunctionError, KeyError),
        (UnknownTypeError, ValueError),
        (ImplementationImportError, ImportError),
        (BackendDeferredError, NotImplementedError),
        (BackendSkippedWarning, UserWarning),
        (EnvironmentVariableWarning, UserWarning),
        (GlobalOptionsWarning, UserWarning),
    ],
)
def test_it_can_be_caught_as_pythons_own_error(cls: type[Exception], base: type[Exception]) -> None:
    """E8: so that code that knows nothing of this package handles it."""
    assert issubclass(cls, base)
    assert issubclass(cls, (SpatchCoreError, SpatchCoreWarning))
