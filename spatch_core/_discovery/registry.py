"""Discovery: from entry points and descriptions in code to the catalog of a library's backends.

Whatever is wrong with a backend becomes a `Problem`; nothing here raises for its sake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

from .._description.description import Description
from .._description.files import find_file, parse_toml
from .._description.parsing import parse_description
from .._identifiers import (
    DEFAULT,
    import_identifier,
    is_backend_name,
    is_dotted_name,
    is_importing,
    is_initializing,
    nearest,
)
from .._order.ordering import order_backends
from .._problems import Problem, Source
from .._type_patterns import TypePattern
from ..exceptions import DescriptionError
from .cache import DescriptionCache
from .catalog import CIRCLE, Catalog
from .environment import SET_ORDER, Environment

_FILE_ENDING = ".toml"


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
        What went wrong while the entry points were looked for.
    cache : DescriptionCache, optional
        Descriptions that need not be parsed again.

    Returns
    -------
    Catalog
        The usable backends, and the reasons for the others.
    """
    reading = _Reading(environment, cache)
    for fields in in_code:
        reading.add_in_code(fields)
    for name, group in groupby(sorted(entry_points, key=_name), key=_name):
        reading.add_installed(name, list(group))
    if cache is not None:
        cache.save()
    found = reading.descriptions
    found[DEFAULT] = Description(DEFAULT, tuple(default_types), in_code=True)

    variable = environment.variable(SET_ORDER)
    order = order_backends(list(found.values()), environment.set_order, variable)
    for cycle in order.cycles:
        for name in cycle.members:
            reading.problems.append(
                Problem(
                    f"{CIRCLE}: {' before '.join(cycle.path)}",
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
            *reading.problems,
            *environment.problems,
            *reading.near_misses(),
        ),
        blocked=reading.blocked,
        is_complete=reading.is_complete,
    )


def entry_point_target(entry_point: Any) -> tuple[str, str, bool]:
    """Return the module, what of it an entry point leads to, and whether that is a file."""
    # "module : attribute [extra]" is how the specification of entry points allows it.
    value = str(entry_point.value).partition("[")[0]
    module, _, attribute = (part.strip() for part in value.partition(":"))
    return module, attribute, attribute.endswith(_FILE_ENDING)


def _name(entry_point: Any) -> str:
    return str(entry_point.name)


