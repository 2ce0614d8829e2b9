"""A call: SciPy's arguments and CuPy's function."""

from __future__ import annotations

import inspect
import os
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature

from scipy_dispatch._table import FFT, NDIMAGE, SIGNAL

from ._rules import is_array, whole
from ._systems import as_tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# Parameters whose defaults differ in form but not in meaning. For filters, fs=None means 2. For
# spectra, the plain name of a window means its periodic form.
_SAME_MEANING = {
    *(("signal", name, "fs") for name in ("firls", "firwin", "firwin2")),
    *(("signal", name, "window") for name in ("coherence", "csd", "istft", "spectrogram")),
    *(("signal", name, "window") for name in ("stft", "welch")),
    ("signal", "lombscargle", "precenter"),
}
TABLES = {"ndimage": NDIMAGE, "signal": SIGNAL, "fft": FFT}
_PLAIN = (str, int, float, complex, bool, tuple, type(None), type)


@dataclass(frozen=True)
class Call:
    """A call of a function of `scipy_dispatch`."""

    # ``"ndimage"``, ``"signal"`` or ``"fft"``.
    module: str
    name: str
    # The arguments that the caller passed, by SciPy's names.
    given: Mapping[str, Any]

    @classmethod
    def bind(cls, module: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Return a call; raise TypeError if the arguments do not fit SciPy's signature."""
        given = scipy_signature(module, name).bind(*args, **kwargs).arguments
        given |= given.pop(_further(module, name), {})
        given |= {key: as_tuple(given[key], name) for key in _tuples(module, name) if key in given}
        arrays = _arrays(module, name)
        settings = {
            key: _setting(each)
            for key, each in given.items()
            if key not in arrays and key != "extra_arguments"  # for the caller's own function
        }
        return cls(module, name, given | settings)

    def __getitem__(self, name: str) -> Any:
        """Return the argument `name` or SciPy's default; None if SciPy lacks the parameter."""
        if name in self.given:
            return self.given[name]
        default = _defaults(self.module, self.name).get(name)
        return None if default is Parameter.empty else default

    @property
    def first(self) -> str:
        """The name of the first parameter."""
        return next(iter(_defaults(self.module, self.name)))

    @property
    def arrays(self) -> tuple[str, ...]:
        """The parameters that may take arrays, without the marks for tuples of arrays."""
        return _arrays(self.module, self.name)

    @property
    def tuples(self) -> tuple[str, ...]:
        """The parameters that may take tuples of arrays, such as systems."""
        return _tuples(self.module, self.name)

    def replaced(self, **changes: Any) -> Call:
        """Return this call with some arguments replaced."""
        return Call(self.module, self.name, {**self.given, **changes})

    def is_default(self, name: str) -> bool:
        """Return whether the argument `name` has the same meaning as SciPy's default."""
        if name not in self.given:
            return True
        defaults = _defaults(self.module, self.name)
        return name in defaults and _same(self.given[name], defaults[name])

    def unknown_to_cupy(self) -> list[str]:
        """Return the given arguments that CuPy's function lacks and that affect the result."""
        names, flexible = _taken_by_cupy(self.module, self.name)
        # If CuPy's function takes any keyword, it passes keywords that are not SciPy's
        # parameters on to a function that exists in both libraries.
        ours = _defaults(self.module, self.name) if flexible else self.given
        return [
            each
            for each in self.given
            if each not in names
            and each != self.first
            and each in ours
            and not self.is_default(each)
            and not _means_nothing(self, each)
        ]

    def run(self) -> Any:
        """Call CuPy's function.

        If CuPy's default differs from SciPy's, SciPy's default is passed.
        """
        function = cupyx_function(self.module, self.name)
        # If CuPy's function takes any keyword, keywords that are not SciPy's parameters are
        # passed too.
        names, flexible = _taken_by_cupy(self.module, self.name)
        arguments = {
            name: value
            for name, value in self.given.items()
            if name != self.first and not self.is_default(name) and (flexible or name in names)
        }
        others = other_defaults(self.module, self.name)
        arguments |= {name: each for name, each in others.items() if self.is_default(name)}
        # The first parameter has another name in a few functions of CuPy.
        return function(self.given[self.first], **arguments)


@cache
def scipy_signature(module: str, name: str) -> Signature:
    """Return the signature of SciPy's function, or CuPy's if SciPy's is not available."""
    function = getattr(import_module(f"scipy.{module}"), name)
    try:
        signature = inspect.signature(function)
    except ValueError:  # a function in C
        return cupyx_signature(module, name)
    kinds = {each.kind for each in signature.parameters.values()}
    return cupyx_signature(module, name) if Parameter.VAR_POSITIONAL in kinds else signature


@cache
def _further(module: str, name: str) -> str:
    """Return the name of the parameter that takes any further keywords, or an empty text."""
    parameters = scipy_signature(module, name).parameters.values()
    return next((each.name for each in parameters if each.kind is Parameter.VAR_KEYWORD), "")


@cache
def _defaults(module: str, name: str) -> dict[str, Any]:
    """Return the defaults of SciPy's parameters."""
    parameters = scipy_signature(module, name).parameters
    return {key: each.default for key, each in parameters.items()}


@cache
def _arrays(module: str, name: str) -> tuple[str, ...]:
    return tuple(each.lstrip("*") for each in _dispatched(module, name))


@cache
def _tuples(module: str, name: str) -> tuple[str, ...]:
    return tuple(each[1:] for each in _dispatched(module, name) if each.startswith("*"))


def _dispatched(module: str, name: str) -> tuple[str, ...]:
    """Return the parameters that `scipy_dispatch` dispatches on."""
    return tuple(TABLES[module].dispatched[name])


@cache
def _taken_by_cupy(module: str, name: str) -> tuple[frozenset[str], bool]:
    """Return the names of CuPy's parameters, and whether CuPy's function takes any keyword."""
    parameters = cupyx_signature(module, name).parameters
    flexible = any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())
    return frozenset(parameters), flexible


