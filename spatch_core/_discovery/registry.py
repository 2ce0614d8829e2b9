"""Discovery: from entry points and descriptions in code to the catalog of a library's backends.

A name means one backend. Several that share a name are settled like this, and the others are
reported:

1. a description in code goes before entry points, and the first in code before others;
2. of entry points, the first by the name of the distribution, then by ``"name = value"``;
   if it turns out to be broken, no other takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from .._description.description import Description
from .._identifiers import DEFAULT, nearest
from .._interrupts import is_interrupt
from .._order.ordering import order_backends
from .._problems import Problem, Source
from .._type_patterns import TypePattern
from .backend_reader import BackendReader
from .cache import DescriptionCache
from .catalog import CYCLE, Catalog
from .environment import BLOCK, SET_ORDER, Environment


def build_catalog(
    entry_points: Iterable[Any],
    in_code: Sequence[Any],
    default_types: Sequence[TypePattern],
    environment: Environment,
    problems: Iterable[Problem] = (),
    cache: DescriptionCache | None = None,
) -> Catalog:
    """Read the descriptions of all backends and order them.

    Parameters
    ----------
    entry_points : iterable of importlib.metadata.EntryPoint
        Those of the library's group.
    in_code : sequence of mapping or object
        Descriptions that the library passed itself.
    default_types : sequence of TypePattern
        Primary types of the default implementations.
    environment : Environment
        The library's variables.
    problems : iterable of Problem, optional
        Problems of finding the entry points.
    cache : DescriptionCache, optional
        Descriptions that need not be parsed again.

    Returns
    -------
    Catalog
        The usable backends, and the reasons for the others.
    """
    registry = _Registry(environment, cache)
    for fields in in_code:
        registry.add_in_code(fields)
    for name, group in groupby(sorted(entry_points, key=_name), key=_name):
        registry.add_installed(name, list(group))
    if cache is not None:
        cache.save()
    found = registry.descriptions
    found[DEFAULT] = Description(DEFAULT, tuple(default_types), in_code=True)

    variable = environment.variable(SET_ORDER)
    order = order_backends(list(found.values()), environment.set_order, variable)
    for cycle in order.cycles:
        for name in cycle.members:
            registry.problems.append(
                Problem(
                    f"{CYCLE}: {' before '.join(cycle.path)}",
                    f"Set {variable}={cycle.set_order!r}",
                    name,
                    source=found[name].source,
                )
            )
    return Catalog(
        environment=environment,
        descriptions={name: found[name] for name in order.names},
        order=order,
        problems=(
            *problems,
            *registry.problems,
            *environment.problems,
            *registry.near_misses(),
        ),
        blocked=registry.blocked,
        is_complete=registry.reader.is_complete,
    )


def _name(entry_point: Any) -> str:
    return str(entry_point.name)


class _Registry:
    """The backends by name, while they are read one by one."""

    def __init__(self, environment: Environment, cache: DescriptionCache | None) -> None:
        self.environment = environment
        self.problems: list[Problem] = []
        self.reader = BackendReader(self.problems, environment.variable(BLOCK), cache)
        self.descriptions: dict[str, Description] = {}
        self.blocked: dict[str, Source] = {}
        # All names that are installed or in code, whether they can be used or not.
        self.names: set[str] = {DEFAULT}

    def add_in_code(self, fields: Any) -> None:
        """Read a description in code, unless its name is blocked or taken."""
        source = Source()
        try:
            name = fields["name"] if isinstance(fields, Mapping) else fields.name
        except BaseException as error:  # any fault, which parsing reports
            if is_interrupt(error):
                raise
            name = None
        if isinstance(name, str) and self.is_blocked(name, source):
            return
        if isinstance(name, str) and name in self.descriptions:
            self.problems.append(
                Problem("the library passes two of this name", "Rename one", name, "name", source)
            )
            return
        description = self.reader.parse(fields, source, None, in_code=True)
        if description is not None:
            self.descriptions[description.name] = description

    def add_installed(self, name: str, entry_points: list[Any]) -> None:
        """Read the first of the entry points that share a name; report the others."""
        sources = [
            Source(f"{item.name} = {item.value}", metadata=item.dist) for item in entry_points
        ]
        if self.is_blocked(name, sources[0]):
            return
        # Sorted only if need be, because that reads the metadata of the distributions.
        if len(sources) > 1:
            ranked = sorted(
                zip(sources, entry_points, strict=True),
                key=lambda pair: (pair[0].distribution or "", pair[0].entry_point or ""),
            )
            sources = [source for source, _ in ranked]
            entry_points = [entry_point for _, entry_point in ranked]
        if name in self.descriptions:
            self.report_unused(name, sources, "the library itself")
            return
        if len(sources) > 1:
            owner = sources[0].distribution
            used = f"distribution {owner}" if owner else str(sources[0])
            self.report_unused(name, sources[1:], used)
        description = self.reader.read(name, entry_points[0], sources[0])
        if description is not None:
            self.descriptions[name] = description

    def report_unused(self, name: str, sources: Iterable[Source], owner: str) -> None:
        """Report backends that are not used, because `owner` has one of the same name."""
        for source in sources:
            self.problems.append(
                Problem(
                    f"{owner} offers a backend of the same name, which is used instead",
                    "Uninstall one of the two, or rename its entry point",
                    name,
                    source=source,
                )
            )

    def is_blocked(self, name: str, source: Source) -> bool:
        """Whether the environment blocks a name; takes note of the name either way."""
        self.names.add(name)
        if self.environment.blocks(name):
            self.blocked[name] = source
            return True
        return False

    def near_misses(self) -> Iterator[Problem]:
        """Yield a problem for each name in a variable that looks like a misspelling."""
        for name, variable in self.environment.names:
            if name in self.names:
                continue
            meant = nearest(name, self.names)
            if meant:
                yield Problem(
                    f"no backend is named {name!r}; the name is ignored",
                    f"Did you mean {meant[0]!r}?",
                    key=variable,
                )
