"""Calls of decorated functions through their Python code, also where there is the C extension."""

from __future__ import annotations

import types
from typing import Any


def python_only(function: Any) -> Any:
    """Return a copy of a decorated function, which the C extension does not speed up."""
    copied = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__dict__.update(function.__dict__)
    return copied
