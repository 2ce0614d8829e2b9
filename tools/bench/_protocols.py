"""Duck arrays for the benchmark: NumPy's protocols by backends, and by a handwritten dictionary.

The dictionary is the idiom of NumPy's own documentation.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench._library import make_system


def mean(a: Any) -> Any:
    """Return the argument, about the least that an implementation can do."""
    return a


def add(a: Any, b: Any) -> Any:
    """Return the first argument."""
    return a


def served(np: Any) -> tuple[Any, Any]:
    """Return a duck array that backends serve, and its system.

    Raises
    ------
    ImportError
        By an earlier version, which has no protocols.
    """
    protocols: Any = import_module("spatch_core.protocols")
    implementations = {"numpy:mean": {"function": mean}, "numpy:add": {"function": add}}
    system = make_system([])

    bases = protocols.numpy_functions(system), np.lib.mixins.NDArrayOperatorsMixin
    served_class: Any = type("Served", bases, {"__module__": __name__})
    types = [f"{__name__}:Served"]
    system.register({"name": "duck", "primary_types": types, "functions": implementations})
    return served_class(), system


def by_hand(np: Any) -> Any:
    """Return a duck array with a dictionary of its functions."""
    handled: dict[Any, Any] = {np.mean: mean, np.add: add}

    class ByHand(np.lib.mixins.NDArrayOperatorsMixin):  # type: ignore[misc]
        """As NumPy's documentation shows it."""

        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            if func not in handled:
                return NotImplemented
            if not all(issubclass(each, ByHand) for each in types):
                return NotImplemented
            return handled[func](*args, **kwargs)

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
            if method != "__call__" or ufunc not in handled:
                return NotImplemented
            for each in inputs:
                if not isinstance(each, (ByHand, np.ndarray)):
                    return NotImplemented
            return handled[ufunc](*inputs, **kwargs)

    return ByHand()
