"""Discovery: from entry points and descriptions in code to the catalog of a library's backends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Any

from .._description.description import Description
from .._identifiers import DEFAULT
from .._order import base_order, order_backends
from .._reporting.problems import Problem
from .._type_patterns import TypePattern
from .backends_by_name import BackendsByName
from .catalog import CYCLE, Catalog
from .environment import BACKEND, BLOCK, SET_ORDER, Environment, near_misses


def build_catalog(
    entry_points: Iterable[Any],
    in_code: Sequence[Any],
    default_types: Sequence[TypePattern],
    environment: Environment,
    problems: Iterable[Problem] = (),
    group: str | None = None,
    secondary_types: Sequence[TypePattern] = (),
    functions: Collection[str] = (),
    default_name: str = DEFAULT,
    registered: Sequence[Description] = (),
) -> Catalog:
    """Read the descriptions of all backends and order them.

    Parameters
    ----------
    entry_points : iterable of importlib.metadata.EntryPoint
        The entry points of the library's group.
    in_code : sequence of mapping or object
        Descriptions that the library passed itself.
    default_types : sequence of TypePattern
        Primary types of the default implementations.
    environment : Environment
        The library's variables.
    problems : iterable of Problem, optional
        Problems of finding the entry points.
    group : str, optional
        The library's group.
    secondary_types : sequence of TypePattern, optional
        Secondary types of the default implementations.
    functions : collection of str, optional
        Identifiers of the library's functions.
    default_name : str, optional
        The name of the library itself that users see; no backend may have it.
    registered : sequence of Description, optional
        Descriptions registered at run time; they replace installed ones with the same name.

    Returns
    -------
    Catalog
        The usable backends, and the reasons for the others.
    """
    by_name = BackendsByName(environment, functions)
    for fields in in_code:
        by_name.add_in_code(fields)
    for name, found_of_name in groupby(sorted(entry_points, key=_name), key=_name):
        by_name.add_installed(name, list(found_of_name))
    for each in registered:
        by_name.add_registered(each)
    found = by_name.descriptions
    if default_name in found:
        by_name.problems.append(
            Problem(
                f"{default_name!r} is the library's own name",
                "Rename the backend",
                default_name,
                "name",
                found.pop(default_name).source,
            )
        )
    found[DEFAULT] = Description(
        DEFAULT, tuple(default_types), tuple(secondary_types), in_code=True
    )

    variable = environment.variable(SET_ORDER)
    order = order_backends([*found.values()], environment.set_order, variable, skips=False)
    order = order._replace(default_name=default_name)
    for cycle in order.cycles:
        for name in cycle.members:
            by_name.problems.append(
                Problem(
                    f"{CYCLE}: {cycle.in_words(default_name)}",
                    f"Set {variable}={cycle.set_order!r}; else calls that match several of these "
                    "backends skip them",
                    name,
                    source=found[name].source,
                    skips=False,
                )
            )
    library = default_name, environment.variable(BACKEND)
    mentioned = [each for each in environment.names if each != library]
    return Catalog(
        environment=environment,
        descriptions={name: found[name] for name in order.names},
        order=order,
        base_order=tuple(base_order(list(found.values()))),
        problems=(
            *problems,
            *by_name.problems,
            *environment.problems,
            *near_misses(mentioned, by_name.names, environment.variable(BLOCK)),
        ),
        blocked=by_name.blocked,
        is_complete=by_name.reader.is_complete,
        group=group,
        default_name=default_name,
    )


def _name(entry_point: Any) -> str:
    return str(entry_point.name)
