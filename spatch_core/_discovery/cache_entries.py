"""Entries of the cache: each is made from one description, which is restored from it."""

from __future__ import annotations

from types import MappingProxyType

from .._description.description import AutoGeneration, Description, Implementation
from .._description.fields import (
    ATTRIBUTES,
    CACHED_FUNCTION_FIELDS,
    FIELD_TABLE,
    FIELDS,
    FUNCTIONS,
    REQUIRED,
)
from .._description.files import parse_toml
from .._description.parsing import parse_description
from .._type_patterns import TypePattern
from .lazy_functions import LazyFunctions, columns_of, implementation_of, kinds_in_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from .._reporting.problems import Source

    # A list of the file's version, the description's fields and the identifiers of its functions;
    # and the implementations of the functions as JSON.
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
    fields: list[Any] = []
    for key in FIELDS:
        value = getattr(description, key)
        if key == FUNCTIONS:  # these are stored apart; here are the other tables below `functions`
            generation, every = description.auto_generation, description.every
            value = [
                None
                if generation is None
                else [generation.backend, generation.modules, generation.variants_of],
                None
                if every is None
                else [getattr(every, each) for each in CACHED_FUNCTION_FIELDS],
            ]
        elif key == ATTRIBUTES:
            value = [list(value), list(value.values())]
        elif type(value) is tuple:
            value = [str(each) for each in value]
        fields.append(value)
    functions = description.functions
    return [version_of(status), fields, list(functions)], to_json(columns_of(functions))


def restore(
    entry: Entry, source: Source, read: Callable[[], bytes]
) -> tuple[Description, LazyFunctions]:
    """Return the description that an entry was made from, and its lazily read functions.

    Parameters
    ----------
    entry : Entry
        An entry of the cache, possibly malformed.
    source : Source
        Where the description comes from.
    read : callable
        Returns the content of the backend's file.

    Raises
    ------
    ValueError, TypeError, LookupError, AttributeError
        If the entry is malformed.
    """
    (_, fields, names_of_functions), functions = entry
    values: dict[str, Any] = {}
    generation: Any = None
    every: Any = None
    for (key, field), value in zip(FIELD_TABLE.items(), fields, strict=True):
        if key == FUNCTIONS:
            generation, every = value
            generation = None if generation is None else _restore_generation(*generation)
            every = None if every is None else implementation_of(every)
        elif key == ATTRIBUTES:
            names, identifiers = map(_strings, value)
            values[key] = MappingProxyType(dict(zip(names, identifiers, strict=True)))
        else:
            values[key] = _restore_field(value, *field)
    name = values["name"]

    def parse() -> Mapping[str, Implementation]:
        return parse_description(parse_toml(read()), source, name).functions

    lazy = LazyFunctions(_strings(names_of_functions), functions, parse)
    description = Description(
        **values,
        functions=MappingProxyType(lazy),
        every=every,
        auto_generation=generation,
        source=source,
    )
    return description, lazy


def _restore_field(value: Any, kind: str, default: str, _meaning: str) -> Any:
    """Return the value of a field, from its form in an entry."""
    if kind.startswith("list"):
        if default == REQUIRED and not value:
            raise ValueError("a required list is empty")
        texts = _strings(value)
        return tuple(map(TypePattern, texts)) if kind == "list of type patterns" else texts
    if type(value) not in kinds_in_json(kind, default):
        raise TypeError(f"a {kind} cannot be {value!r}")
    return value


def _restore_generation(backend: Any, modules: Any, variants_of: Any) -> AutoGeneration:
    if type(backend) is not str or type(variants_of) is not str:
        raise TypeError(f"not strings: {backend!r}, {variants_of!r}")
    return AutoGeneration(backend, _strings(modules), variants_of)


def _strings(values: Any) -> tuple[str, ...]:
    """Return the items of a list that must hold only strings."""
    if type(values) is not list or not {*map(type, values)} <= {str}:
        raise TypeError(f"not a list of strings: {values!r}")
    return tuple(values)


def to_json(value: object) -> bytes:
    """Return the shortest JSON of a value, which has no line breaks."""
    import json

    return json.dumps(value, separators=(",", ":")).encode()
