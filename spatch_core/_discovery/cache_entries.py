"""Entries of the cache: made from one description each, and restored to it."""

from __future__ import annotations

from types import MappingProxyType

from .._description.description import AutoGeneration, Description, Implementation
from .._description.files import parse_toml
from .._description.parsing import parse_description
from .._type_patterns import TypePattern
from .lazy_functions import LazyFunctions, columns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from .._problems import Source

    # A list with the version of the file, the fields of its description, and the identifiers
    # of its functions; and the JSON of how these are implemented.
    Entry: TypeAlias = tuple[list[Any], bytes]


def version_of(status: os.stat_result) -> list[int]:
    """Return numbers that change with a file.

    The modification time alone is not enough: installers set it, some of them to the same
    value for all files. The time of the last change of the status (``st_ctime``) cannot be
    set.
    """
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def is_entry_of(entry: Entry, status: os.stat_result | None) -> bool:
    """Whether an entry was made from the present version of a file."""
    return status is not None and entry[0][0] == version_of(status)


def make_entry(status: os.stat_result, description: Description) -> Entry:
    """Return the entry of a description: everything except its source."""
    generation = description.auto_generation
    fields = [
        description.name,
        [str(each) for each in description.primary_types],
        [str(each) for each in description.secondary_types],
        description.requires_opt_in,
        description.higher_priority_than,
        description.lower_priority_than,
        None if generation is None else [generation.backend, generation.modules],
    ]
    functions = description.functions
    return [version_of(status), fields, list(functions)], to_json(columns_of(functions))


def restore(
    entry: Entry, source: Source, read: Callable[[], bytes]
) -> tuple[Description, LazyFunctions]:
    """Return the description that an entry was made from, and what its functions are read from.

    Parameters
    ----------
    entry : Entry
        An entry of the cache; perhaps malformed.
    source : Source
        Where the description comes from.
    read : callable
        Returns the content of the backend's file.

    Raises
    ------
    ValueError, TypeError, LookupError, AttributeError
        If it is no valid entry.
    """
    (_, fields, identifiers), functions = entry
    name, primary, secondary, requires_opt_in, higher, lower, generation = fields
    if not (primary and type(name) is str and type(requires_opt_in) is bool):
        raise ValueError("not the fields of a description")

    def parse() -> Mapping[str, Implementation]:
        return parse_description(parse_toml(read()), source, name).functions

    lazy = LazyFunctions(_strings(identifiers), functions, parse)
    description = Description(
        name,
        tuple(map(TypePattern, _strings(primary))),
        tuple(map(TypePattern, _strings(secondary))),
        requires_opt_in,
        _strings(higher),
        _strings(lower),
        MappingProxyType(lazy),
        None if generation is None else _restore_generation(*generation),
        source,
    )
    return description, lazy


def _restore_generation(backend: Any, modules: Any) -> AutoGeneration:
    if type(backend) is not str:
        raise TypeError(f"not a string: {backend!r}")
    return AutoGeneration(backend, _strings(modules))


def _strings(values: Any) -> tuple[str, ...]:
    """Return the items of a list that must hold strings only."""
    if type(values) is not list or not {*map(type, values)} <= {str}:
        raise TypeError(f"not a list of strings: {values!r}")
    return tuple(values)


def to_json(value: object) -> bytes:
    """Return the shortest JSON of a value, which has no line breaks."""
    import json

    return json.dumps(value, separators=(",", ":")).encode()
