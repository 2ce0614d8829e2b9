"""On a GPU: values and data types of every function's result equal SciPy's, for many data types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from calls import GREATER, SERVED, Case, kind_of, sample
from comparison import compare, on_device, on_host
from comparison import why_deferred as why
from tolerances import POSITIONS_OF_EQUALS

from scipy_dispatch.testing import dispatchable as ours
from scipy_dispatch.testing import quietly, scipy_function

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.gpu

TYPES = ("float32", "float64", "uint8", "int16", "bool", "complex64")

_WRAPS = "SciPy's own sums of small integers and booleans wrap round, and CuPy's may not"
_REAL = "CuPy raises TypeError for complex frequencies"
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("signal.gauss_spline", "uint8"): "SciPy squares whole numbers in their own type",
    ("signal.lp2bs_zpk", "uint8"): "SciPy subtracts whole numbers in their own type",
    ("signal.lp2bs_zpk", "bool"): "CuPy has no -x of booleans",
    ("signal.normalize", "bool"): "SciPy's result has a dimension more",
    ("signal.tf2ss", "bool"): "SciPy's result has a dimension more, by normalize",
    ("signal.sosfiltfilt", "bool"): "booleans that are no filter; CuPy subtracts none",
    **{
        (f"signal.{name}", dtype): _WRAPS
        for name in ("sos2tf", "ss2tf", "ss2zpk")
        for dtype in ("uint8", "bool")
    },
    **{
        (f"signal.{name}", "bool"): "bands from 0 to 1, of which no filter can be made"
        for name in ("buttord", "cheb1ord", "cheb2ord")
    },
    **{
        (f"signal.{name}", "uint8"): "SciPy squares windows of whole numbers in their own type"
        for name in ("csd", "periodogram", "welch")
    },
    ("signal.lombscargle", "bool"): "CuPy has no number for a frequency of 0",
    **{(name, "bool"): "either of two equals" for name in POSITIONS_OF_EQUALS},
    **{
        (f"signal.{name}", "complex64"): _REAL
        for name in ("butter", "cheby1", "cheby2", "ellip", "iirfilter", "iirdesign", "firwin")
    },
}
"""Results with a different data type, by function and kind of data, with the reason."""

OTHER_PRECISION = {
    f"signal.{name}"
    for name in (
        *("bilinear", "lp2bp", "lp2bs", "lp2lp", "cheb1ord", "ellipord", "ss2tf", "ss2zpk"),
        *("zpk2ss", "zpk2tf", "dbode", "dfreqresp", "freqz", "freqz_sos", "sosfreqz"),
    )
}
"""The reason for filter design and responses.

Some results are of single precision instead of double or the reverse. Frequencies and
coefficients without imaginary parts are real. The README documents both.
"""


def checked(problems: list[str], case: Case, expected: Any) -> None:
    """Compare one call with SciPy's result, and record any problem."""
    args, kwargs = _on_device(case)
    try:
        result = on_host(quietly(ours(case.name), *args, **kwargs))
        compare(case.name, case.kind, result, expected)
        if case.name not in OTHER_PRECISION:
            assert _types(result) == _types(expected), f"{_types(result)} for {_types(expected)}"
    except Exception as error:  # noqa: BLE001 - report the problems of all cases
        problems.append(f"{case}: {type(error).__name__}: {error}")


def _expected(case: Case) -> Any:
    """Return SciPy's result; None if SciPy rejects the arguments."""
    args = [np.greater if each is GREATER else _copied(each) for each in case.args]
    try:
        return quietly(scipy_function(case.name), *args, **_copied(case.kwargs))
    except Exception:  # noqa: BLE001 - without a result there is nothing to compare
        return None


def _on_device(case: Case) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import cupy

    args = tuple(cupy.greater if each is GREATER else on_device(each) for each in case.args)
    return args, on_device(case.kwargs)


def _copied(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_copied, value))
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _types(result: Any) -> list[str]:
    """Return the data types of a result's arrays without repetitions, in their order."""
    if isinstance(result, dict):
        result = [result[key] for key in sorted(result, key=str)]
    if isinstance(result, tuple | list) or getattr(result, "dtype", None) == np.object_:
        return list(dict.fromkeys(each for part in result for each in _types(part)))
    dtype = getattr(result, "dtype", None)
    if dtype is None:
        return []
    return [str(dtype)]


def _cast(value: np.ndarray, dtype: str) -> np.ndarray:
    if value.dtype.kind == "c" and not dtype.startswith("complex"):
        value = value.real
    if dtype == "bool":
        return value > value.mean()
    small = dtype in ("uint8", "int16") and abs(value).max(initial=0) <= 3
    return (20 * value if small else value).astype(dtype)


def variants(case: Case, dtype: str) -> Iterator[Case]:
    """Yield the case with another type for the first array of numbers, and for all of them."""
    places: dict[Any, Any] = {**dict(enumerate(case.args)), **case.kwargs}
    arrays = [key for key, each in places.items() if isinstance(each, np.ndarray)]
    arrays = [key for key in arrays if places[key].dtype.kind in "fc"] or arrays[:1]
    for keys in (arrays[:1], arrays)[: len(arrays)]:
        changed = {**places, **{key: _cast(places[key], dtype) for key in keys}}
        args = tuple(changed[key] for key in range(len(case.args)))
        kwargs = {key: changed[key] for key in case.kwargs}
        yield Case(case.name, kind_of(dtype), args, kwargs, f"{dtype} as {keys}")


@pytest.mark.parametrize("name", SERVED)
def test_data_types(name: str) -> None:
    """For a call of each function, cast the first array or all arrays to each data type."""
    case = sample(name)
    if name in POSITIONS_OF_EQUALS and name != "ndimage.distance_transform_edt":
        image, *labels = case.args
        case = case._replace(args=(np.arange(1.0, image.size + 1).reshape(image.shape), *labels))
    problems: list[str] = []
    for dtype in TYPES:
        for variant in () if (name, dtype) in EXCEPTIONS else variants(case, dtype):
            args, kwargs = _on_device(variant)
            expected = _expected(variant)
            if expected is not None and not quietly(why, name, *args, **kwargs):
                checked(problems, variant, expected)
    assert not problems, "\n".join(problems)
