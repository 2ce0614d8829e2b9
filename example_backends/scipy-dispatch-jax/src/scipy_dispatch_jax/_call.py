"""The arguments of a call, bound once with the signature of SciPy's function."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np


class Call(SimpleNamespace):
    """The arguments of a call, by the names of SciPy's parameters, with defaults for missing ones.

    Attributes
    ----------
    axes
        None, unless SciPy's function has such a parameter: older releases lack some.
    """

    axes: Any = None

    @classmethod
    def bound(cls, signature: inspect.Signature, args: Any, kwargs: Any) -> Call:
        """Return the call of a function with this signature."""
        arguments = signature.bind(*args, **kwargs)
        arguments.apply_defaults()
        call = cls(**arguments.arguments)
        output = signature.parameters.get("output")
        if output is not None and output.default is np.float64 is call.output:
            call.output = float  # the widest that JAX has
        return call

    def but(self, **others: Any) -> Call:
        """Return the call with other values for some arguments."""
        return Call(**{**vars(self), **others})
