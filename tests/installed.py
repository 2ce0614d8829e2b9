"""Backends that are installed for the length of a block, without files: in-memory distributions.

Tests of many small backends use them; `spatch_core.testing.write_distribution` writes real ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import Distribution, DistributionFinder
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

MODULE = "descriptions_of_installed_backends"
"""The module that entry points name; its attributes are the descriptions."""


class InMemoryDistribution(Distribution):
    """A distribution of one entry point."""

    def __init__(self, number: int, group: str, name: str, value: str) -> None:
        # Names of distributions ignore upper case, those of backends do not.
        self._files = {
            "METADATA": f"Metadata-Version: 2.1\nName: dist-{number}\nVersion: 1.0\n",
            "entry_points.txt": f"[{group}]\n{name} = {value}\n",
        }

    def read_text(self, filename: str) -> str | None:
        return self._files.get(filename)

    def locate_file(self, path: str | PathLike[str]) -> Any:
        return Path(path)


class Finder(DistributionFinder):
    """Finds these distributions, besides those on the path."""

    def __init__(self, found: list[Distribution]) -> None:
        self._found = found

    def find_spec(self, *_: object) -> None:
        """Leave all modules to other finders."""

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterable[Distribution]:
        return self._found if context is None or context.name is None else []


@contextmanager
def installed(group: str, descriptions: Mapping[str, object]) -> Iterator[None]:
    """Install a backend for each description, by the names of their entry points.

    Backends are discovered when they are first needed: do that in the block.
    """
    module = ModuleType(MODULE)
    found: list[Distribution] = []
    for number, (name, description) in enumerate(descriptions.items()):
        vars(module)[f"backend_{number}"] = description
        value = f"{MODULE}:backend_{number}"
        found.append(InMemoryDistribution(number, group, name, value))
    finder = Finder(found)
    sys.modules[MODULE] = module
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        del sys.modules[MODULE]
