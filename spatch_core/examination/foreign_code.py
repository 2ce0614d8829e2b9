"""Runs third-party code, and keeps it from printing to stdout."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from importlib import import_module
from json import JSONEncoder
from os import close, dup, dup2  # bound here, because an import may replace those of os

from .._errors import in_words
from ..exceptions import SpatchCoreWarning

redirects_permanently: ContextVar[bool] = ContextVar("redirects_permanently", default=False)
"""Whether the first use redirects stdout for the rest of the process.

The command line sets it and prints its results to a stream of its own, because threads and exit
handlers of third-party code may print at any time.
"""


class JsonEncoder(JSONEncoder):
    """Encodes JSON with references to the original methods, which an import may replace."""

    encode, iterencode = JSONEncoder.encode, JSONEncoder.iterencode


@contextmanager
def foreign_code(system: object = None) -> Iterator[None]:
    """Send what third-party code prints to stderr, because stdout may have to be JSON.

    Warnings about backends are not shown, because commands report the same problems. A vendored
    copy of this package has its own warnings: `system` says which copy the code uses.
    """
    if redirects_permanently.get():
        _redirect()
    with (
        _reopened(),
        redirect_stdout(sys.stderr),
        _redirected_descriptor(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", SpatchCoreWarning)
        if system is not None:
            warnings.simplefilter("ignore", _warnings_of(system))
        yield


def _redirect() -> None:
    """Make stdout the same as stderr, or the null device if stderr is closed."""
    sys.stdout = sys.stderr
    with suppress(OSError):
        dup2(2 if sys.stderr is not None else os.open(os.devnull, os.O_WRONLY), 1)


@contextmanager
def _reopened() -> Iterator[None]:
    """Reopen the standard streams if third-party code closes them."""
    try:
        yield
    finally:
        for number, name in ((1, "stdout"), (2, "stderr")):
            stream = getattr(sys, name)
            if getattr(stream, "closed", False):
                opened = open(number, "w", encoding=stream.encoding, closefd=False)  # noqa: SIM115
                setattr(sys, name, opened)  # for the rest of the process


@contextmanager
def _redirected_descriptor() -> Iterator[None]:
    """Redirect the file descriptor of stdout, which C libraries write to."""
    if sys.__stdout__ is None or sys.__stderr__ is None:  # closed before Python started
        yield
        return
    kept = None
    with suppress(OSError):  # an import has closed one of them
        kept = dup(1)
        dup2(2, 1)
    try:
        yield
    finally:
        if kept is not None:
            with suppress(OSError):
                dup2(kept, 1)
                close(kept)


def import_failure(module: str) -> str:
    """Import a module; return why that fails, empty if it does not."""
    try:
        with foreign_code():
            import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a third party's import
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        if absent is not None and f"{module}.".startswith(f"{absent}."):
            return f"the module {absent} is not installed"
        return f"importing {module} failed with {in_words(error)}"
    return ""


def _warnings_of(system: object) -> type[Warning]:
    """Return the base class of the warnings of the package, perhaps vendored, of a system."""
    package = type(system).__module__.rpartition(".")[0]
    try:
        found: type[Warning] = import_module(f"{package}.exceptions").SpatchCoreWarning
    except (ImportError, AttributeError):
        return SpatchCoreWarning  # a class of another package that is named BackendSystem
    return found
