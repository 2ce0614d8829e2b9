from __future__ import annotations

import importlib
import inspect
import pickle
import types
from typing import Any

import pytest
from scipy_functions import FUNCTIONS, TABLES, Function

from scipy_dispatch import system


def test_system_holds_every_function_of_the_tables() -> None:
    for module in TABLES:
        importlib.import_module(f"scipy_dispatch.{module}")
    assert set(system.functions) == {function.identifier for function in FUNCTIONS}


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_a_function_is_the_librarys_and_looks_like_scipys(function: Function) -> None:
    """Its name, signature, docstring and pickle; installed backends may append a section."""
    dispatchable, default = function.dispatchable, function.default
    registered: Any = system.functions[function.identifier]
    assert registered is dispatchable
    assert type(dispatchable) is types.FunctionType
    assert dispatchable.__module__ == f"scipy_dispatch.{function.module}"
    assert dispatchable.__qualname__ == dispatchable.__name__ == function.name
    assert dispatchable.__wrapped__ is default
    assert (dispatchable.__doc__ or "").startswith((default.__doc__ or "").rstrip())
    dumped = pickle.dumps(dispatchable)
    assert pickle.loads(dumped) is dispatchable
    assert len(dumped) < 100
    try:
        expected = inspect.signature(default)
    except ValueError:  # C functions may have no signature
        with pytest.raises(ValueError, match="no signature found"):
            inspect.signature(dispatchable)
    else:
        assert inspect.signature(dispatchable) == expected


@pytest.mark.parametrize("module", [*TABLES, "signal.windows"])
def test_a_module_has_scipys_public_names(module: str) -> None:
    """What takes no array is SciPy's own."""
    ours = importlib.import_module(f"scipy_dispatch.{module}")
    scipys = importlib.import_module(f"scipy.{module}")
    assert ours.__all__ == scipys.__all__
    assert all(hasattr(ours, name) for name in ours.__all__)
    dispatched = TABLES[module].dispatched.keys() if module in TABLES else set()
    unchanged = set(scipys.__all__) - dispatched - {"windows"}
    assert unchanged
    assert [name for name in unchanged if getattr(ours, name) is not getattr(scipys, name)] == []
