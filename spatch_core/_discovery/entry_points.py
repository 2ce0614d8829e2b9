"""The installed distributions, and the entry points of a library's group among them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from .._errors import Problem, Source, in_words
from .._patterns import type_identifier

_FILE_ENDING = ".toml"


def find_entry_points(group: str) -> tuple[list[Any], list[Problem]]:
    """Find the entry points of a group, even if other distributions are broken.

    Parameters
    ----------
    group : str
        The group.

    Returns
    -------
    entry_points : list of importlib.metadata.EntryPoint
        The readable entry points.
    problems : list of Problem
        Distributions whose entry points cannot be read.
    """
    found: list[Any] = []
    problems: list[Problem] = []
    for distribution in installed_distributions(problems=problems):
        try:
            found += [each for each in distribution.entry_points if each.group == group]
        except Exception as error:  # noqa: BLE001  # whatever it raises
            problems.append(
                Problem(
                    f"its file entry_points.txt cannot be read ({in_words(error)})",
                    "Reinstall or uninstall the distribution",
                    source=Source(metadata=distribution),
                )
            )
    return found, problems


def installed_distributions(
    name: str | None = None, problems: list[Problem] | None = None
) -> Iterator[Any]:
    """Yield the installed distributions; of those with the same name, the first on the path.

    `importlib.metadata` also yields what uninstallations leave behind, even first.

    Parameters
    ----------
    name : str, optional
        The name of the distribution that is wanted; by default, all are.
    problems : list of Problem, optional
        Receives the faults of finders.
    """
    seen: set[str] = set()
    for distribution in _find_distributions(name, [] if problems is None else problems):
        if is_leftover(distribution):
            continue
        stem, is_metadata, _ = _folder_name(distribution).rpartition(".")
        # From the folder's name, because the metadata would have to be parsed.
        found = (
            stem.partition("-")[0] if is_metadata else Source(metadata=distribution).distribution
        )
        key = re.sub(r"[-_.]+", "-", found or "").lower()
        if key not in seen:
            seen |= {key} - {""}
            yield distribution


def leftovers() -> list[Any]:
    """Return the distributions that uninstallations have left behind."""
    return list(filter(is_leftover, _find_distributions(None, [])))


def is_leftover(distribution: Any) -> bool:
    """Whether a distribution is only what an uninstallation has left behind.

    Installers write METADATA before they have finished, and pip renames what it removes.
    """
    name = _folder_name(distribution)
    if name.startswith("~"):
        return True
    return name.endswith(".dist-info") and not (distribution._path / "METADATA").exists()


def _folder_name(distribution: Any) -> str:
    """Return the name of the folder of a distribution's metadata; empty if it has none."""
    # No public attribute has the folder.
    name: str = getattr(getattr(distribution, "_path", None), "name", "")
    return name if name.endswith((".dist-info", ".egg-info")) else ""


def _find_distributions(name: str | None, problems: list[Problem]) -> Iterator[Any]:
    """Yield the distributions of all finders; report finders that fail.

    Items of `sys.path` that are not paths are left out: imports ignore them, but
    `importlib.metadata` fails with them.
    """
    from importlib.metadata import DistributionFinder

    context = DistributionFinder.Context(name=name, path=list(filter(_is_path, sys.path)))
    for finder in sys.meta_path:
        try:
            find = getattr(finder, "find_distributions", None)
            found = [] if find is None else list(find(context))
        except Exception as error:  # noqa: BLE001  # whatever it raises
            kind = finder if isinstance(finder, type) else type(finder)
            problems.append(
                Problem(
                    f"{type_identifier(kind)} in sys.meta_path fails to find distributions "
                    f"({in_words(error)})",
                    "Repair or uninstall the package that adds it",
                )
            )
        else:
            yield from found


def _is_path(folder: object) -> bool:
    """Whether an item of `sys.path` can be searched; it need not exist."""
    try:
        os.stat(folder)  # type: ignore[arg-type]  # it may be anything
    except OSError:
        pass
    except Exception:  # noqa: BLE001  # whatever it raises
        return False
    return isinstance(folder, (str, os.PathLike))


def entry_point_target(entry_point: Any) -> tuple[str, str, bool]:
    """Return the module and the attribute or file of an entry point, and whether it is a file.

    >>> from importlib.metadata import EntryPoint
    >>> entry_point_target(EntryPoint("gpu", "pkg.sub : backend.toml [extra]", "lib.backends"))
    ('pkg.sub', 'backend.toml', True)
    """
    # The specification of entry points allows spaces and extras.
    value = str(entry_point.value).partition("[")[0]
    module, _, attribute = (part.strip() for part in value.partition(":"))
    return module, attribute, attribute.endswith(_FILE_ENDING)
