"""What the rules are made of that leave a call to SciPy.

A rule gets a `Call`, and says why it is left to SciPy, in one sentence, or returns None.
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
    """Whether `value` is an array, of NumPy's or CuPy's; the types of scalars are none."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type)


def of_cupy(value: Any) -> bool:
    """Whether `value` is an array that is not NumPy's, so that its elements are not looked at."""
    return is_array(value) and not isinstance(value, np.ndarray | np.generic)


def on_host(value: Any) -> Any:
    """Return an array of NumPy's for one of CuPy's, which waits for it; all else as it is."""
    return value.get() if of_cupy(value) else value


def kind_of(value: Any) -> str:
    """Return the letter of the data type's kind, as NumPy has it; none for what is no array."""
    return str(value.dtype.kind) if is_array(value) else ""


def arrays_of(value: Any) -> list[Any]:
    """Return the array that `value` is, or those that it is a list or a tuple of."""
    parts = value if isinstance(value, list | tuple) else (value,)
    return [each for each in parts if is_array(each)]


def holds_complex(value: Any) -> bool:
    """Whether `value` is complex: an array, a number, or one in lists and tuples."""
    if isinstance(value, list | tuple):
        return any(map(holds_complex, value))
    return kind_of(value) == "c" or isinstance(value, complex)


def result_type(output: Any, x: Any) -> np.dtype[Any]:
    """Return the data type that a filter of `x` fills or makes, if there are no others."""
    if output is None:
        return np.dtype(getattr(x, "dtype", float))
    dtype: np.dtype[Any] = np.dtype(output.dtype if is_array(output) else output)
    return dtype


def whole(value: Any, least: float = -np.inf) -> bool:
    """Whether `value` is a whole number that is not below `least`."""
    try:
        return index(value) >= least
    except TypeError:
        return False


def one_whole(name: str) -> Rule:
    """Refuse what is no whole number."""

    def rule(call: Call) -> str | None:
        if not whole(call[name]):
            return f"{name}={call[name]!r} is no whole number"
        return None

    return rule


def only(name: str, allowed: Iterable[Any], means: str) -> Rule:
    """Refuse all values of `name` but some."""
    allowed = list(allowed)

    def rule(call: Call) -> str | None:
        if not any(call[name] is each or _equal(call[name], each) for each in allowed):
            return f"CuPy has {means}, not {name}={call[name]!r}"
        return None

    return rule


def _equal(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def given(name: str, why: str) -> Rule:
    """Refuse an argument that is not None."""

    def rule(call: Call) -> str | None:
        return None if call[name] is None else f"{name}= is given: {why}"

    return rule


def true(name: str, why: str) -> Rule:
    """Refuse an argument that is true."""

    def rule(call: Call) -> str | None:
        return f"{name}={call[name]!r}: {why}" if call[name] else None

    return rule


def some_dimensions(*allowed: int) -> Rule:
    """Refuse arrays of other numbers of dimensions."""

    def rule(call: Call) -> str | None:
        ndim = np.ndim(call[call.first])
        if ndim not in allowed:
            ways = " and ".join(map(str, allowed))
            return f"CuPy's {call.name} is for {ways} dimensions, not {ndim}"
        return None

    return rule


def only_kinds(kinds: str, means: str) -> Callable[..., Rule]:
    """Return what makes rules that refuse other kinds of numbers, as SciPy does."""

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


# CuPy would drop the imaginary part, compare it, or cut off the fraction.
real = only_kinds("biuf", "real numbers")
floating = only_kinds("fc", "numbers of floating point")
whole_numbers = only_kinds("iu", "whole numbers")


def for_real(*names: str) -> Rule:
    """Refuse complex numbers, which SciPy takes."""

    def rule(call: Call) -> str | None:
        for name in names:
            if holds_complex(call[name]):
                return f"{name}= is complex, and CuPy's {call.name} is for real numbers"
        return None

    return rule


def table(*entries: tuple[str, str, tuple[Rule, ...]]) -> dict[tuple[str, str], tuple[Rule, ...]]:
    """Return the rules of each function, of entries for several functions of a module."""
    rules: dict[tuple[str, str], tuple[Rule, ...]] = {}
    for module, names, more in entries:
        for name in names.split():
            rules[module, name] = (*rules.get((module, name), ()), *more)
    return rules
