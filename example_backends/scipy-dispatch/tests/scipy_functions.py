"""Every dispatchable function of the installed SciPy, and the forms of calling it."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from scipy_dispatch._table import FFT, NDIMAGE, SIGNAL
from scipy_dispatch.testing import SAMPLES, Call

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = {"ndimage": NDIMAGE, "signal": SIGNAL, "fft": FFT}


class Function(NamedTuple):
    """A function in the tables that the installed SciPy has."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def identifier(self) -> str:
        return f"scipy_dispatch.{self.module}:{self.name}"

    @property
    def default(self) -> Callable[..., Any]:
        """SciPy's own function."""
        found: Callable[..., Any] = getattr(
            importlib.import_module(f"scipy.{self.module}"), self.name
        )
        return found

    @property
    def dispatchable(self) -> Any:
        return getattr(importlib.import_module(f"scipy_dispatch.{self.module}"), self.name)

    @property
    def parameters(self) -> tuple[str, ...] | dict[str, int]:
        """The function's entry in the table."""
        return TABLES[self.module].dispatched[self.name]

    @property
    def signature(self) -> inspect.Signature | None:
        """SciPy's signature; None if it is not available.

        C functions count as not available even if they have one, because they accept no
        keywords.
        """
        if inspect.isbuiltin(self.default):
            return None
        signature = inspect.signature(self.default)
        kinds = [each.kind for each in signature.parameters.values()]
        return None if inspect.Parameter.VAR_POSITIONAL in kinds else signature

    @property
    def call(self) -> Call:
        """The sample call without keywords that the installed SciPy lacks."""
        args, kwargs = SAMPLES[str(self)]
        signature = self.signature
        if signature is not None:
            kwargs = {name: each for name, each in kwargs.items() if name in signature.parameters}
        return Call(args, kwargs)


FUNCTIONS = [
    Function(module, name) for module, table in TABLES.items() for name in table.dispatched
]


def by_position(call: Call, signature: inspect.Signature) -> Call:
    """Pass as many arguments as possible by position, with defaults in between."""
    bound = signature.bind(*call.args, **call.kwargs)
    given = set(bound.arguments)
    bound.apply_defaults()
    kinds = {name: each.kind for name, each in signature.parameters.items()}
    positional = [
        name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    while positional and positional[-1] not in given:
        positional.pop()
    args = [bound.arguments[name] for name in positional]
    rest = {
        name: bound.arguments[name]
        for name in given
        if kinds[name] is inspect.Parameter.KEYWORD_ONLY
    }
    return Call(tuple(args), rest)


def by_keyword(call: Call, signature: inspect.Signature) -> Call:
    """Pass everything by keyword."""
    return Call((), dict(signature.bind(*call.args, **call.kwargs).arguments))


def forms(call: Call, signature: inspect.Signature | None) -> list[Call]:
    """Return the call as written, with positional arguments, and with keyword arguments."""
    if signature is None:
        return [call]
    return [call, by_position(call, signature), by_keyword(call, signature)]
