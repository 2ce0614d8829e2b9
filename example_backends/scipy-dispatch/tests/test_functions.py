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
class TestEachFunction:
    def test_it_is_a_function_of_the_library(self, function: Function) -> None:
        dispatchable = function.dispatchable
        registered: Any = system.functions[function.identifier]
        assert registered is dispatchable
        assert type(dispatchable) is types.FunctionType
        assert dispatchable.__module__ == f"scipy_dispatch.{function.module}"
        assert dispatchable.__qualname__ == dispatchable.__name__ == function.name

    def test_its_default_implementation_is_scipys_function(self, function: Function) -> None:
        assert function.dispatchable.__wrapped__ is function.default

    def test_it_has_scipys_signature(self, function: Function) -> None:
        try:
            expected = inspect.signature(function.default)
        except ValueError:
            # C functions may have no signature.
            with pytest.raises(ValueError, match="no signature found"):
                inspect.signature(function.dispatchable)
        else:
            assert inspect.signature(function.dispatchable) == expected

    def test_it_has_scipys_docstring(self, function: Function) -> None:
        """Installed backends may append their own section."""
        expected = function.default.__doc__ or ""
        assert (function.dispatchable.__doc__ or "").startswith(expected.rstrip())

    def test_it_is_pickled_by_reference(self, function: Function) -> None:
        dispatchable = function.dispatchable
        dumped = pickle.dumps(dispatchable)
        assert pickle.loads(dumped) is dispatchable
        assert len(dumped) < 100


@pytest.mark.parametrize("module", TABLES)
class TestEachModule:
    def test_it_has_scipys_public_names(self, module: str) -> None:
        ours = importlib.import_module(f"scipy_dispatch.{module}")
        scipys = importlib.import_module(f"scipy.{module}")
        assert ours.__all__ == scipys.__all__
        assert all(hasattr(ours, name) for name in ours.__all__)

    def test_what_takes_no_array_is_scipys_own(self, module: str) -> None:
        ours = importlib.import_module(f"scipy_dispatch.{module}")
        scipys = importlib.import_module(f"scipy.{module}")
        unchanged = set(scipys.__all__) - TABLES[module].dispatched.keys() - {"windows"}
        assert unchanged
        assert [
            name for name in unchanged if getattr(ours, name) is not getattr(scipys, name)
        ] == []


def test_window_functions_are_scipys_own() -> None:
    ours = importlib.import_module("scipy_dispatch.signal.windows")
    scipys = importlib.import_module("scipy.signal.windows")
    assert ours.__all__ == scipys.__all__
    assert all(getattr(ours, name) is getattr(scipys, name) for name in ours.__all__)
