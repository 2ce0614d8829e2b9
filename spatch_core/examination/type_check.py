"""Checks whether the type patterns of a description can match."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from inspect import isabstract, isclass
from typing import TYPE_CHECKING, Any, get_origin

from .._errors import Finding, replace
from .._patterns import ABSTRACT, DEFAULT, EXACT, TypePattern, type_identifier
from .findings import error, note, unchecked, warning
from .importing import Importer, is_module_installed
from .live import every_class
from .packages import package_of
from .suggestions import attributes_like, did_you_mean

if TYPE_CHECKING:
    from .._description import Description
    from ..backend_system import BackendSystem

SLOW = 0.25
"""The import time of an abstract class, in seconds, from which on it is reported."""
_PATIENCE = 30.0
"""Time limit of the second import in seconds."""


def check_pattern(
    pattern: TypePattern, importer: Importer, library: str | None
) -> Iterator[Finding]:
    """Import the class of a type pattern, and yield the reasons why it can never match.

    `library` is the module that every process imports first; None to measure no import time.
    """
    package = package_of(pattern.module)
    if not is_module_installed(package):
        meant, perhaps = importer.identifiers_like(pattern.module, pattern.qualname)
        if meant:
            yield error(
                f"there is no module {pattern.module!r}, so {str(pattern)!r} can never match",
                f"Did you mean {pattern.prefix + meant[0]!r}?",
            )
        else:
            remark = unchecked(f"the package {package!r} is not installed here")
            if perhaps:
                remedy = f"{remark.remedy}, or correct it if {perhaps[0]!r} is meant"
                remark = replace(remark, remedy=remedy)
            yield remark
        return
    was_loaded = pattern.module in sys.modules
    start = time.perf_counter()
    finding = importer.try_module(pattern.module, is_needed=False)
    if finding is not None:
        yield finding
        return
    seconds = time.perf_counter() - start
    is_timed = pattern.prefix == ABSTRACT and not was_loaded
    if library is not None and is_timed and seconds >= SLOW:
        # The first import may have compiled the module, or read it from a slow disk.
        seconds = min(seconds, _time_again(library, pattern.module, seconds))
        if seconds >= SLOW:
            yield warning(
                f"the abstract class is slow to import: {pattern.module} takes {seconds:.2f} s "
                "in every process in which the library dispatches",
                "Name a class of a module that is quick to import, or name concrete types, which "
                "are matched without any import",
            )
    yield from _check_named(pattern, sys.modules[pattern.module])


def _check_named(pattern: TypePattern, found: Any) -> Iterator[Finding]:
    for part in pattern.qualname.split("."):
        outer = found
        try:
            found = getattr(outer, part)
        except Exception:  # noqa: BLE001  # a module's own __getattr__
            if "<locals>" in pattern.qualname:
                return
            found = _class_of_that_name(pattern)
            if found is None:
                meant = attributes_like(outer, part)
                yield error(
                    f"{pattern.module!r} has no {pattern.qualname!r}, so {str(pattern)!r} "
                    "can never match",
                    did_you_mean(meant, "Name the class by the module and qualname that it has"),
                )
                return
            break
    if not isclass(found):
        origin = get_origin(found)  # list for typing.List
        yield error(
            f"{pattern.identifier!r} is not a class but of type {type(found).__qualname__!r}, so "
            "it can never match",
            f"Write '{pattern.prefix}{type_identifier(origin)}'"
            if isclass(origin)
            else "Name the type of the objects, e.g. 'numpy:ndarray' instead of 'numpy:array'",
        )
    elif found is type(None):
        yield warning(
            "None does not count among the dispatch arguments, so its type never matches",
            "Remove it",
        )
    elif pattern.prefix == EXACT and (isabstract(found) or getattr(found, "_is_protocol", False)):
        yield error(
            f"{pattern.identifier!r} is abstract: no object has exactly this type, so it can "
            "never match",
            f"Write '@{pattern.identifier}' for classes registered with it too, or "
            f"'~{pattern.identifier}' for its subclasses",
        )
    elif pattern.prefix == ABSTRACT:
        yield from _check_abstract(pattern, found)


def _check_abstract(pattern: TypePattern, found: type) -> Iterator[Finding]:
    try:
        issubclass(int, found)
    except Exception as raised:  # noqa: BLE001  # a third party's __subclasscheck__
        yield error(
            f"issubclass(..., {pattern.identifier}) raises {type(raised).__name__} ({raised}), so "
            "that it can never match",
            "Name a class that issubclass accepts",
        )
        return
    if type(found).__subclasscheck__ is type.__subclasscheck__:
        yield note(
            f"{pattern.identifier!r} is not an abstract base class; importing it is unnecessary",
            f"Write '~{pattern.identifier}', which means the same and needs no import",
        )


def waits_for_prioritize(description: Description, system: BackendSystem) -> bool:
    """Whether a backend does not require opt-in, and yet runs only where it is prioritized.

    The library works with all its types itself, and goes before backends that are merely installed.
    """
    own_types = system.backends[DEFAULT].primary_types
    if description.name == DEFAULT or description.requires_opt_in or not own_types:
        return False
    order = [*system._catalog().descriptions]
    goes_first = order.index(description.name) < order.index(DEFAULT)
    if goes_first and description.name in system._dispatcher.ensure_loaded().decider.placed:
        return False
    return all(any(_covers(own, each) for own in own_types) for each in description.known_types)


def check_reach(description: Description, system: BackendSystem) -> Iterator[Finding]:
    """Yield a note if the library's own implementations always go first."""
    if waits_for_prioritize(description, system):
        yield note(
            "it waits for prioritize: the library works with all of its types itself and goes "
            "first, so it never runs unasked",
            "Say so with requires_opt_in = true",
        )


def _covers(own: TypePattern, other: TypePattern) -> bool:
    """Whether `own` is known to match every class that `other` matches."""
    if own.identifier == other.identifier and own.prefix == other.prefix:
        return True
    if own.prefix == EXACT or other.prefix not in ("", own.prefix):
        return False
    cls: Any = sys.modules.get(other.module)
    base: Any = sys.modules.get(own.module)
    with suppress(Exception):
        for part in other.qualname.split("."):
            cls = getattr(cls, part)
        for part in own.qualname.split("."):
            base = getattr(base, part)
        return issubclass(cls, base) if own.prefix == ABSTRACT else base in type.mro(cls)
    return False


def _class_of_that_name(pattern: TypePattern) -> type | None:
    """Return a class with this identifier that is no attribute of its module, or None."""
    found = (each for each in every_class() if type_identifier(each) == pattern.identifier)
    return next(found, None)


def _time_again(library: str, module: str, otherwise: float) -> float:
    """Return the import time of a module in a new interpreter that has imported the library."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        f"import {library}, time\n"
        "start = time.perf_counter()\n"
        f"import {module}\n"
        "print()\n"
        "print(time.perf_counter() - start)"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_PATIENCE,  # a process that an import started may hold the pipe forever
        )
        return float(done.stdout.splitlines()[-1])
    except (ValueError, IndexError, OSError, subprocess.TimeoutExpired):
        return otherwise
