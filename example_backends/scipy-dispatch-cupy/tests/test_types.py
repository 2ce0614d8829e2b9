"""Arguments: the types that are refused, and their names, without a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from calls import SERVED

from scipy_dispatch.testing import SAMPLES, quietly, scipy_function
from scipy_dispatch_cupy._call import Call, scipy_signature
from scipy_dispatch_cupy._limits import RULES
from scipy_dispatch_cupy._map import FUNCTIONS

REPORTED_BY_CUPY = {
    "ndimage.map_coordinates",
    *(f"ndimage.{each}_filter" for each in ("maximum", "median", "minimum", "percentile", "rank")),
    *("ndimage.maximum_filter1d", "ndimage.minimum_filter1d"),
}
"""Functions whose kernels CuPy does not compile for complex numbers."""
MORE_THAN_SCIPY = {"signal.sepfir2d"}
"""Functions that compute with types that SciPy's C code lacks."""


@pytest.mark.parametrize("module", FUNCTIONS)
def test_types_that_scipy_refuses_are_refused(module: str) -> None:
    """For each array of each sample call. CuPy would accept most of these types and lose data."""
    taken = []
    exempt = REPORTED_BY_CUPY | MORE_THAN_SCIPY
    for name in (name for name in SERVED if name.startswith(f"{module}.") and name not in exempt):
        function = name.partition(".")[2]
        for position, given in enumerate(SAMPLES[name].fresh()[0]):
            if not isinstance(given, np.ndarray) or given.dtype.kind not in "biufc":
                continue
            for dtype in ("int16", "float32", "complex64"):
                args, kwargs = SAMPLES[name].fresh()
                changed = given.real.astype(dtype)
                args = (*args[:position], changed, *args[position + 1 :])
                try:
                    quietly(scipy_function(name), *args, **kwargs)
                except TypeError:
                    call = Call.bind(module, function, args, kwargs)
                    if not any(rule(call) for rule in RULES.get((module, function), ())):
                        taken.append(f"{name}: argument {position} of {dtype}")
                except (ValueError, ZeroDivisionError, AttributeError):
                    pass  # the values cause the error
    assert not taken, "\n".join(taken)


@pytest.mark.parametrize("module", FUNCTIONS)
def test_arguments_get_their_names_as_python_gives_them(module: str) -> None:
    """For each sample call, by position and by name; arguments that do not fit are rejected."""
    for name in (name for name in SERVED if name.startswith(f"{module}.")):
        function = name.partition(".")[2]
        args, kwargs = SAMPLES[name].fresh()
        try:
            signature = scipy_signature(module, function)
        except ImportError:
            continue  # without SciPy's signature, CuPy's applies, which is not available here
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        arguments |= arguments.pop("kwargs", {})
        assert Call.bind(module, function, args, kwargs).given.keys() == arguments.keys()
        wrong = [
            ((), {}),
            ((*args, *[0] * 30), kwargs),
            (args, {**kwargs, next(iter(arguments)): 0}),
        ]
        for values, names in wrong:
            with pytest.raises(TypeError):
                Call.bind(module, function, values, names)
