"""A backend beside SciPy: the same call with the backend's arrays and with NumPy's."""

from __future__ import annotations

import copy
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._difference import Tolerance, allowed_for, difference, leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager


class Call(NamedTuple):
    """The arguments of a call.

    Attributes
    ----------
    args : tuple
        Those passed by position.
    kwargs : dict
        Those passed by name.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def fresh(self) -> Call:
        """Return a copy with copies of the arrays; the same array twice remains the same."""
        return Call(*copy.deepcopy((self.args, self.kwargs)))

    def to(self, function: Callable[..., Any]) -> Any:
        """Make the call with a copy of the array that it fills.

        Returns
        -------
        object
            The result; if ``output=`` is an array, whether the result is None, and the array.
        """
        output = self.kwargs.get("output")
        if not isinstance(output, np.ndarray):
            return function(*self.args, **self.kwargs)
        filled = output.copy(order="K")
        args = tuple(filled if each is output else each for each in self.args)
        result = function(*args, **{**self.kwargs, "output": filled})
        assert result is None or result is filled
        return result is None, filled


def call(*args: Any, **kwargs: Any) -> Call:
    """Return the arguments as a `Call`.

    Examples
    --------
    >>> call([1, 2], axis=0)
    Call(args=([1, 2],), kwargs={'axis': 0})
    """
    return Call(args, kwargs)


def scipy_function(name: str) -> Any:
    """Return the function of SciPy, such as ``"ndimage.sobel"``."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"scipy.{module}"), function)


def dispatchable(name: str) -> Any:
    """Return the function of `scipy_dispatch` of the same name."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"scipy_dispatch.{module}"), function)


def outcome(function: Callable[..., Any], call: Call) -> Any:
    """Return the result of ``call.to(function)``, or the type and message of its error."""
    try:
        with np.errstate(all="ignore"):
            return call.to(function)
    except Exception as error:  # noqa: BLE001 - any error is compared
        return type(error), str(error)


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function without its warnings, such as those about ill-conditioned filters."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def why_deferred(backend: str, name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why a backend leaves a call of a function to another one; None if it does not.

    Examples
    --------
    >>> why_deferred("default", "ndimage.sobel", np.eye(3))
    """
    explanation = dispatchable(name).explain(*args, **kwargs)
    if explanation.selected == backend:
        return None
    reasons = (each.reason for each in explanation.backends if each.backend == backend)
    return next(reasons, "") or f"{backend} does not implement {name}"


def assert_identical(result: Any, expected: Any) -> None:
    """Fail unless two results are of one type and have the same bits, but for those of NaN."""
    wrong = difference("", result, expected, None)
    assert wrong is None, wrong


