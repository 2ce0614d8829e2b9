"""Compares the choices in a record of a program with those that this environment would make.

Both are JSON objects: a recorded choice as `hooks.record` writes it, a compared one as
``spatch-core replay-check --json`` prints it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from .._decide import Verdict
from ..exceptions import IdentifierError
from .importing import origin_of
from .libraries import find_libraries, load_library
from .question import (
    LibraryError,
    Options,
    Question,
    UnknownNameError,
    find_function,
    given_type,
)

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

Json: TypeAlias = "dict[str, Any]"
FORMAT = 1
"""The format of records that this version reads; see `hooks.record`."""

_OPTIONS = ("prioritize", "disable", "type", "backend")
_FIELDS = ("function", "types", "backend", "distribution", "version", "before", "invoked", "count")
_TIMES = ("first", "last", "seconds")
"""In seconds: the start of the first call and the end of the last one since the start of the
record, and the duration of all calls together; None in a record without times."""
_MAY_ANSWER = (Verdict.RUNS, Verdict.ASKED, Verdict.LATER)


class Outcome(str, Enum):
    """The outcome of comparing one choice."""

    SAME = "same"
    VERSION = "other version"
    CHOICE = "other choice"
    NOT_FOUND = "not found"


class RecordError(Exception):
    """A file is not a record that this version can read."""


def read_record(path: str | os.PathLike[str]) -> list[Json]:
    """Read the choices of a record of `hooks.record`, or raise `RecordError` or `OSError`."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
        if found["format"] != FORMAT:
            raise ValueError(f"it has format {found['format']!r}; this version reads {FORMAT}")
        return [_recorded(each) for each in found["calls"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise RecordError(f"{os.fspath(path)} is not a record of hooks.record: {what}") from None


def _recorded(call: Mapping[str, Any]) -> Json:
    options = {name: call["options"][name] for name in _OPTIONS}
    times = {name: float(call[name]) if name in call else None for name in _TIMES}
    return {**{name: call[name] for name in _FIELDS}, "options": options, **times}


def replay(recorded: Iterable[Json]) -> Iterator[Json]:
    """Compare each recorded choice; no implementation runs.

    A choice is the same if the same backends are asked before the one that answered, and if that
    one comes from the same version of the same distribution. Whether the backends before it would
    decline again depends on the arguments, which a record does not have.
    """
    libraries = [load_library(each) for each in find_libraries()]
    found: dict[tuple[str, ...], tuple[BackendSystem, str] | str] = {}
    for each in recorded:
        key = each["function"], *each["types"]
        if key not in found:
            try:
                loaded, identifier = find_function(each["function"], libraries, each["types"])
            except (UnknownNameError, LibraryError, IdentifierError) as error:
                found[key] = str(error)
            else:
                found[key] = loaded.usable, identifier
        where = found[key]
        here: tuple[str | None, str | None] = (None, None)
        if isinstance(where, str):
            outcome, reason = Outcome.NOT_FOUND, where
        else:
            outcome, reason, here = _compared(each, *where)
        yield {
            **{name: each[name] for name in ("function", "types", "backend")},
            "outcome": outcome.value,
            "reason": reason,
            "recorded": {name: each[name] for name in ("distribution", "version")},
            "here": dict(zip(("distribution", "version"), here, strict=True)),
            **{name: each[name] for name in ("options", "invoked", "count")},
        }


def _compared(
    recorded: Json, system: BackendSystem, identifier: str
) -> tuple[Outcome, str, tuple[str | None, str | None]]:
    """Return outcome, reason, and the distribution of the backend here with its version."""
    name, known = recorded["backend"], system.backends
    # For overriding types, the record names the method of the library's protocol.
    if name not in known and name != system.protocol:
        reason = f"backend {name!r} is not installed, or cannot be used"
        return Outcome.NOT_FOUND, reason, (None, None)
    origin = origin_of(identifier, name, known)
    reason = _obstacle(recorded, system, identifier)
    if reason:
        return Outcome.CHOICE, reason, origin
    there = recorded["distribution"], recorded["version"]
    if origin != there:
        texts = [" ".join(map(str, filter(None, each))) for each in (origin, there)]
        here, then = (each or "no distribution" for each in texts)
        return Outcome.VERSION, f"{here} here, {then} in the record", origin
    return Outcome.SAME, "", origin


def _obstacle(recorded: Json, system: BackendSystem, identifier: str) -> str:
    """Say why this environment would not choose the backend; empty if it would."""
    name, given = recorded["backend"], recorded["options"]
    if recorded["invoked"]:
        implements = name in system.functions[identifier].backends
        return "" if implements else f"{name} does not implement the function here"
    try:
        known = system.backends
        options = Options(
            tuple(each for each in given["prioritize"] if each in known),
            tuple(each for each in given["disable"] if each in known),
            None if given["type"] is None else given_type(given["type"]),
        )
        types = tuple(map(given_type, recorded["types"]))
        question = Question(system, identifier, types, options)
        question.import_homes()
        current = given["backend"] if given["backend"] in known else None
        with system.backend_opts(backend=current):
            explained = question.ask().backends
    except (ValueError, TypeError) as error:
        return str(error)
    chain = list(dict.fromkeys(each.backend for each in explained if each.verdict in _MAY_ANSWER))
    if name not in chain:
        lines = [str(each) for each in explained if each.backend == name]
        return f"here, {lines[0] if lines else f'{name} takes no part'}"
    before = chain[: chain.index(name)]
    if before == recorded["before"]:
        return ""
    now, then = (", ".join(each) or "none" for each in (before, recorded["before"]))
    return f"before {name} come: {now}; in the record: {then}"
