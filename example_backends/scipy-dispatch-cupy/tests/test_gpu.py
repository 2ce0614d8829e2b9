"""On a GPU: every function against SciPy, over types, modes and axes.

pytest -m gpu                                            prints a report of what was found
SCIPY_DISPATCH_CUPY_REPORT=report.md pytest -m gpu       and writes it to a file
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from calls import CASES, GREATER, OFFLOADED_NAMES, SERVED, Case, image, kind_of
from comparison import compare, dispatchable, on_device, on_host, quietly, scipy_function
from comparison import why_deferred as why
from report import REPORT

import scipy_dispatch_cupy
from scipy_dispatch import backend_opts, ndimage

pytestmark = pytest.mark.gpu

BY_NAME: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    BY_NAME[_case.name].append(_case)

DEFERRED = {"ndimage.generic_filter", "ndimage.generic_filter1d"}
"""Their sample calls have Python functions, which no GPU can run."""


def fresh(case: Case, package: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments of the case that nothing else holds."""
    args = [package.greater if each is GREATER else _copied(each) for each in case.args]
    return tuple(args), {key: _copied(each) for key, each in case.kwargs.items()}


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def checked(problems: list[str], case: Case, backend: str, run: Any) -> None:
    """Compare one case, and keep what is wrong with it."""
    expected = quietly(scipy_function(case.name), *fresh(case, np)[0], **fresh(case, np)[1])
    try:
        difference = compare(case.name, case.kind, run(), expected)
    except Exception as error:  # noqa: BLE001 - all cases are to be looked at
        text = str(error).strip()
        problems.append(f"{case}: {type(error).__name__}: {text}")
    else:
        REPORT.add(f"{case.name} ({backend})", case.kind, difference)


@pytest.mark.parametrize("name", SERVED)
def test_cupy_arrays(name: str) -> None:
    """CuPy in, CuPy out, with SciPy's values, as far as the table of tolerances says."""
    import cupy

    problems: list[str] = []
    ran = 0
    for case in BY_NAME[name]:
        args, kwargs = map(on_device, fresh(case, cupy))
        if quietly(why, name, "cupy", *args, **kwargs):
            continue
        ran += 1

        def run() -> Any:
            result = quietly(dispatchable(name), *args, **kwargs)  # noqa: B023 - called at once
            if isinstance(result, np.ndarray):
                problems.append("an array of NumPy's came back")
            return on_host(result)

        checked(problems, case, "cupy", run)
    assert not problems, "\n".join(problems)
    assert ran or name in DEFERRED


@pytest.mark.parametrize("name", OFFLOADED_NAMES)
def test_numpy_arrays(name: str) -> None:
    """NumPy in, NumPy out, of SciPy's types, with the same values as CuPy's."""
    scipy_dispatch_cupy.set_smallest(0)
    problems: list[str] = []
    ran = 0
    for case in BY_NAME[name]:
        with backend_opts(prioritize="cupy-offload"):
            args, kwargs = fresh(case, np)
            if quietly(why, name, "cupy-offload", *args, **kwargs):
                continue
            ran += 1

            def run() -> Any:
                with backend_opts(trace=True) as options:
                    result = quietly(dispatchable(name), *args, **kwargs)  # noqa: B023
                assert options.trace[-1].backend == "cupy-offload", "SciPy had to compute it"
                expected = quietly(scipy_function(name), *args, **kwargs)  # noqa: B023
                assert type(result) is np.ndarray
                assert result.dtype == expected.dtype
                return result

            checked(problems, case, "cupy-offload", run)
    assert not problems, "\n".join(problems)
    assert ran


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("name", ["gaussian_filter", "correlate", "maximum_filter", "shift"])
def test_the_output_may_be_the_input(name: str, dtype: str) -> None:
    """Or an array of NumPy's, or of another type."""
    import cupy

    settings: dict[str, Any] = {
        "gaussian_filter": {"sigma": 1},
        "correlate": {"weights": np.ones((3, 3)) / 9},
        "maximum_filter": {"size": 3},
        "shift": {"shift": 0.5, "order": 1},
    }[name]
    x = image(dtype)
    function = getattr(ndimage, name)
    expected = scipy_function(f"ndimage.{name}")(x, **settings)
    same = cupy.asarray(x)
    other = cupy.asarray(np.zeros(x.shape))
    host = np.zeros(x.shape)
    for source, output in ((same, same), (cupy.asarray(x), other), (cupy.asarray(x), host)):
        result = function(source, output=output, **settings)
        assert result is output
        wanted = scipy_function(f"ndimage.{name}")(x, output=np.dtype(output.dtype), **settings)
        compare(f"ndimage.{name}", kind_of(dtype), on_host(result), wanted)
    scipy_dispatch_cupy.set_smallest(0)
    with backend_opts(prioritize="cupy-offload"):
        assert function(x, output=x, **settings) is x
    compare(f"ndimage.{name}", kind_of(dtype), x, expected)
