"""Imports the objects of backends so that none notices what another one changed."""

from __future__ import annotations

import builtins
import io
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

_MODULES = (builtins, io, json, os)
"""Modules whose attributes imports replace, and without which no other backend can be read."""


@contextmanager
def imported_apart(modules: Iterable[str]) -> Iterator[None]:
    """Import modules one after another, each in a process that is as it was before.

    One that cannot be imported is not run again while this lasts: importing it raises the
    same exception again.
    """
    failures: dict[str, BaseException] = {}
    finder = _Failures(failures)
    for module in modules:
        with unchanged_process():
            try:
                import_module(module)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  # a third party's import
                parents = module.split(".")
                names = (".".join(parents[:end]) for end in range(1, len(parents) + 1))
                failures[next(name for name in names if name not in sys.modules)] = error
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.meta_path.remove(finder)


class _Failures:
    """A finder that raises what the import of a module raised before."""

    def __init__(self, failures: dict[str, BaseException]) -> None:
        self.failures = failures

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if name in self.failures:
            raise self.failures[name]


@contextmanager
def unchanged_process() -> Iterator[None]:
    """Undo changes of what all code in a process shares.

    These are the environment variables, the current folder, the import path and its finders,
    signal handlers, the recursion limit, and the functions of `_MODULES`.
    """
    variables = dict(os.environ)
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = None
    path, finders, limit = sys.path[:], sys.meta_path[:], sys.getrecursionlimit()
    attributes = [dict(vars(module)) for module in _MODULES]
    handlers = {each: signal.getsignal(each) for each in signal.valid_signals()}
    try:
        yield
    finally:
        for module, known in zip(_MODULES, attributes, strict=True):
            vars(module).update(known)
        sys.setrecursionlimit(limit)
        sys.path[:], sys.meta_path[:] = path, finders
        if os.environ != variables:
            os.environ.clear()
            os.environ.update(variables)
        if folder is not None:
            with suppress(OSError):
                os.chdir(folder)
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                with suppress(ValueError, OSError):  # only the main thread may
                    signal.signal(number, handler)
