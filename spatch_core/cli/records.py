"""JSON objects that several commands print: problems, libraries and backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..examination.backends import State
from ..examination.findings import source_as_json

if TYPE_CHECKING:
    from .._reporting.problems import Problem, Source
    from ..examination.backends import ListedBackend
    from ..examination.libraries import LoadedLibrary

STATE_STYLES: dict[str, str] = {
    State.ACTIVE: "green",
    State.NEEDS_OPT_IN: "yellow",
    State.INACTIVE: "yellow",
    State.BLOCKED: "dim",
    State.BROKEN: "bold red",
    State.SHADOWED: "red",
}
"""The style of each state in a terminal."""


def distribution_text(source: Source) -> str:
    """Return the name and version of a distribution; empty without one."""
    return " ".join(part for part in (source.distribution, source.version) if part)


def problem_as_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as an object for JSON."""
    return {
        "backend": problem.backend,
        "key": problem.key,
        "message": problem.message,
        "remedy": problem.remedy,
        **source_as_json(problem.source),
    }


def library_as_json(loaded: LoadedLibrary) -> dict[str, Any]:
    """Return a library as an object for JSON."""
    system = loaded.system
    where = source_as_json(loaded.library.source)
    del where["file"]
    return {
        "name": loaded.library.name,
        **where,
        "group": None if system is None else system.group,
        "environ_prefix": None if system is None else system.environ_prefix,
    }


def backend_as_json(backend: ListedBackend) -> dict[str, Any]:
    """Return a backend as an object for JSON."""
    described = backend.description
    return {
        "name": backend.name,
        "state": backend.state.value,
        "reason": backend.reason,
        "primary_types": described and [str(each) for each in described.primary_types],
        "secondary_types": described and [str(each) for each in described.secondary_types],
        "requires_opt_in": described and described.requires_opt_in,
        "functions": backend.functions,
        "prioritized": backend.prioritized,
        **source_as_json(backend.source),
    }
