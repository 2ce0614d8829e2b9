"""A duck array in 30 lines, whose functions are those of backends."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from spatch_core import BackendSystem
from spatch_core.protocols import numpy_functions

HERE = "tests.protocols.conftest"


def system_of_ducks(*backends: Any, **options: Any) -> Any:
    """Make a system and a duck array class that it serves."""
    system = BackendSystem(None, "DUCKS", ["numpy:ndarray"], **options)

    class Duck(numpy_functions(system), np.lib.mixins.NDArrayOperatorsMixin):  # type: ignore[misc]
        """Holds an array."""

        def __init__(self, value: Any) -> None:
            self.value = np.asarray(value)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({self.value!r})"

    Duck.__module__, Duck.__qualname__ = HERE, "Duck"
    Duck.system = system
    for each in backends:
        system.register(each)
    return Duck


def describe(functions: Any, **fields: Any) -> dict[str, Any]:
    """Describe a backend for the duck array."""
    return {
        "name": "ducks",
        "primary_types": [f"~{HERE}:Duck"],
        "secondary_types": ["numpy:ndarray"],
        "functions": {name: {"function": each} for name, each in functions.items()},
        **fields,
    }


def everything(context: Any, *args: Any, **kwargs: Any) -> Any:
    """Implement every function: NumPy's, on what the duck arrays hold."""
    module, _, name = context.function.partition(":")
    function = attrgetter(name)(import_module(module))
    out = kwargs.get("out")
    (cls,) = {cls for cls in context.types if hasattr(cls, "system")} or {None}
    result = function(*map(bare, args), **{name: bare(each) for name, each in kwargs.items()})
    if out is not None:
        return out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(result, tuple):
        return tuple(map(cls, result))
    return None if result is None else cls(result)


def bare(value: Any) -> Any:
    """Return what duck arrays hold, also in lists and tuples."""
    if hasattr(type(value), "system"):
        return value.value
    return type(value)(map(bare, value)) if type(value) in (list, tuple) else value


@pytest.fixture
def duck_class() -> Any:
    """The class, for which one backend implements everything."""
    return system_of_ducks(describe({"*": everything}))