class _Reading:
    """Collects descriptions and problems while the backends are read one by one."""

    def __init__(self, environment: Environment, cache: DescriptionCache | None) -> None:
        self.environment = environment
        self.cache = cache
        self.descriptions: dict[str, Description] = {}
        self.problems: list[Problem] = []
        self.blocked: dict[str, Source] = {}
        self.names: set[str] = {DEFAULT}
        self.is_complete = True

    def add_in_code(self, fields: Any) -> None:
        source = Source()
        try:
            name = fields["name"] if isinstance(fields, Mapping) else fields.name
        except (Exception, SystemExit):  # noqa: BLE001  # whatever it is, parsing reports it
            name = None
        if isinstance(name, str) and self.is_blocked(name, source):
            return
        if isinstance(name, str) and name in self.descriptions:
            self.problems.append(
                Problem("the library passes two of this name", "Rename one", name, "name", source)
            )
            return
        description = self.parse(fields, source, None, in_code=True)
        if description is not None:
            self.descriptions[description.name] = description

    def add_installed(self, name: str, entry_points: list[Any]) -> None:
        """Read the first of the entry points that share a name; report the others."""
        sources = [
            Source(f"{item.name} = {item.value}", metadata=item.dist) for item in entry_points
        ]
        if self.is_blocked(name, sources[0]):
            return
        if len(sources) > 1:
            ranked = sorted(
                zip(sources, entry_points, strict=True),
                key=lambda pair: (pair[0].distribution or "", pair[0].entry_point or ""),
            )
            sources = [source for source, _ in ranked]
            entry_points = [entry_point for _, entry_point in ranked]
        if name in self.descriptions:
            self.shadowed(name, sources, "the library itself")
            return
        if len(sources) > 1:
            owner = sources[0].distribution
            self.shadowed(name, sources[1:], f"distribution {owner}" if owner else str(sources[0]))
        description = self.read(name, entry_points[0], sources[0])
        if description is not None:
            self.descriptions[name] = description

    def shadowed(self, name: str, sources: Iterable[Source], owner: str) -> None:
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
        self.names.add(name)
        if self.environment.blocks(name):
            self.blocked[name] = source
            return True
        return False

    def read(self, name: str, entry_point: Any, source: Source) -> Description | None:
        if not is_backend_name(name) or name == DEFAULT:
            self.problems.append(
                Problem(
                    f"{name!r} cannot name a backend",
                    "Use letters, digits, '_', '.' and '-'; 'default' is the library's own name",
                    name,
                    source=source,
                )
            )
            return None
        module, attribute, is_file = entry_point_target(entry_point)
        if is_file:
            return self.read_file(name, module, attribute, source)
        return self.read_object(name, module, attribute, source)

    def read_file(self, name: str, module: str, file: str, source: Source) -> Description | None:
        def problem(message: str, remedy: str) -> None:
            self.problems.append(Problem(message, remedy, name, source=source))

        if not is_dotted_name(module) or not is_backend_name(file):
            problem(
                f"'{module}:{file}' does not name a file inside a package",
                "Write the entry point as 'package.module:file.toml'",
            )
            return None

        def unreadable(error: Exception) -> None:
            problem(
                f"the package {module!r} or its file cannot be read "
                f"({type(error).__name__}: {error})",
                "Reinstall the distribution",
            )

        try:
            path, found = find_file(module, file, source.metadata)
        except Exception as error:  # noqa: BLE001  # a third party's finder or loader
            unreadable(error)
            return None
        if found is None:
            problem(
                f"there is no file {file!r} in {path or module!r}",
                "Check the entry point, and that the distribution ships the file as package data",
            )
            return None
        source = Source(source.entry_point, path, source.metadata)
        description = None if self.cache is None else self.cache.find(found, name, source)
        if description is not None:
            return description
        try:
            fields = parse_toml(found.read())
        except OSError as error:
            unreadable(error)
            return None
        except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, nested too deeply
            problem(f"it is not valid TOML: {error}", "Correct the file")
            return None
        description = self.parse(fields, source, name)
        if description is not None and self.cache is not None:
            self.cache.keep(found, description)
        return description

    def read_object(
        self, name: str, module: str, qualname: str, source: Source
    ) -> Description | None:
        try:
            fields: object = import_module(module)
            if is_initializing(fields):
                self.is_complete = False
                return None
            if qualname:
                fields = import_identifier(f"{module}:{qualname}")
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's import
            if isinstance(error, (ImportError, AttributeError)) and is_importing():
                # It may need what is only half imported now, the library itself for example.
                self.is_complete = False
                return None
            self.problems.append(
                Problem(
                    f"importing it failed with {type(error).__name__}: {error}",
                    "Repair or uninstall the distribution, or block the backend by setting "
                    f"{self.environment.variable('BLOCK')}={name}",
                    name,
                    source=source,
                )
            )
            return None
        return self.parse(fields, source, name)

    def parse(
        self, fields: Any, source: Source, expected_name: str | None, in_code: bool = False
    ) -> Description | None:
        try:
            return parse_description(fields, source, expected_name, in_code)
        except DescriptionError as error:
            self.problems += error.problems
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's attributes
            self.problems.append(
                Problem(
                    f"reading its fields failed with {type(error).__name__}: {error}",
                    "Repair or uninstall the distribution",
                    expected_name or "?",
                    source=source,
                )
            )
        return None

    def near_misses(self) -> Iterator[Problem]:
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


def find_entry_points(group: str) -> tuple[list[Any], list[Problem]]:
    """Find the entry points of a group, whatever else is installed.

    Parameters
    ----------
    group : str
        The group.

    Returns
    -------
    entry_points : list of importlib.metadata.EntryPoint
        Those that can be read.
    problems : list of Problem
        Distributions whose entry points cannot.
    """
    from importlib.metadata import distributions, entry_points

    try:
        return list(entry_points(group=group)), []
    except Exception:  # noqa: BLE001  # one malformed file of any distribution is enough
        pass
    found: list[Any] = []
    problems = []
    seen: set[str] = set()
    for distribution in distributions():
        source = Source(metadata=distribution)
        name = (source.distribution or "").lower().replace("_", "-")
        if name and name in seen:
            continue
        seen.add(name)
        try:
            found += [each for each in distribution.entry_points if each.group == group]
        except Exception as error:  # noqa: BLE001  # as above
            problems.append(
                Problem(
                    f"its file entry_points.txt cannot be read ({type(error).__name__}: {error})",
                    "Reinstall or uninstall the distribution",
                    source=source,
                )
            )
    return found, problems