@dataclass(frozen=True)
class Comparison:
    """A backend that is compared with SciPy.

    Parameters
    ----------
    backend : str
        Its name.
    tolerances : mapping of str to mapping of str to Tolerance
        For each function, such as ``"ndimage.sobel"``, the tolerance for each kind of data; see
        `allowed_for`.
    to_array : callable, optional
        Makes the backend's array of a NumPy array; by default the backend takes NumPy's.
    to_numpy : callable, optional
        Makes a NumPy array of one of the backend's.
    prioritize : bool, optional
        Whether the calls prioritize the backend, for one that requires opt-in.
    scale_of_data : bool, optional
        Whether tolerances are relative to the largest value of the data if that is larger.
    dtype_of : callable, optional
        Returns the data type of the backend's result for one of SciPy's, if not the same.

    Examples
    --------
    >>> from scipy_dispatch.testing import EXACT
    >>> numpy_itself = Comparison("default", {"ndimage.sobel": {"all": EXACT}})
    >>> numpy_itself.check("ndimage.sobel", call(np.eye(5), axis=0))
    """

    backend: str
    tolerances: Mapping[str, Mapping[str, Tolerance]]
    to_array: Callable[[Any], Any] | None = None
    to_numpy: Callable[[Any], Any] | None = None
    prioritize: bool = False
    scale_of_data: bool = False
    dtype_of: Callable[[Any], Any] = lambda dtype: dtype

    @property
    def functions(self) -> list[str]:
        """The functions that the backend implements and the installed SciPy has, sorted."""
        names = []
        for module in ("fft", "ndimage", "signal"):
            ours = import_module(f"scipy_dispatch.{module}")
            names += [
                f"{module}.{name}"
                for name in ours.__all__
                if self.backend in getattr(getattr(ours, name), "backends", ())
            ]
        return sorted(names)

    def asking(self) -> AbstractContextManager[object]:
        """Return the context of the backend's calls."""
        from scipy_dispatch import backend_opts

        if not self.prioritize:
            return nullcontext()
        options: AbstractContextManager[object] = backend_opts(prioritize=self.backend)
        return options

    def given(self, call: Call) -> Call:
        """Return a call with arrays of the backend; an array that is there twice is made once."""
        made: dict[int, Any] = {}

        def convert(value: Any) -> Any:
            if type(value) is np.ndarray and self.to_array is not None:
                if id(value) not in made:
                    made[id(value)] = self.to_array(value)
                return made[id(value)]
            if type(value) in (list, tuple):
                return type(value)(map(convert, value))
            if type(value) is dict:
                return {key: convert(each) for key, each in value.items()}
            return value

        return Call(convert(call.args), convert(call.kwargs))

    def fetched(self, value: Any) -> Any:
        """Return a result with the backend's arrays in it as NumPy arrays."""
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.fetched, value)) if type(value) in (list, tuple) else value
        if isinstance(value, dict):
            return {key: self.fetched(each) for key, each in value.items()}
        if self.to_numpy is None or isinstance(value, (np.ndarray, np.generic, str, type(None))):
            return value
        return self.to_numpy(value) if hasattr(value, "dtype") else value

    def why_deferred(self, name: str, call: Call) -> str | None:
        """Return why the backend leaves a call to another one; None if it does not.

        Parameters
        ----------
        name : str
            The function, such as ``"ndimage.sobel"``.
        call : Call
            The arguments, with NumPy arrays.
        """
        args, kwargs = self.given(call)
        with self.asking():
            return why_deferred(self.backend, name, *args, **kwargs)

    def check(self, name: str, call: Call, *, may_defer: bool = False) -> str | None:
        """Fail unless a call with the backend's arrays has SciPy's result within the tolerance.

        Where SciPy raises an error, the backend must raise one too, or defer.

        Parameters
        ----------
        name : str
            The function, such as ``"ndimage.sobel"``.
        call : Call
            The arguments, with NumPy arrays.
        may_defer : bool, optional
            Whether the backend may leave the call to another, as in random calls.

        Returns
        -------
        str or None
            The reason for which the backend deferred; None if it did not.

        Raises
        ------
        AssertionError
            If type, shape or values differ, or an argument was overwritten.
        """
        before, given = call.fresh(), self.given(call)
        with self.asking():
            reason = why_deferred(self.backend, name, *given.args, **given.kwargs)
        assert reason is None or may_defer, f"{name}: {reason}"
        if reason is not None:
            return reason
        scipys = call.fresh()
        try:
            expected = quietly(scipy_function(name), *scipys.args, **scipys.kwargs)
        except Exception as error:  # noqa: BLE001 - the backend must not know better
            self._assert_raises(name, given, error)
            return None
        with self.asking():
            result = quietly(dispatchable(name), *given.args, **given.kwargs)
        self.assert_agrees(name, before, result, expected)
        if "output" not in call.kwargs and not any(key.startswith("over") for key in call.kwargs):
            pairs = zip(leaves(self.fetched(tuple(given))), leaves(before), strict=True)
            for after, array in pairs:
                assert np.array_equal(after, array, equal_nan=array.dtype.kind in "fc"), (
                    f"{name} writes into its arguments"
                )
        return None

    def assert_agrees(self, name: str, call: Call, result: Any, expected: Any) -> None:
        """Fail unless a result of the backend is SciPy's, within the tolerance for the call.

        Parameters
        ----------
        name : str
            The function, such as ``"ndimage.sobel"``.
        call : Call
            The arguments, with NumPy arrays.
        result, expected : object
            What the backend and SciPy return for it.

        Raises
        ------
        AssertionError
            If type, shape or values differ.
        """
        arrays, result = list(leaves(call)), self.fetched(result)
        allowed = allowed_for(self.tolerances[name], [*arrays, *leaves(expected)])
        scale = max(map(_largest, arrays), default=0.0) if self.scale_of_data else 0.0
        wrong = difference(name, result, expected, allowed, scale, dtype_of=self.dtype_of)
        assert wrong is None, f"{name}: {wrong}, and {allowed} is allowed"

    def _assert_raises(self, name: str, given: Call, error: Exception) -> None:
        try:
            with self.asking():
                quietly(dispatchable(name), *given.args, **given.kwargs)
        except Exception:  # noqa: BLE001 - which one is the backend's choice
            return
        raise AssertionError(f"{name}: no error, where SciPy raises {error!r}")


def _largest(array: Any) -> float:
    if array.dtype.kind not in "biufc":
        return 0.0
    values = np.abs(array.astype(complex))
    return float(values.max(initial=0.0, where=np.isfinite(values)))
