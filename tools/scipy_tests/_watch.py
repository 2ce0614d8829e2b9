"""Replacement of SciPy's functions by ones that repeat each call with a backend."""

from __future__ import annotations

import functools
import os
import runpy
import threading
import warnings
from collections import Counter, defaultdict
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scipy_dispatch.testing import allowed_for, difference, leaves
from scipy_tests._routes import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scipy_dispatch.testing import Tolerance
    from scipy_tests._routes import Array, Route

MODULES = ("ndimage", "signal", "fft")
LARGEST = 2**24
"""The largest number of elements in an array that is copied."""
MOST = 200
"""The number of calls of a function in one test that are compared, for slow routes."""


class NotServedError(Exception):
    """The backend leaves the call to SciPy, however its arrays are made; the message says why."""


class Given:
    """A call whose NumPy arrays are replaced by arrays of a route.

    Parameters
    ----------
    route : Route
        The route that the call takes.
    dispatchable : callable
        The function of `scipy_dispatch`.
    args, kwargs : sequence, mapping
        The arguments, which stay unchanged: arrays that remain NumPy's are copied.

    Raises
    ------
    NotServedError
        If the backend rejects the call. First all arrays are converted to the route's, then only
        the first.
    """

    def __init__(
        self, route: Route, dispatchable: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        self._route, self._function = route, dispatchable
        reasons = []
        for way in route.ways():
            for most in (None, 1) if way else (0,):
                try:
                    self._give(way, most, args, kwargs)
                except (TypeError, ValueError) as error:
                    reasons.append(f"there is no such array: {error}")
                    continue
                if way and not self._made:
                    raise NotServedError("no array is among the arguments")
                reason = self._why_not()
                if reason is None:
                    return
                reasons.append(reason)
        raise NotServedError(reasons[0])

    def _give(
        self,
        way: Callable[[Array], Any] | None,
        most: int | None,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        # Keyed by identity, so that arguments that are the same array for SciPy are so for the
        # backend.
        self._pairs: dict[int, tuple[Array, Any]] = {}
        self._made = 0

        def there(value: Any) -> Any:
            if type(value) is np.ndarray:
                if id(value) not in self._pairs:
                    if way and self._route.takes(value) and (most is None or self._made < most):
                        self._made += 1
                        self._pairs[id(value)] = value, way(value)
                    else:
                        self._pairs[id(value)] = value, copied(value)
                return self._pairs[id(value)][1]
            if type(value) in (list, tuple):
                return type(value)(map(there, value))
            if type(value) is dict:
                return {key: there(each) for key, each in value.items()}
            return value

        self._args = [there(each) for each in args]
        self._kwargs = {key: there(each) for key, each in kwargs.items()}

    def _why_not(self) -> str | None:
        try:
            with self._route.asking():
                explained = self._function.explain(*self._args, **self._kwargs)
        except TypeError:
            # The call itself reports arguments that do not fit.
            return None
        if explained.selected == self._route.name:
            return None
        reasons = {each.backend: each.reason for each in explained.backends}
        return str(reasons.get(self._route.name) or "the backend has no such function")

    def answer(self) -> Any:
        """Make the call and return its result, converted to NumPy arrays."""
        with self._route.asking():
            self._result = self._function(*self._args, **self._kwargs)
            return self._result if self._route.is_scipy else self._fetched(self._result)

    def is_filled(self, expected: Any) -> bool:
        """Return whether the result is the given output array, if SciPy's result `expected` is."""
        pairs = self._pairs.values()
        return all(theirs is self._result for ours, theirs in pairs if ours is expected)

    def _fetched(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._fetched(each) for each in value]
        if isinstance(value, dict):
            return {self._key(key): self._fetched(each) for key, each in value.items()}
        return self._route.fetched(value)

    def _key(self, key: Any) -> Any:
        fetched = self._route.fetched(key)
        return fetched.item() if isinstance(fetched, np.ndarray) else fetched

    def may_overwrite(self) -> bool:
        """Return whether the call is allowed to overwrite its arrays."""
        names = list(signature(self._function).parameters)
        given = {**dict(zip(names, self._args, strict=False)), **self._kwargs}
        return any(map(given.get, ("overwrite_x", "overwrite_data")))

    def pairs(self) -> Iterator[tuple[Array, Any]]:
        """Yield each array of the test with the corresponding argument as a NumPy array."""
        for here, there in self._pairs.values():
            yield here, self._route.fetched(there)


def copied(array: Array) -> Array:
    """Return a copy with the same order of axes in memory and the same writeable flag."""
    copy: Array = array.copy("K")
    copy.flags.writeable = array.flags.writeable
    return copy


class Finding(NamedTuple):
    """A call whose outcome with the backend differs from SciPy's."""

    function: str
    what: str
    call: str
    test: str


def stated_tolerances(folder: str) -> dict[str, Any]:
    """Return the tolerances by function, as the tests of a backend state them."""
    file = BACKENDS / folder / "tests" / "tolerances.py"
    found: dict[str, Any] = runpy.run_path(str(file))["TOLERANCES"]
    return found


class Watch:
    """Compare each call of SciPy's functions with the same call through a route.

    Attributes
    ----------
    findings : list of Finding
        The calls that differ.
    compared : Counter
        For each function, the number of calls whose results were compared.
    refused : Counter
        For each function, the number of calls for which SciPy raised an error.
    left_out : Counter
        For each function, the number of calls that were skipped: calls with large arrays or with
        an ``output=`` that shares memory, and calls that measure time. If SciPy does not compute
        the route's results, also calls in long loops, calls with NaN or infinity, and calls with
        data types that the backend lacks.
    left_to_scipy : dict of str to Counter
        For each function, the number of calls that were left to SciPy, by reason.
    """

    def __init__(self, route: Route) -> None:
        self.findings: list[Finding] = []
        self.compared: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.left_to_scipy: dict[str, Counter[str]] = defaultdict(Counter)
        self._route = route
        self._tolerances = None if route.is_scipy else stated_tolerances(route.folder)
        self._in_this_test: Counter[tuple[str, str]] = Counter()
        # Held during a comparison, so that functions called within it are not compared
        # themselves.
        self._busy = threading.Lock()

    def replace(self) -> None:
        """Replace the functions in SciPy's modules, where its tests find them."""
        # SciPy's table of the array packages that each function is tested with.
        capabilities = import_module("scipy._lib._array_api").xp_capabilities_table
        for module in MODULES:
            scipy = import_module(f"scipy.{module}")
            ours = import_module(f"scipy_dispatch.{module}")
            for name in dir(ours):
                dispatchable, original = getattr(ours, name), getattr(scipy, name, None)
                if original is not None and hasattr(dispatchable, "explain"):
                    watched = self._watched(f"{module}.{name}", original, dispatchable)
                    if original in capabilities:
                        capabilities[watched] = capabilities[original]
                    setattr(scipy, name, watched)

    def _watched(
        self, name: str, original: Callable[..., Any], dispatchable: Any
    ) -> Callable[..., Any]:
        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            # Nested calls by SciPy or the backend are not calls of a test.
            if not self._busy.acquire(blocking=False):
                return original(*args, **kwargs)
            try:
                return self._both(name, original, dispatchable, args, kwargs)
            finally:
                self._busy.release()

        return watched

    def _both(
        self, name: str, original: Callable[..., Any], dispatchable: Any, args: Any, kwargs: Any
    ) -> Any:
        """Run the call with the backend and with SciPy; return or raise SciPy's outcome."""
        arrays = list(leaves((args, kwargs)))
        self._in_this_test[name, _test()] += 1
        if self._is_left_out(name, arrays, kwargs):
            self.left_out[name] += 1
            return original(*args, **kwargs)
        scale = max(map(_largest, arrays), default=0.0) if self._route.scale_of_data else 0.0
        call = _described(args, kwargs)
        try:
            given = Given(self._route, dispatchable, args, kwargs)
        except NotServedError as reason:
            self.left_to_scipy[name][str(reason)] += 1
            return original(*args, **kwargs)
        state = np.random.get_state()
        try:
            theirs = _Outcome(given.answer)
        finally:
            np.random.set_state(state)
        scipys = _Outcome(lambda: original(*args, **kwargs))
        if scipys.error is None:
            self.compared[name] += 1
            allowed = None
            if self._tolerances is not None:
                allowed = allowed_for(self._tolerances[name], [*arrays, *leaves(scipys.result)])
            what = _wrong_result(name, theirs, scipys.result, given, allowed, scale)
        else:
            self.refused[name] += 1
            what = self._wrong_refusal(theirs, scipys.error)
        if what is None and self._route.is_scipy and theirs.warns() != scipys.warns():
            what = f"warns {sorted(theirs.warns())}, and SciPy {sorted(scipys.warns())}"
        if what is not None:
            self.findings.append(Finding(name, what, call, _test()))
        return scipys.again()

    def _is_left_out(self, name: str, arrays: list[Any], kwargs: Any) -> bool:
        if any(each.size > LARGEST for each in arrays) or kwargs.get("measure"):
            return True
        output = kwargs.get("output")
        if isinstance(output, np.ndarray) and any(
            each is not output and np.may_share_memory(each, output) for each in arrays
        ):
            return True  # copies would not share memory
        return not self._route.is_scipy and (
            self._in_this_test[name, _test()] > MOST or not all(map(self._is_comparable, arrays))
        )

    def _is_comparable(self, array: Any) -> bool:
        if array.dtype.kind not in "fc":
            return True
        return self._route.takes(array) and bool(np.isfinite(array).all())

    def _wrong_refusal(self, theirs: _Outcome, refusal: Exception) -> str | None:
        error = theirs.error
        if error is None:
            returned = type(theirs.result).__name__
            return f"returns {returned}, and SciPy raises {_brief_error(refusal)}"
        if self._route.is_scipy and (type(error), str(error)) != (type(refusal), str(refusal)):
            return f"raises {_brief_error(error)}, and SciPy {_brief_error(refusal)}"
        return None


class _Outcome:
    """The outcome of a call: its result or error, and its warnings."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        with warnings.catch_warnings(record=True) as self._warnings:
            warnings.simplefilter("always")
            try:
                self.result = call()
            except Exception as error:  # noqa: BLE001 - compared with the other call's error
                self.error = error

    def warns(self) -> set[str]:
        """Return the warnings without repetitions."""
        return {f"{each.category.__name__}: {each.message}" for each in self._warnings}

    def again(self) -> Any:
        """Repeat the outcome: issue the warnings, then raise the error or return the result."""
        for each in self._warnings:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        if self.error is not None:
            raise self.error
        return self.result


def _wrong_result(
    name: str,
    theirs: _Outcome,
    expected: Any,
    given: Given,
    allowed: Tolerance | None,
    scale: float,
) -> str | None:
    if theirs.error is not None:
        return f"raises {_brief_error(theirs.error)}"
    wrong: str | None = difference(name, theirs.result, expected, allowed, scale)
    if wrong is not None or given.may_overwrite():
        return wrong
    if not given.is_filled(expected):
        return "another array than the one that was to be filled"
    for ours, filled in given.pairs():
        wrong = difference(name, filled, ours, allowed, scale)
        if wrong is not None:
            return f"an argument has {wrong}"
    return None


def _test() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


def _largest(array: Any) -> float:
    if array.dtype.kind not in "biufc":
        return 0.0
    return float(np.abs(array.astype(complex)).max(initial=0.0))


def _brief_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _described(args: Any, kwargs: Any) -> str:
    parts = [_brief(each) for each in args]
    return ", ".join([*parts, *(f"{key}={_brief(each)}" for key, each in kwargs.items())])


def _brief(value: Any) -> str:
    """Return a short text; for arrays the data type, and the elements or the shape."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{value.tolist() if value.size <= 12 else list(value.shape)}"
    if type(value) in (list, tuple):
        more = ", …" if len(value) > 6 else ""
        text = ", ".join(map(_brief, value[:6])) + more
        return f"[{text}]" if type(value) is list else f"({text})"
    return repr(value)[:60]
