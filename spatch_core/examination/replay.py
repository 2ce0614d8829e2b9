"""Compares the choices in a record of a program with those that this environment would make."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from .._decide import Verdict
from ..exceptions import IdentifierError
from .importing import origin_of
from .question import (
    LibraryError,
    Options,
    Question,
    UnknownFunctionError,
    find_function,
    given_type,
    import_homes,
)

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

FORMAT = 1
"""The format of records that this version reads; see `hooks.record`."""

_MAY_ANSWER = (Verdict.RUNS, Verdict.ASKED, Verdict.LATER)


class Outcome(str, Enum):
    """The outcome of comparing one choice."""

    SAME = "same"
    VERSION = "other version"
    CHOICE = "other choice"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded choice; types are identifiers."""

    function: str
    types: tuple[str, ...]
    backend: str
    distribution: str | None
    version: str | None
    before: tuple[str, ...]  # the backends that were asked first and did not answer
    prioritize: tuple[str, ...]
    disable: tuple[str, ...]
    type: str | None
    current: str | None  # the current backend
    invoked: bool
    count: int
    # In seconds since the start of the record; None in a record without times.
    first: float | None = None  # start of the first call
    last: float | None = None  # end of the last call
    seconds: float | None = None  # duration of all calls together


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded choice, compared with the choice in this environment."""

    recorded: Recorded
    outcome: Outcome
    reason: str = ""
    distribution: str | None = None  # of the backend here
    version: str | None = None


class RecordError(Exception):
    """A file is not a record that this version can read."""


def read_record(path: str | os.PathLike[str]) -> tuple[Recorded, ...]:
    """Read a record that `hooks.record` has written.

    Raises
    ------
    RecordError
        If the file is not a record, or of a later format.
    OSError
        If the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
        if found["format"] != FORMAT:
            raise ValueError(f"it has format {found['format']!r}; this version reads {FORMAT}")
        return tuple(map(_recorded, found["calls"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise RecordError(f"{os.fspath(path)} is not a record of hooks.record: {what}") from None


def _recorded(call: Mapping[str, Any]) -> Recorded:
    options = call["options"]
    times = {name: float(call[name]) for name in ("first", "last", "seconds") if name in call}
    return Recorded(
        call["function"],
        tuple(call["types"]),
        call["backend"],
        call["distribution"],
        call["version"],
        tuple(call["before"]),
        tuple(options["prioritize"]),
        tuple(options["disable"]),
        options["type"],
        options["backend"],
        bool(call["invoked"]),
        call["count"],
        **times,
    )


def replay(recorded: tuple[Recorded, ...]) -> Iterator[Replayed]:
    """Compare each recorded choice; no implementation runs.

    A choice is the same if the same backends are asked before the one that answered, and if that
    one comes from the same version of the same distribution. Whether the backends before it would
    decline again depends on the arguments, which a record does not have.
    """
    found: dict[tuple[str, tuple[str, ...]], tuple[BackendSystem, str] | str] = {}
    for each in recorded:
        key = each.function, each.types
        if key not in found:
            try:
                loaded, identifier = find_function(*key)
            except (UnknownFunctionError, LibraryError, IdentifierError) as error:
                found[key] = str(error)
            else:
                found[key] = loaded.usable, identifier
        where = found[key]
        if isinstance(where, str):
            yield Replayed(each, Outcome.NOT_FOUND, where)
        else:
            yield _replayed(each, *where)


def _replayed(recorded: Recorded, system: BackendSystem, identifier: str) -> Replayed:
    name, known = recorded.backend, system.backends
    # For overriding types, the record names the method of the library's protocol.
    if name not in known and name != system.protocol:
        reason = f"backend {name!r} is not installed, or cannot be used"
        return Replayed(recorded, Outcome.NOT_FOUND, reason)
    origin = origin_of(identifier, name, known)
    reason = _obstacle(recorded, system, identifier)
    if reason:
        return Replayed(recorded, Outcome.CHOICE, reason, *origin)
    if origin != (recorded.distribution, recorded.version):
        here, there = (
            " ".join(map(str, filter(None, each))) or "no distribution"
            for each in (origin, (recorded.distribution, recorded.version))
        )
        return Replayed(recorded, Outcome.VERSION, f"{here} here, {there} in the record", *origin)
    return Replayed(recorded, Outcome.SAME, "", *origin)


def _obstacle(recorded: Recorded, system: BackendSystem, identifier: str) -> str:
    """Say why this environment would not choose the backend; empty if it would."""
    name = recorded.backend
    if recorded.invoked:
        implements = name in system.functions[identifier].backends
        return "" if implements else f"{name} does not implement the function here"
    try:
        types = tuple(map(given_type, recorded.types))
        assumed = None if recorded.type is None else given_type(recorded.type)
        known = system.backends
        options = Options(
            tuple(each for each in recorded.prioritize if each in known),
            tuple(each for each in recorded.disable if each in known),
            assumed,
        )
        import_homes(system, (*types, *([assumed] if assumed else [])))
        current = recorded.current if recorded.current in known else None
        with system.backend_opts(backend=current):
            explained = Question(system, identifier, types, options).ask().backends
    except (ValueError, TypeError) as error:
        return str(error)
    chain = list(dict.fromkeys(each.backend for each in explained if each.verdict in _MAY_ANSWER))
    if name not in chain:
        lines = [str(each) for each in explained if each.backend == name]
        return f"here, {lines[0] if lines else f'{name} takes no part'}"
    before = chain[: chain.index(name)]
    if before == list(recorded.before):
        return ""
    now, then = (", ".join(each) or "none" for each in (before, recorded.before))
    return f"before {name} come: {now}; in the record: {then}"
