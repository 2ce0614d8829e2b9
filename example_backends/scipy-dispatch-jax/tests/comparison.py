"""Helpers of the tests: the same call with SciPy's arrays and with JAX's."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tolerances import EXACT, TOLERANCES, Tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator

MODES = (
    *("reflect", "mirror", "nearest", "wrap", "constant"),
    *("grid-mirror", "grid-wrap", "grid-constant"),
)
# JAX's counterparts of data types without double precision.
_NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}


def dispatchable(name: str) -> Any:
    """Return a function of `scipy_dispatch`, such as ``ndimage.sobel``."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"scipy_dispatch.{module}"), function)


def scipy_function(name: str) -> Any:
    """Return SciPy's function with the same name."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"scipy.{module}"), function)


def why_deferred(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why the backend leaves a call to SciPy; None if it does not."""
    explanation = dispatchable(name).explain(*args, **kwargs)
    if explanation.selected == "jax":
        return None
    (reason,) = (each.reason for each in explanation.backends if each.backend == "jax")
    return reason


def has_64_bits() -> bool:
    return bool(jax.config.jax_enable_x64)


def kind_of(dtype: Any) -> str:
    """Return the key of the table of tolerances for a data type."""
    if dtype in (np.float16, jnp.bfloat16):
        return "half"
    if np.dtype(dtype).kind in "biu":
        return "integers" if has_64_bits() else "integers32"
    is_double = np.dtype(dtype) in (np.float64, np.complex128)
    return "double" if is_double and has_64_bits() else "single"


def as_jax(value: Any) -> Any:
    """Return `value` with every array converted to a JAX array."""
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


def is_half(value: Any) -> bool:
    return isinstance(value, np.ndarray) and kind_of(value.dtype) == "half"


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Compare a call with JAX arrays to SciPy's call with the same NumPy arrays.

    All arrays become JAX arrays. If SciPy raises an error, so must the backend.
    """
    function = dispatchable(name)
    given = tuple(map(as_jax, args)), {key: as_jax(value) for key, value in kwargs.items()}
    arrays = [each for each in (*args, *kwargs.values()) if isinstance(each, np.ndarray)]
    try:
        with np.errstate(invalid="ignore"):  # NumPy warns about infinities
            expected = scipy_function(name)(*_widened(args), **kwargs)
    except Exception as error:  # noqa: BLE001 - the backend must raise any error that SciPy raises
        with pytest.raises(type(error)):
            function(*given[0], **given[1])
        return
    reason = why_deferred(name, *given[0], **given[1])
    assert reason is None, reason
    result = function(*given[0], **given[1])
    results, expectations = list(parts(result)), list(parts(expected))
    tolerance = tolerance_of(name, arrays, [each for each in results if type(each) is not int][-1])
    scale = max(map(_largest, arrays), default=0.0)
    for each, wanted in zip(results, expectations, strict=True):
        half = any(map(is_half, arrays))
        assert_close(each, wanted, tolerance, scale, checks_dtype=not half)
    if name.startswith("ndimage") and is_half(arrays[0]) and kwargs.get("output") is None:
        assert result.dtype == arrays[0].dtype


def parts(value: Any) -> Iterator[Any]:
    """Yield the arrays in tuples and lists."""
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from parts(each)
    else:
        yield value


def _largest(array: np.ndarray) -> float:
    """Return the largest absolute value of the elements that are not NaN."""
    values = np.abs(array.astype(complex))
    return float(values.max(initial=0, where=np.isfinite(values)))


def tolerance_of(name: str, arrays: list[np.ndarray], result: Any) -> Tolerance:
    """Return the table's entry for the least precise of the arrays."""
    kinds = {kind_of(each.dtype) for each in arrays} & set(TOLERANCES[name])
    for kind in kinds & {"integers", "integers32"}:
        if not jnp.issubdtype(result.dtype, jnp.inexact):
            return TOLERANCES[name][kind]
    precise = sorted(kinds - {"integers", "integers32"}, key=("half", "single", "double").index)
    if precise:
        return TOLERANCES[name][precise[0]]
    tolerance = TOLERANCES[name][kinds.pop()]
    if jnp.issubdtype(result.dtype, jnp.inexact) and not tolerance.rtol:
        return TOLERANCES[name][kind_of(result.dtype)]
    return tolerance


def _widened(args: Any) -> Any:
    """Convert half precision to single precision, because SciPy does not support it."""
    return tuple(each.astype(np.float32) if is_half(each) else each for each in args)


def assert_close(
    result: Any, expected: Any, tolerance: Tolerance, scale: float = 0, checks_dtype: bool = True
) -> None:
    """Compare the type, the shape and the values."""
    if isinstance(expected, int):
        assert (type(result), result) == (int, expected)
        return
    assert isinstance(result, jax.Array)
    expected = np.asarray(expected)
    assert result.shape == expected.shape
    wanted = expected.dtype.name
    if checks_dtype:
        assert result.dtype.name == (wanted if has_64_bits() else _NARROW.get(wanted, wanted))
    if not expected.size:
        return
    values = np.asarray(result.astype(jnp.float32) if kind_of(result.dtype) == "half" else result)
    if expected.dtype.kind == "b":
        # Some of SciPy's functions store bytes other than 0 and 1 in booleans.
        expected = expected.view(np.uint8) != 0
    if tolerance == EXACT or expected.dtype.kind == "b":
        np.testing.assert_array_equal(values.astype(expected.dtype), expected)
        return
    # NaN and infinity must be at the same places as SciPy's; compare the other values.
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(values[~finite], expected[~finite])
    values, expected = values[finite], expected[finite]
    if not expected.size:
        return
    allowed = tolerance.rtol * max(float(np.abs(expected).max()), scale)
    # Integers may differ by the table's absolute tolerance; real numbers may not.
    allowed += tolerance.atol if expected.dtype.kind in "iu" else 0
    difference = np.abs(values.astype(np.result_type(expected, float)) - expected).max()
    assert difference <= allowed + (1e-300 if tolerance.rtol else 0), (difference, allowed)
