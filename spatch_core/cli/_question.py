"""A question to the core: what would run for these types, under these options and variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._arguments import GivenType
from ._libraries import foreign_code

if TYPE_CHECKING:
    from .._resolution.explanation import Explanation
    from ..backend_system import BackendSystem


@dataclass(frozen=True, slots=True)
class Options:
    """What ``backend_opts`` is given.

    Parameters
    ----------
    prioritize, disable : tuple of str
        Names of backends.
    type : GivenType or None
        Counts as if it had been passed.
    """

    prioritize: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    type: GivenType | None = None

    def __str__(self) -> str:
        """Return it as people write it; empty for no options."""
        given = [
            f"{key}={names[0]!r}" if len(names) == 1 else f"{key}={list(names)!r}"
            for key, names in (("prioritize", self.prioritize), ("disable", self.disable))
            if names
        ]
        if self.type is not None:
            given.append(f"type={self.type.identifier.replace(':', '.')}")
        return f"backend_opts({', '.join(given)})" if given else ""


@dataclass(frozen=True, slots=True)
class Question:
    """One call of a function with arguments of these types, about which to ask.

    Parameters
    ----------
    system : BackendSystem
        The library's.
    function : str
        The function's identifier.
    types : tuple of GivenType
        Types of the dispatch arguments.
    options : Options
        In force around the call.
    """

    system: BackendSystem
    function: str
    types: tuple[GivenType, ...]
    options: Options = Options()

    def ask(self, variables: Mapping[str, str] | None = None) -> Explanation:
        """Ask the core.

        Parameters
        ----------
        variables : mapping of str to str, optional
            Environment variables in force, besides those that are.

        Raises
        ------
        ValueError, TypeError
            If an option names what there is not.
        """
        options = self.options
        assumed = None if options.type is None else options.type.type
        types = [each.type for each in self.types]
        with (
            environment(self.system, variables or {}),
            foreign_code(self.system),
            self.system.backend_opts(options.prioritize, options.disable, assumed),
        ):
            return self.system.explain_types(self.function, types)


@contextmanager
def environment(system: BackendSystem, variables: Mapping[str, str]) -> Iterator[None]:
    """Let a library see other environment variables, as if the process had started with them.

    Parameters
    ----------
    system : BackendSystem
        It discovers its backends anew, and once more at the end.
    variables : mapping of str to str
        Those that differ.
    """
    if not variables:
        yield
        return
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        with foreign_code(system):
            system.reload()
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        with foreign_code(system):
            system.reload()
