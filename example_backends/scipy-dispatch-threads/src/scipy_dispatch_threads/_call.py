"""Binding a call to the names of SciPy's parameters, for arrays that can be cut."""

from __future__ import annotations

import numpy as np

from scipy_dispatch.calls import BoundCall as Call
from scipy_dispatch.calls import Deferred

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

__all__ = ["Call", "Deferred", "bind"]


def bind(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """Return a call of a SciPy function; raise `Deferred` if its input cannot be cut into slabs."""
    call = Call.bind(function, args, kwargs)
    if type(call["input"]) is not np.ndarray:
        raise Deferred(f"the input is a {type(call['input']).__name__}, not a numpy.ndarray")
    for name, value in call.arguments.items():
        if hasattr(value, "__next__"):
            raise Deferred(f"{name} is an iterator, which can be read once only")
    return call
