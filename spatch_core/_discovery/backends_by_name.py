"""Collects the backends by name while they are read; of several with one name, one is used.

Of backends that share a name, this one is used, and one problem names all of them:

1. A description in code goes before entry points; of several in code, the first is used.
2. Of entry points, the first usable one is used, by name of the distribution, then by
   ``"name = value"``.
3. Entry points after the first usable one are not read.
4. A backend with unmet requirements is used only if no other is usable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from .._description import Description
from .._errors import Problem, Source, replace
from .._patterns import DEFAULT
from .backend_reader import BackendReader
from .environment import BLOCK, Environment


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
        # All names that are installed or in code, usable or not.
        self.names: set[str] = {DEFAULT}

    def add_in_code(self, fields: Any) -> None:
        """Read a description in code, unless its name is blocked or taken."""
        source = Source()
        name = name_of(fields)
        if isinstance(name, str) and self.is_blocked(name, source):
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
        description = self.with_requirements(description)
        if known is not None and description.unmet and not known.unmet:
            self.report_shared(known, [(known.source, ""), (description.source, description.unmet)])
        else:
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
        """Read the entry points that share a name until one is usable."""
        found = [
            (Source(f"{item.name} = {item.value}", metadata=item.dist), item)
            for item in entry_points
        ]
        if self.is_blocked(name, found[0][0]):
            return
        # Sorting reads the metadata of the distributions, so it is done only for several.
        if len(found) > 1:
            found.sort(key=lambda pair: (pair[0].distribution or "", pair[0].entry_point or ""))
        used = self.descriptions.get(name)  # in code
        offers: list[tuple[Source, str]] = []
        for source, entry_point in found:
            offers.append((source, ""))
            if used is not None and (used.in_code or not used.unmet):
                continue  # it is not read
            before = len(self.problems)
            description = self.reader.read(name, entry_point, source)
            if description is not None:
                description = self.with_requirements(description)
                offers[-1] = source, description.unmet
                if used is None or not description.unmet:
                    used = description
            elif len(self.problems) == before:
                return  # not a fault: this thread is importing it, and will read it again later
        if used is None:
            return
        self.descriptions[name] = used
        if len(found) > 1 or used.in_code:
            self.report_shared(used, offers)

    def report_shared(self, used: Description, offers: Sequence[tuple[Source, str]]) -> None:
        """Report backends of one name, each with the reason why it is inactive, or none."""
        self.problems.append(
            Problem(
                f"this name is offered by {' and by '.join(_place(*each) for each in offers)}; the "
                f"backend of {used.source.distribution or 'the library itself'} is used",
                "Uninstall the others, or rename their entry points",
                used.name,
                source=used.source,
                skips=False,
            )
        )

    def is_blocked(self, name: str, source: Source) -> bool:
        """Whether the environment blocks a name; records the name and a blocked backend."""
        self.names.add(name)
        if self.environment.blocks(name):
            self.blocked[name] = source
            return True
        return False


def _place(source: Source, unmet: str) -> str:
    """Return the distribution and the folder of a backend, and why it is inactive, in words."""
    place = source.distribution or str(source)
    if source.metadata is not None:
        with suppress(Exception):  # of a third party's finder, which has no folders
            place = f"{place} in {source.metadata.locate_file('')}"
    return f"{place} (inactive: {unmet})" if unmet else place


def name_of(fields: Any) -> object:
    """Return the name in a description in code; None if reading it fails."""
    try:
        return fields["name"] if isinstance(fields, Mapping) else fields.name
    except Exception:  # noqa: BLE001  # of the object's code; parsing reports it
        return None
