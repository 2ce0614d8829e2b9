"""The catalog of a library's backends: the usable ones in order, and the faults of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._description.description import Description
from .._identifiers import DEFAULT, nearest, shown
from .._order import Order
from .._reporting.problems import Problem, Source
from .entry_points import find_entry_points
from .environment import Environment

if TYPE_CHECKING:
    from .._reporting.warning_categories import SpatchCoreWarning

CYCLE = "the declared priorities form a cycle"
NO_PARSER = "TOML files cannot be read here"
REQUIRES = "requires"
"""The key of problems with unmet requirements: the backend is inactive, but not faulty."""
_SHARED = (CYCLE, NO_PARSER)
"""The starts of messages that are the same for several backends."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The backends of a library at the time of discovery.

    Each name, installed or in code, is in `descriptions` if its backend is usable, in
    `blocked` if it is blocked, and otherwise in one of the `problems`. Only an incomplete catalog
    may lack names.

    Parameters
    ----------
    environment : Environment
        The variables in force.
    descriptions : mapping of str to Description
        In the order of priority; the library itself is ``"default"``.
    order : Order
        The same order, with its reasons.
    base_order : tuple of str
        The same names before any edge moves them.
    problems : tuple of Problem
        All backends and values that were skipped or ignored.
    blocked : mapping of str to Source
        Backends that the environment blocks; neither their files nor their modules were read.
    default_name : str
        The name of the library itself that users see.
    is_complete : bool
        False if a backend could not be read because this thread is importing a module that it
        needs. It must be read again after that.
    group : str or None
        The entry point group, in which backends may be installed later.
    """

    environment: Environment
    descriptions: Mapping[str, Description]
    order: Order
    base_order: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    blocked: Mapping[str, Source] = field(default_factory=dict)
    is_complete: bool = True
    group: str | None = None
    default_name: str = DEFAULT

    @property
    def prioritized(self) -> tuple[str, ...]:
        """The usable backends that the environment prioritizes, the foremost first."""
        return tuple(
            name
            for name in self.environment.prioritize
            if name in self.descriptions and not self.descriptions[name].unmet
        )

    @property
    def current(self) -> str | None:
        """The usable backend that the environment makes the current one, or None."""
        name = self.environment.backend
        if name == self.default_name:
            return DEFAULT
        if name is None or name not in self.descriptions or self.descriptions[name].unmet:
            return None
        return name

    def why_unusable(self, name: str) -> str:
        """Return why an installed backend is not in the catalog; empty if it is not installed."""
        if name in self.blocked:
            return f"it is blocked by the environment variable {self.environment.variable('BLOCK')}"
        if name in self.descriptions and self.descriptions[name].unmet:
            return self.descriptions[name].unmet
        faults = [each for each in self.problems if each.backend == name and each.skips]
        return str(faults[0]) if faults else self._installed_since(name)

    def _installed_since(self, name: str) -> str:
        """Return a message if a backend was installed after the discovery, else an empty text."""
        if self.group is None or name in self.descriptions or not self.is_complete:
            return ""
        from importlib import invalidate_caches

        invalidate_caches()
        for entry_point in find_entry_points(self.group)[0]:
            if entry_point.name == name and entry_point.dist is not None:
                found = entry_point.dist
                return (
                    f"distribution {found.name} {found.version} was installed after the backends "
                    "were discovered; call backend_opts.reload()"
                )
        return ""

    def check_backend(self, name: object, may_be_unmet: bool = False) -> str:
        """Return the name of a usable backend; the library's own name becomes ``"default"``.

        With `may_be_unmet`, a backend with unmet requirements counts as usable.

        Raises
        ------
        UnknownBackendError
            If there is no such backend.
        """
        if name == self.default_name:
            return DEFAULT
        found = self.descriptions.get(name)  # type: ignore[call-overload]  # any object
        if found is None or (found.unmet and not may_be_unmet):
            known = tuple(shown(each, self.default_name) for each in self.descriptions)
            reason = self.why_unusable(name) if isinstance(name, str) else ""
            if isinstance(name, str) and "," in name:
                parts = [part.strip() for part in name.split(",")]
                reason = f"a name has no comma; give several names in a list: {parts!r}"
            from .._reporting.unknown_names import UnknownBackendError

            raise UnknownBackendError(name, known, nearest(name, known), reason)
        return str(name)

    def warnings(self) -> Iterator[SpatchCoreWarning]:
        """Yield one warning for each backend or variable that has problems."""
        if not self.problems:
            return
        from .._reporting.warning_categories import (
            BackendSkippedWarning,
            EnvironmentVariableWarning,
        )

        # `str(source)` parses the distribution's metadata, so sorting must not call it repeatedly.
        about: dict[tuple[str, str], list[Problem]] = {}
        for each in self.problems:
            if each.backend is not None and each.warns:
                about.setdefault((str(each.source), each.backend), []).append(each)
        # Backends share the messages about cycles and about a missing TOML parser: warn once.
        seen: set[str] = set()
        for _, group in sorted(about.items()):
            faults = [problem for problem in group if problem.message not in seen]
            seen.update(each.message for each in faults if each.message.startswith(_SHARED))
            if faults:
                yield BackendSkippedWarning(faults)
        for problem in self.problems:
            if problem.backend is None and problem.key is None:
                yield BackendSkippedWarning([problem])
            elif problem.backend is None:
                yield EnvironmentVariableWarning(problem)
