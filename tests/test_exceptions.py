"""Errors and warnings: each carries its data, and its text is made from them."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import spatch_core
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
    UnknownBackendError,
    UnknownFunctionError,
    UnknownTypeError,
)
from spatch_core.testing import run_python
from spatch_core.types import ExplainedBackend, Finding, Source, Verdict

SOURCE = Source("gpu = pkg:gpu.toml", "/site-packages/pkg/gpu.toml")
PROBLEM = Finding("the field is missing", "Add it", "gpu", "name", SOURCE)
OTHER = Finding("1 is not a boolean", "Write true or false", "gpu", "requires_opt_in", SOURCE)
VARIABLE = Finding("the value '!' is ignored", "Write it well", key="LIB_BLOCK")
LATER = ExplainedBackend("gpu", Verdict.DEFERS, "too small")

# An error, its data, and what its text has to say.
EXAMPLES: list[tuple[Exception, dict[str, object], list[str]]] = [
    (
        IdentifierError("a.b", "an identifier"),
        {"text": "a.b", "expected": "an identifier"},
        ["'a.b'", "an identifier"],
    ),
    (
        DescriptionError([PROBLEM, OTHER]),
        {"problems": (PROBLEM, OTHER)},
        [PROBLEM.message, PROBLEM.remedy, OTHER.message, OTHER.remedy, "gpu.toml"],
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
        },
        ["lib:f", "m:A, m:B", "'raise'", "gpu defers: too small", "ask another"],
    ),
    (
        NoImplementationError("lib:f", ["m:B"], ["m:B"], [], "convert", reason="it is too large"),
        {"backends": (), "remedies": (), "reason": "it is too large"},
        ["lib:f", "m:B", "it is too large", "no backend is installed"],
    ),
    (
        FallbackWarning("lib:f", ["m:A", "m:B"], ["m:B"], [LATER], 8000),
        {"function": "lib:f", "types": ("m:A", "m:B"), "foreign": ("m:B",), "size": 8000},
        ["lib:f", "m:B", "8000 bytes", "gpu defers: too small"],
    ),
    (
        UnknownBackendError("gp", ["gpa", "gpb"], ["gpb", "gpa"]),
        {"name": "gp", "known": ("gpa", "gpb"), "nearest": ("gpb", "gpa"), "reason": ""},
        ["'gp'", "did you mean 'gpb' or 'gpa'?"],
    ),
    (
        UnknownBackendError("gpu", ["default"], ["x"], "it is blocked"),
        {"reason": "it is blocked"},
        ["'gpu' cannot be used: it is blocked"],
    ),
    (
        UnknownFunctionError("lib:blr", iter(["lib:blur", "lib:blend"])),
        {"identifier": "lib:blr", "nearest": ("lib:blur", "lib:blend")},
        ["'lib:blr'", "did you mean 'lib:blur' or 'lib:blend'?"],
    ),
    (
        UnknownTypeError(int, ["numpy:ndarray", "~m:Q"]),
        {"type": int, "known": ("numpy:ndarray", "~m:Q")},
        ["int", "numpy:ndarray, ~m:Q"],
    ),
    (
        ImplementationImportError("gpu", "lib:blur", "pkg:blur", "LIB_BLOCK"),
        {
            "backend": "gpu",
            "function": "lib:blur",
            "identifier": "pkg:blur",
            "block": "LIB_BLOCK",
        },
        ["'gpu'", "'pkg:blur'", "lib:blur", "LIB_BLOCK=gpu"],
    ),
    (
        BackendDeferredError("gpu", "lib:blur", "it returned NotImplemented"),
        {"backend": "gpu", "function": "lib:blur", "reason": "it returned NotImplemented"},
        ["'gpu'", "lib:blur", "it returned NotImplemented"],
    ),
    (
        BackendSkippedWarning([PROBLEM, OTHER]),
        {"problems": (PROBLEM, OTHER)},
        [str(PROBLEM), "1 more fault", "system.problems"],
    ),
    (EnvironmentVariableWarning(VARIABLE), {"problem": VARIABLE}, [str(VARIABLE)]),
    (
        DuplicateFunctionWarning("lib:f", "a.py:1", "b.py:2"),
        {"identifier": "lib:f", "earlier": "a.py:1", "later": "b.py:2"},
        ["'lib:f'", "a.py:1", "b.py:2", "identifier="],
    ),
    (GlobalOptionsWarning("it was called before"), {}, ["it was called before"]),
]
IDS = [f"{type(error).__name__}-{number}" for number, (error, _, _) in enumerate(EXAMPLES)]


@pytest.mark.parametrize(("error", "data", "texts"), EXAMPLES, ids=IDS)
@pytest.mark.parametrize(
    "again",
    [lambda error: error, copy.copy, lambda error: pickle.loads(pickle.dumps(error))],
    ids=["itself", "copied", "pickled"],
)
def test_it_carries_its_data_and_renders_them(
    error: Exception,
    data: dict[str, object],
    texts: list[str],
    again: Callable[[Exception], Exception],
) -> None:
    """E6: the text is made from the data; errors cross processes, as from a Dask worker."""
    other = again(error)
    assert type(other) is type(error)
    assert {name: getattr(other, name) for name in data} == data
    assert [text for text in texts if text not in str(other)] == []


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (SystemExit(3), "(SystemExit: 3)"),
        (ImportError("libgpu.so: cannot open\n  no such file"), "libgpu.so: cannot open no such"),
        (KeyError(), "(KeyError)"),
    ],
    ids=repr,
)
def test_a_failed_import_says_what_its_cause_is(cause: BaseException, text: str) -> None:
    """E3: its class, and its text if it has any, on one line."""
    error = ImplementationImportError("gpu", "lib:blur", "pkg:blur", "LIB_BLOCK")
    error.__cause__ = cause
    assert text in str(error)


CORE = Path(spatch_core.__file__).parents[1]


def test_a_filter_by_name_finds_them() -> None:
    """As ``-W`` and ``PYTHONWARNINGS`` name them."""
    code = """
        import warnings
        from spatch_core import FallbackWarning
        warnings.warn(FallbackWarning("lib:f", ["m:B"], ["m:B"], []))
    """
    option = "-Werror::spatch_core.exceptions.FallbackWarning"
    done = run_python(code, path=[CORE], options=[option], check=False)

    assert "spatch_core.exceptions.FallbackWarning: lib:f runs" in done.stderr
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FallbackWarning)
        warnings.warn(FallbackWarning("lib:f", [], [], []), stacklevel=1)
    assert [each.category for each in caught] == [FallbackWarning]
