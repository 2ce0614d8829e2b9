"""The comparison of results bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from calls import SciPyCall


def outcome(function: Callable[..., Any], call: SciPyCall) -> Any:
    """Return the result of a call, or the type and message of its error."""
    try:
        return call.to(function)
    except Exception as error:  # noqa: BLE001 - any error must be the same
        return type(error), str(error)


def assert_same(actual: Any, expected: Any) -> None:
    """Fail unless two results are identical, including the signs of zeros.

    The different bit patterns of NaN are treated as equal.
    """
    assert type(actual) is type(expected)
    if isinstance(expected, tuple):
        for pair in zip(actual, expected, strict=True):
            assert_same(*pair)
    elif isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        for part in ("real", "imag") if expected.dtype.kind == "c" else ("real",):
            one, other = getattr(actual, part), getattr(expected, part)
            np.testing.assert_array_equal(one, other)
            if expected.dtype.kind in "fc":
                numbers = ~np.isnan(one)
                np.testing.assert_array_equal(np.signbit(one[numbers]), np.signbit(other[numbers]))
    else:
        assert actual == expected
