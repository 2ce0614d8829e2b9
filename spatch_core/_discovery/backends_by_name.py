"""Collects the backends by name while they are read; of several with one name, one is used.

Of backends that share a name, this one is used, and the others are reported:

1. A description in code goes before entry points; of several in code, the first is used.
2. Of entry points, the first usable one is used, by name of the distribution, then by
   ``"name = value"``. One that the environment chooses (``name@distribution``) goes first.
3. Entry points after the first usable one are not read.
4. A backend with unmet requirements is used only if no other is usable.

The reports are made in `namesakes`, which is imported only if names are shared.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from .._description.description import Description
from .._identifiers import DEFAULT
from .._reporting.problems import Problem, Source
from .backend_reader import BackendReader
from .environment import BLOCK, Environment
from .in_code import name_of


class BackendsByName:
    """The backends of a library by their names.

    Parameters
    ----------
    environment : Environment
        The library's variables.
    functions : collection of str
        Identifiers of the library's functions.
    """

    def __init__(
        self,
        environment: Environment,
        functions: Collection[str],
    ) -> None:
        self.environment = environment
        self.problems: list[Problem] = []
        self.reader = BackendReader(self.problems, environment.variable(BLOCK), functions)
        self.descriptions: dict[str, Description] = {}
        self.blocked: dict[str, Source] = {}
        self.shadowed: dict[str, tuple[Source, ...]] = {}
        self.mentioned = environment.mentioned
        # All names that are installed or in code, usable or not.
        self.names: set[str] = {DEFAULT}

    def add_in_code(self, fields: Any) -> None:
        """Read a description in code, unless its name is blocked or taken."""
        source = Source()
        name = name_of(fields)
        if isinstance(name, str) and self.is_blocked(name, source, distribution=""):
            return
        if isinstance(name, str) and name in self.descriptions:
            self.problems.append(
                Problem(
                    "the library passes two backends with this name",
                    "Rename one",
                    name,
                    "name",
                    source,
                )
            )
            return
        description = self.reader.parse(fields, source, None, in_code=True)
        if description is not None:
            self.descriptions[description.name] = self.with_requirements(description)

    def add_registered(self, description: Description) -> None:
        """Add a description registered at run time, unless its name is blocked or taken."""
        name = description.name
        if self.is_blocked(name, description.source):
            return
        known = self.descriptions.get(name)
        if known is not None and known.in_code:
            self.problems.append(
                Problem(
                    "the library itself has a backend with this name",
                    "Register it under another name",
                    name,
                    "name",
                    description.source,
                )
            )
            return
        self.problems += description.problems
        first = len(self.problems)
        description = self.with_requirements(description)
        if known is not None and description.unmet and not known.unmet:
            self.use(known, [description], first, len(self.problems))
            return
        if known is not None:
            self.shadowed[name] = (*self.shadowed.get(name, ()), known.source)
        self.descriptions[name] = description
        self.names.add(name)

    def with_requirements(self, description: Description) -> Description:
        """Choose variants, and mark a backend whose requirements are not met as inactive."""
        if description.varies:
            from .variants import choose_variants  # few backends have variants

            description, problems = choose_variants(description)
            self.problems += problems
        if not description.requires:
            return description
        from .requirements import check_required  # few backends state requirements

        unmet, problems = check_required(description)
        self.problems += problems
        return replace(description, unmet=unmet) if unmet else description

    def add_installed(self, name: str, entry_points: list[Any]) -> None:
        """Read the entry points that share a name until one is usable; report the others."""
        found = [
            (Source(f"{item.name} = {item.value}", metadata=item.dist), item)
            for item in entry_points
        ]
        if self.is_blocked(name, found[0][0]):
            return
        # Sorting reads the metadata of the distributions, so it is done only for several.
        if len(found) > 1:
            found.sort(key=lambda pair: (pair[0].distribution or "", pair[0].entry_point or ""))
        if name in self.mentioned:
            from .namesakes import choose

            found, blocked, problems = choose(name, found, self.environment)
            self.blocked |= blocked
            self.problems += problems
        if name in self.descriptions:
            self.add_shadowed(name, [source for source, _ in found], "the library itself")
            return
        first = len(self.problems)
        inactive: list[Description] = []
        for number, (source, entry_point) in enumerate(found, start=1):
            before = len(self.problems)
            description = self.reader.read(name, entry_point, source)
            if description is not None:
                description = self.with_requirements(description)
                if description.unmet:
                    inactive.append(description)
                    continue
                self.use(description, inactive, first, before)
                if len(found) > 1:
                    from .namesakes import owner_of

                    behind = [each for each, _ in found[number:]]
                    self.add_shadowed(name, behind, owner_of(description))
                return
            if len(self.problems) == before:
                return  # not a fault: this thread is importing it, and will read it again later
        if inactive:
            self.use(inactive[0], inactive[1:], first, len(self.problems))

    def use(
        self, description: Description, inactive: Sequence[Description], first: int, last: int
    ) -> None:
        """Use one of the backends of a name; report which one is used instead of the others.

        Parameters
        ----------
        description : Description
            The backend to use.
        inactive : sequence of Description
            Backends of this name with unmet requirements.
        first, last : int
            The range in `problems` of the problems of this name.
        """
        self.descriptions[description.name] = description
        if first == last and not inactive:
            return
        from .namesakes import name_replacement, why_inactive

        faults = self.problems[first:last]
        variable = self.environment.variable(BLOCK)
        self.problems[first:last] = name_replacement(faults, description, variable)
        self.problems += why_inactive(inactive, faults, description)
        if inactive:
            sources = tuple([each.source for each in inactive])
            self.shadowed[description.name] = (*self.shadowed.get(description.name, ()), *sources)

    def add_shadowed(self, name: str, sources: list[Source], owner: str) -> None:
        """Report backends that are not read, because `owner` has a backend with this name."""
        if sources:
            from .namesakes import why_shadowed

            self.shadowed[name] = (*self.shadowed.get(name, ()), *sources)
            used = self.descriptions[name].source.distribution
            self.problems += [
                why_shadowed(name, source, owner, used, self.environment) for source in sources
            ]

    def is_blocked(self, name: str, source: Source, distribution: str | None = None) -> bool:
        """Whether the environment blocks a name; records the name and a blocked backend."""
        self.names.add(name)
        if self.environment.blocks(name, distribution):
            self.blocked[name] = source
            return True
        return False