@cache
def cupyx_signature(module: str, name: str) -> Signature:
    """Return the signature of the installed CuPy's function."""
    return inspect.signature(cupyx_function(module, name))


@cache
def other_defaults(module: str, name: str) -> dict[str, Any]:
    """Return SciPy's defaults for the parameters whose defaults differ in CuPy."""
    ours = cupyx_signature(module, name).parameters
    return {
        parameter: each.default
        for parameter, each in scipy_signature(module, name).parameters.items()
        if parameter in ours
        and each.default is not Parameter.empty
        and not _same(each.default, ours[parameter].default)
        and (module, name, parameter) not in _SAME_MEANING
    }


@cache
def cupyx_function(module: str, name: str) -> Callable[..., Any]:
    """Return CuPy's function.

    Raises
    ------
    ImportError
        If CuPy is not installed, lacks a CUDA library, or is older than the function.
    """
    with warnings.catch_warnings():
        # CuPy warns about its compiler, which the caller cannot change.
        warnings.simplefilter("ignore", FutureWarning)
        functions = import_module(f"cupyx.scipy.{module}")
    found = getattr(functions, name, None)
    if found is None:
        import cupy

        raise ImportError(f"CuPy {cupy.__version__} has no cupyx.scipy.{module}.{name}")
    function: Callable[..., Any] = found
    return function


def _means_nothing(call: Call, name: str) -> bool:
    """Return whether an argument does not affect the result."""
    value = call.given[name]
    if name == "workers":
        # For an invalid value, SciPy raises the error.
        return whole(value, least=-(os.cpu_count() or 1)) and value != 0
    return name == "orthogonalize" and value is (call["norm"] == "ortho")


def _setting(value: Any) -> Any:
    """Return numbers, or tuples of numbers, for settings that were computed as arrays."""
    if is_array(value):
        value = value.tolist()
        return tuple(value) if isinstance(value, list) else value
    if isinstance(value, list | tuple) and any(map(is_array, value)):
        return tuple(map(_setting, value))
    return value


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if not isinstance(value, _PLAIN) or not isinstance(default, _PLAIN):
        return False
    if isinstance(value, float) and isinstance(default, int):
        return False  # as `worN`, 512.0 is a frequency and 512 a number of frequencies
    return isinstance(value, bool) == isinstance(default, bool) and bool(value == default)
