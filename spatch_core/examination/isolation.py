"""Undoes what an import changes in the process, so that backends do not affect each other."""

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
"""Modules that reading other backends needs, and whose attributes an import may replace."""


@contextmanager
def imported_apart(modules: Iterable[str]) -> Iterator[None]:
    """Import modules one after another, and undo the changes of each to the process.

    In the ``with`` block, importing a module that failed raises the same exception again, and
    does not run the module again.
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
    """A finder that raises the exceptions of earlier imports."""

    def __init__(self, failures: dict[str, BaseException]) -> None:
        self.failures = failures

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if name in self.failures:
            raise self.failures[name]


@contextmanager
def unchanged_process() -> Iterator[None]:
    """Restore the state that all code in a process shares.

    It consists of the environment variables, the current folder, the import path and its finders,
    signal handlers, the recursion limit, and the attributes of `_MODULES`.
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
