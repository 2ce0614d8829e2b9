"""Building blocks for rules that leave a call to SciPy.

A rule takes a `Call` and returns the reason for leaving it to SciPy, in one sentence, or None.
"""

from __future__ import annotations

from operator import index

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from ._call import Call

    Rule: TypeAlias = Callable[[Call], str | None]


def is_array(value: Any) -> bool:
    """Return whether `value` is a NumPy or CuPy array or scalar; scalar types are not."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type)


def of_cupy(value: Any) -> bool:
    """Return whether `value` is an array but not NumPy's, so that its elements are not read."""
    return is_array(value) and not isinstance(value, np.ndarray | np.generic)


def on_host(value: Any) -> Any:
    """Return a NumPy copy of a CuPy array, which synchronizes; return other values unchanged."""
    return value.get() if of_cupy(value) else value


def kind_of(value: Any) -> str:
    """Return the kind of the data type, such as ``"f"``; an empty string for a non-array."""
    return str(value.dtype.kind) if is_array(value) else ""


def arrays_of(value: Any) -> list[Any]:
    """Return the array `value` itself, or the arrays in a list or tuple, as a list."""
    parts = value if isinstance(value, list | tuple) else (value,)
    return [each for each in parts if is_array(each)]


def holds_complex(value: Any) -> bool:
    """Return whether `value` is a complex array or number, or a list or tuple that contains one."""
    if isinstance(value, list | tuple):
        return any(map(holds_complex, value))
    return kind_of(value) == "c" or isinstance(value, complex)


def result_type(output: Any, x: Any) -> np.dtype[Any]:
    """Return the data type of a filter's result, given `output` and the only operand `x`."""
    if output is None:
        return np.dtype(getattr(x, "dtype", float))
    dtype: np.dtype[Any] = np.dtype(output.dtype if is_array(output) else output)
    return dtype


def whole(value: Any, least: float = -np.inf) -> bool:
    """Return whether `value` is an integer of at least `least`."""
    try:
        return index(value) >= least
    except TypeError:
        return False


def only(name: str, allowed: Iterable[Any], means: str) -> Rule:
    """Reject values of `name` that are not allowed."""
    allowed = list(allowed)

    def rule(call: Call) -> str | None:
        if not any(call[name] is each or _equal(call[name], each) for each in allowed):
            return f"CuPy has {means}, not {name}={call[name]!r}"
        return None

    return rule


def _equal(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def given(name: str, why: str) -> Rule:
    """Reject an argument other than None."""

    def rule(call: Call) -> str | None:
        return None if call[name] is None else f"{name}= is given: {why}"

    return rule


def true(name: str, why: str) -> Rule:
    """Reject an argument that is true."""

    def rule(call: Call) -> str | None:
        return f"{name}={call[name]!r}: {why}" if call[name] else None

    return rule


def some_dimensions(*allowed: int) -> Rule:
    """Reject arrays with other numbers of dimensions."""

    def rule(call: Call) -> str | None:
        ndim = np.ndim(call[call.first])
        if ndim not in allowed:
            ways = " and ".join(map(str, allowed))
            return f"CuPy's {call.name} is for {ways} dimensions, not {ndim}"
        return None

    return rule


def only_kinds(kinds: str, means: str) -> Callable[..., Rule]:
    """Return a factory of rules that reject other kinds of numbers, as SciPy does."""

    def of(*names: str) -> Rule:
        def rule(call: Call) -> str | None:
            for name in names:
                for each in arrays_of(call[name]):
                    if kind_of(each) not in kinds:
                        what = each.dtype
                        return f"{name}= is of {what}, and SciPy's {call.name} takes {means} only"
                if "c" not in kinds and holds_complex(call[name]):
                    return f"{name}= is complex, and SciPy's {call.name} takes {means} only"
            return None

        return rule

    return of


# CuPy would drop the imaginary part, compare it, or truncate the fraction.
real = only_kinds("biuf", "real numbers")
floating = only_kinds("fc", "numbers of floating point")
whole_numbers = only_kinds("iu", "whole numbers")


def for_real(*names: str) -> Rule:
    """Reject complex numbers, which SciPy accepts and CuPy does not."""

    def rule(call: Call) -> str | None:
        for name in names:
            if holds_complex(call[name]):
                return f"{name}= is complex, and CuPy's {call.name} is for real numbers"
        return None

    return rule


def table(*entries: tuple[str, str, tuple[Rule, ...]]) -> dict[tuple[str, str], tuple[Rule, ...]]:
    """Return the rules of each function, from entries for several functions of a module."""
    rules: dict[tuple[str, str], tuple[Rule, ...]] = {}
    for module, names, more in entries:
        for name in names.split():
            rules[module, name] = (*rules.get((module, name), ()), *more)
    return rules
