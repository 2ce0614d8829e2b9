"""The entry points of a library's group: found among all distributions, and read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from .._classes import type_identifier
from .._reporting.problems import Problem, Source, in_words

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
    from importlib.metadata import entry_points

    try:
        return list(entry_points(group=group)), []
    except Exception:  # noqa: BLE001  # one malformed file of any distribution is enough
        pass
    # One by one, by the rules of `importlib.metadata`: of distributions with the same name, the
    # first on the path counts.
    found: list[Any] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for distribution in _find_distributions(problems):
        source = Source(metadata=distribution)
        name = (source.distribution or "").lower().replace("_", "-")
        if name and name in seen:
            continue
        seen.add(name)
        try:
            found += [each for each in distribution.entry_points if each.group == group]
        except Exception as error:  # noqa: BLE001  # whatever it raises
            problems.append(
                Problem(
                    f"its file entry_points.txt cannot be read ({in_words(error)})",
                    "Reinstall or uninstall the distribution",
                    source=source,
                )
            )
    return found, problems


def _find_distributions(problems: list[Problem]) -> Iterator[Any]:
    """Yield the distributions of all finders; report finders that fail.

    Items of `sys.path` that are not paths are left out: imports ignore them, but
    `importlib.metadata` fails with them.
    """
    from importlib.metadata import DistributionFinder

    context = DistributionFinder.Context(path=list(filter(_is_path, sys.path)))
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
