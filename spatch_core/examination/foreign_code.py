"""Runs third-party code without letting it print to stdout."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from importlib import import_module
from json import JSONEncoder
from os import close, dup, dup2  # held here, because an import may replace those of os

from .._reporting.problems import in_words
from .._reporting.warning_categories import SpatchCoreWarning

for_good: ContextVar[bool] = ContextVar("for_good", default=False)
"""Whether stdout is not put back: a command has its own stream for results.

A thread or an exit handler of third-party code may print at any later time.
"""


class JsonEncoder(JSONEncoder):
    """Writes JSON with methods of its own, because an import may replace those of the class."""

    encode, iterencode = JSONEncoder.encode, JSONEncoder.iterencode


@contextmanager
def foreign_code(system: object = None) -> Iterator[None]:
    """Run code of libraries without letting it print to stdout, which may have to be JSON.

    Warnings about backends are not shown, because they are among the problems.
    """
    if for_good.get():
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
    """Let stdout be stderr from now on, or nothing where that is closed."""
    sys.stdout = sys.stderr
    with suppress(OSError):
        dup2(2 if sys.stderr is not None else os.open(os.devnull, os.O_WRONLY), 1)


@contextmanager
def _reopened() -> Iterator[None]:
    """Open the standard streams again, if third-party code has closed them."""
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
    """Redirect the file descriptor too, which C libraries write to."""
    if sys.__stdout__ is None or sys.__stderr__ is None:  # closed
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
    """Import a module; return why it cannot be imported, empty if it can."""
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
    """Return the base of the warnings of the package, perhaps vendored, that `system` is from."""
    package = type(system).__module__.rpartition(".")[0]
    try:
        found: type[Warning] = import_module(f"{package}.exceptions").SpatchCoreWarning
    except (ImportError, AttributeError):
        return SpatchCoreWarning  # a system of another making
    return found
