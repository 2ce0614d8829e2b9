"""Problems, libraries and backends as JSON objects of commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .._description import EVERY, Implementation
from .._patterns import DEFAULT
from ..examination.backends import State, functions_of_every, steps
from ..examination.findings import source_as_json
from ..examination.libraries import is_adopted

if TYPE_CHECKING:
    from .._description import Description
    from .._errors import Finding, Source
    from ..backend_system import BackendSystem
    from ..examination.backends import ListedBackend
    from ..examination.libraries import LoadedLibrary

STATE_STYLES: dict[str, str] = {
    State.ACTIVE: "green",
    State.WAITS: "yellow",
    State.NEEDS_OPT_IN: "yellow",
    State.INACTIVE: "yellow",
    State.BLOCKED: "dim",
    State.BROKEN: "bold red",
}
"""The style of each state in a terminal."""


def distribution_text(source: Source) -> str:
    """Return the name and version of a distribution; empty without one."""
    return " ".join(part for part in (source.distribution, source.version) if part)


def problem_as_json(problem: Finding) -> dict[str, Any]:
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


def show_as_json(
    loaded: LoadedLibrary, backend: ListedBackend, problems: list[Finding]
) -> dict[str, Any]:
    """Return the JSON object of a backend with the given problems."""
    return {
        "library": loaded.library.name,
        **backend_as_json(backend),
        **_described(backend.description, loaded.usable),
        "problems": [problem_as_json(each) for each in problems],
    }


def _described(description: Description | None, system: BackendSystem) -> dict[str, Any]:
    """Return the fields of a description, and its place in the order."""
    if description is None:
        keys = ("higher_priority_than", "lower_priority_than", "overridden", "auto_generation")
        converting = ("to_default", "from_default", "copy_into", "requires", "url", "fallback")
        others = ("order", "before", "after", "functions", "every", "attributes", "absent")
        return dict.fromkeys((*keys, *converting, *others))
    order = system._catalog().order
    edges = steps(order)
    before = [each for each in edges if each.before == description.name]
    after = [each for each in edges if each.after == description.name]
    higher, lower = description.higher_priority_than, description.lower_priority_than
    followed = {("higher", each.after) for each in before} | {("lower", e.before) for e in after}
    declared = [("higher", name) for name in higher] + [("lower", name) for name in lower]
    generation = description.auto_generation
    return {
        "higher_priority_than": list(higher),
        "lower_priority_than": list(lower),
        "overridden": [pair[1] for pair in declared if pair not in followed],
        "to_default": description.to_default,
        "from_default": description.from_default,
        "copy_into": description.copy_into,
        "requires": list(description.requires),
        "url": description.url,
        "fallback": system._fallback if description.name == DEFAULT else None,
        "auto_generation": None
        if generation is None
        else {"backend": generation.backend, "modules": list(generation.modules)},
        "order": list(order.names),
        "before": [asdict(each) for each in before],
        "after": [asdict(each) for each in after],
        "functions": list(_functions(description, system)),
        "every": functions_of_every(description, system),
        "attributes": dict(description.attributes),
        "absent": dict(description.absent),
    }


def _functions(description: Description, system: BackendSystem) -> Iterator[dict[str, Any]]:
    if description.name == DEFAULT:
        for identifier, function in system.functions.items():
            default = function.__wrapped__
            module, name = (getattr(default, key, "?") for key in ("__module__", "__qualname__"))
            yield _function(identifier, Implementation(f"{module}:{name}"), system)
    for identifier, implementation in description.functions.items():
        yield _function(identifier, implementation, system)
    if description.every is not None:
        yield _function(EVERY, description.every, system)


def _function(
    identifier: str, implementation: Implementation, system: BackendSystem
) -> dict[str, Any]:
    return {
        "function": identifier,
        "implementation": implementation.function,
        "should_run": implementation.should_run,
        "uses_context": implementation.uses_context,
        "additional_docs": implementation.additional_docs,
        "variants": [
            {"requires": each.requires, "function": each.function}
            for each in implementation.variants
        ],
        "variant": implementation.variant and implementation.variant.requires,
        "is_dispatchable": identifier in system.functions
        or identifier == EVERY
        or is_adopted(system, identifier),
    }
