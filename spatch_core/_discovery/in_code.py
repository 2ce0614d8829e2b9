"""Descriptions in code: their names, and the functions that are added to them later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from .._reporting.problems import Problem, Source
from .backend_reader import BackendReader
from .catalog import Catalog


def name_of(fields: Any) -> object:
    """Return the name in a description in code; None if reading it fails."""
    try:
        return fields["name"] if isinstance(fields, Mapping) else fields.name
    except Exception:  # noqa: BLE001  # of the object's code; parsing reports it
        return None


def has_new(catalog: Catalog, in_code: Iterable[Any], identifier: str) -> bool:
    """Whether a backend in code may have begun to implement a function.

    Parameters
    ----------
    catalog : Catalog
        The present catalog.
    in_code : iterable of mapping or object
        Descriptions that the library passed itself.
    identifier : str
        The function's identifier.
    """
    for fields in in_code:
        name = name_of(fields)
        known = catalog.descriptions.get(name) if isinstance(name, str) else None
        if known is None or not known.in_code or identifier in known.functions:
            continue
        if identifier in known.absent:
            continue
        try:
            is_mapping = isinstance(fields, Mapping)
            functions: Any = fields.get("functions") if is_mapping else fields.functions
            if functions.get(identifier) is None:
                continue
        except Exception:  # noqa: BLE001  # of the object's code; parsing reports it
            pass
        return True
    return False


def read_again(catalog: Catalog, in_code: Iterable[Any], functions: Collection[str]) -> Catalog:
    """Return the catalog with the functions that backends in code describe now.

    Parameters
    ----------
    catalog : Catalog
        The catalog; it is returned if nothing has changed.
    in_code : iterable of mapping or object
        Descriptions that the library passed itself.
    functions : collection of str
        Identifiers of the library's functions.
    """
    problems: list[Problem] = []
    reader = BackendReader(problems, catalog.environment.variable("BLOCK"), None, functions)
    descriptions = dict(catalog.descriptions)
    is_changed = False
    for fields in reversed([*in_code]):  # of two with the same name, the first is used
        name = name_of(fields)
        known = descriptions.get(name) if isinstance(name, str) else None
        # Blocked backends are not read.
        if known is None or not known.in_code:
            continue
        found = reader.parse(fields, Source(), None, in_code=True)
        if found is not None and found.varies:
            from .variants import choose_variants  # few have variants

            found, more = choose_variants(found)
            problems += more
        if found is not None:
            descriptions[known.name] = replace(
                known, functions=found.functions, every=found.every, absent=found.absent
            )
            before = catalog.descriptions[known.name].functions
            is_changed = is_changed or dict(found.functions) != dict(before)
    new = [each for each in problems if each not in catalog.problems]
    if not (is_changed or new):
        return catalog
    return replace(catalog, descriptions=descriptions, problems=(*catalog.problems, *new))
