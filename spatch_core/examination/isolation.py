"""Descriptions that are objects: reading them may end the process or change it.

A child process reads them first. Then this process imports them one by one, and undoes what each
import changes, so that backends do not affect each other.
"""

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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._discovery import build_catalog
from .._environment import entry_point_target, find_entry_points, read_environment
from .child import run

if TYPE_CHECKING:
    from .._environment import Environment
    from ..backend_system import BackendSystem
    from .child import Journal

_MODULES = (builtins, io, json, os)
"""Modules that reading other backends needs, and whose attributes an import may replace."""


def try_descriptions(system: BackendSystem, name: str) -> tuple[str, str] | None:
    """Return message and remedy if reading the library's backends ends a process.

    Only descriptions that are objects are read: a file cannot end a process.
    """
    request = {"group": system.group, "prefix": system.environ_prefix}
    if not unblocked_objects(system):
        return None
    report = run(f"{__name__}:read", request, f"reading the backends of {name}")
    backend = report.last("backend")
    if report.is_complete or backend is None:
        return None
    ending = report.endings[-1]
    variable = f"{system.environ_prefix}_BLOCK"
    blocked = read_environment(system.environ_prefix, os.environ).block
    value = ",".join(sorted({*blocked, backend["name"]}))
    way_out = f"block the backend by setting {variable}={value}"
    return (
        f"{ending.what} {ending.how}",
        f"Repair or uninstall {backend['owner']}, or {way_out}",
    )


def read(request: dict[str, Any], journal: Journal) -> None:
    """Add each ``backend``, and then read its description; called in the child.

    The request has the ``group`` and the ``prefix`` of the library.
    """
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # the parent reads the same backends next, and shows their output
        os.dup2(quiet, stream)
    environment = read_environment(request["prefix"], os.environ)
    for each in _objects(request["group"], environment):
        owner = "its distribution" if each.dist is None else each.dist.name
        journal.add("backend", {"name": each.name, "owner": owner})
        journal.begins(f"reading the description of {each.name!r}")
        build_catalog([each], (), (), environment)


def unblocked_objects(system: BackendSystem) -> list[Any]:
    """Return the entry points of unblocked backends that lead to objects, sorted by name."""
    return _objects(system.group, read_environment(system.environ_prefix, os.environ))


def _objects(group: str | None, environment: Environment) -> list[Any]:
    if group is None:
        return []
    found = [
        each
        for each in find_entry_points(group)[0]
        if not environment.blocks(each.name) and not entry_point_target(each)[2]
    ]
    return sorted(found, key=lambda each: (each.name, each.value))


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
    methods = dict(vars(Path))  # `importlib.metadata` reads files by them
    handlers = {each: signal.getsignal(each) for each in signal.valid_signals()}
    try:
        yield
    finally:
        for module, known in zip(_MODULES, attributes, strict=True):
            vars(module).update(known)
        for name in {*methods, *vars(Path)}:
            if name not in methods:
                delattr(Path, name)
            elif vars(Path).get(name) is not methods[name]:
                setattr(Path, name, methods[name])
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
