"""Which function a method of a protocol is told."""

from __future__ import annotations

import warnings
from typing import Any

from spatch_core import BackendSystem, DuplicateFunctionWarning


class Over:
    """Answers with the function."""

    @classmethod
    def __lib_function__(cls, func: Any, *call: Any) -> Any:
        return func


def test_each_function_is_told_as_it_is_called() -> None:
    """K7: also if another one has taken its identity."""
    system = BackendSystem(None, "OVER", protocol="__lib_function__")
    first: Any = system.dispatchable("x", identifier="lib:f")(lambda x: "default")
    assert first(Over()) is first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateFunctionWarning)
        second: Any = system.dispatchable("x", identifier="lib:f")(lambda x: "other")
    system.refresh()
    assert first(Over()) is first
    assert second(Over()) is second
    assert first(3) == "default"
    assert second(3) == "other"
