"""Distributions that offer backends with the same name: the choice, and problems of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from .._description.description import Description
from .._reporting.problems import Problem, Source
from .catalog import REQUIRES
from .distribution_names import distribution_key, of_distribution
from .environment import BLOCK, PRIORITIZE, Environment

Found = list[tuple[Source, Any]]
"""Entry points with the same name, each with its source."""


def choose(
    name: str, found: Found, environment: Environment
) -> tuple[Found, dict[str, Source], list[Problem]]:
    """Apply the environment's choice among the distributions that offer a name.

    Parameters
    ----------
    name : str
        A name that the environment mentions together with distributions.
    found : list of (Source, importlib.metadata.EntryPoint)
        All entry points with this name, in order.
    environment : Environment
        The library's variables.

    Returns
    -------
    allowed : list of (Source, importlib.metadata.EntryPoint)
        The entry points that are not blocked, the chosen one first.
    blocked : dict of str to Source
        The blocked ones, by ``"name@distribution"``.
    problems : list of Problem
        One for each mentioned distribution that offers no backend with this name.
    """
    keys = {id(source): distribution_key(source.distribution) for source, _ in found}
    offers = ", ".join(of_distribution(name, key) for key in keys.values() if key)
    problems = [
        Problem(
            f"no distribution {distribution!r} offers a backend named {name!r}; "
            f"{name}@{distribution} is ignored",
            f"Correct it; installed are: {offers or 'none'}",
            key=variable,
        )
        for distribution, variable in environment.mentioned[name].items()
        if distribution not in keys.values()
    ]
    blocked = {
        of_distribution(name, keys[id(source)]): source
        for source, _ in found
        if environment.blocks(name, keys[id(source)])
    }
    allowed = [pair for pair in found if not environment.blocks(name, keys[id(pair[0])])]
    chosen = dict(environment.choices).get(name)
    return sorted(allowed, key=lambda pair: keys[id(pair[0])] != chosen), blocked, problems


def owner_of(description: Description) -> str:
    """Return the owner of a backend, in words."""
    owner = description.source.distribution
    return f"distribution {owner}" if owner else str(description.source)


def name_replacement(
    faults: Iterable[Problem], used: Description, variable: str
) -> Iterator[Problem]:
    """Yield faults; the first one of each broken backend says whose backend is used instead.

    Parameters
    ----------
    faults : iterable of Problem
        The faults of all backends with one name, perhaps also of the one that is used.
    used : Description
        The backend that is used instead.
    variable : str
        The environment variable that blocks backends, which remedies may name.
    """
    told: set[int] = set()
    for fault in faults:
        if fault.source is used.source:
            yield fault
            continue
        message, remedy = fault.message, fault.remedy
        source = fault.source or Source()
        if id(source.metadata) not in told:
            told.add(id(source.metadata))
            message += f"; the backend of {owner_of(used)} is used instead"
        if source.distribution:
            # The name alone would also block the backend that is used.
            block = f"{variable}={fault.backend}"
            remedy = remedy.replace(block, block + of_distribution("", source.distribution))
        yield replace(fault, message=message, remedy=remedy)


def why_inactive(
    inactive: Iterable[Description], faults: Iterable[Problem], used: Description
) -> list[Problem]:
    """Return the problems of backends that are not used because of an unmet requirement.

    Parameters
    ----------
    inactive : iterable of Description
        These backends.
    faults : iterable of Problem
        The known faults; a backend with a malformed requirement is in them already.
    used : Description
        The backend that is used instead.
    """
    told = [each.source for each in faults if each.key == REQUIRES]
    return [
        Problem(
            f"{each.unmet}; the backend of {owner_of(used)} is used instead",
            "Install what it requires, or uninstall the backend",
            each.name,
            REQUIRES,
            each.source,
        )
        for each in inactive
        if all(each.source is not source for source in told)
    ]


def why_shadowed(
    name: str, source: Source, owner: str, used: str | None, environment: Environment
) -> Problem:
    """Return the problem of a backend that is not read, because its name is taken.

    Parameters
    ----------
    name : str
        The name.
    source : Source
        The source of the backend that is not read.
    owner : str
        The owner of the backend that is used, in words.
    used : str or None
        The distribution of the backend that is used, if it has one.
    environment : Environment
        The library's variables.
    """
    remedy = "Uninstall one of the two, or rename its entry point"
    if used and source.distribution:
        block, prioritize = map(environment.variable, (BLOCK, PRIORITIZE))
        this, other = (of_distribution(name, each) for each in (source.distribution, used))
        remedy = (
            f"Uninstall one of the two, or set {block}={this} to leave it out; "
            f"{block}={other} or {prioritize}={this} chooses it"
        )
    message = f"{owner} offers a backend of the same name, which is used instead"
    return Problem(message, remedy, name, source=source)
