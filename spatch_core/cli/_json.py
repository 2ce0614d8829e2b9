"""What several commands tell scripts, in the same words: sources, problems, backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._problems import Problem, Source

if TYPE_CHECKING:
    from ._backends import ListedBackend
    from ._libraries import LoadedLibrary


def source_as_json(source: Source | None) -> dict[str, str | None]:
    """Say where something comes from: entry point, file, distribution, version."""
    source = source or Source()
    return {
        "entry_point": source.entry_point,
        "file": source.file,
        "distribution": source.distribution,
        "version": source.version,
    }


def distribution_text(source: Source) -> str:
    """Name a distribution with its version; empty for none."""
    return " ".join(part for part in (source.distribution, source.version) if part)


def problem_as_json(problem: Problem) -> dict[str, Any]:
    """Say what is wrong, where, and what to do about it."""
    return {
        "backend": problem.backend,
        "key": problem.key,
        "message": problem.message,
        "remedy": problem.remedy,
        **source_as_json(problem.source),
    }


def library_as_json(loaded: LoadedLibrary) -> dict[str, Any]:
    """Say which library it is."""
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
    """Say what a backend is, and how it is."""
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
