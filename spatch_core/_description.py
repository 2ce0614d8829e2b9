"""Descriptions of backends: the tables of their fields, their values, and the files they are in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ._errors import Finding, Source, reduced
from ._patterns import ABSTRACT, TypePattern

# The fields: validator, JSON Schema and reference page read these tables. Each field has its kind,
# its default and its meaning. A field is added in its table and in the class that holds it, below.
# `_parsing` checks each kind, and the schema defines it.

REQUIRED = "required"
"""The default of a field that must be given."""
TABLE = "table"
"""The kind of a field that is a table."""

FIELD_TABLE = {
    "name": (
        "backend name",
        REQUIRED,
        "equals the entry point's name; letters, digits, `_`, `.`, `-`; not `default`",
    ),
    "primary_types": (
        "list of type patterns",
        REQUIRED,
        "types that it works with and returns; at least one",
    ),
    "secondary_types": ("list of type patterns", "`[]`", "types that it accepts but converts"),
    "requires_opt_in": ("boolean", "`false`", "whether it is inactive until it is prioritized"),
    "higher_priority_than": (
        "backend name or list of them",
        "`[]`",
        "backends that it goes before; `default` is the library",
    ),
    "lower_priority_than": (
        "backend name or list of them",
        "`[]`",
        "backends that it goes after",
    ),
    "to_default": (
        "identifier",
        "none",
        (
            "converts one object of a primary type to one of the library's types, for functions "
            "that it does not implement; needs `from_default`; returns None if it cannot"
        ),
    ),
    "from_default": ("identifier", "none", "converts one object of the library's types back"),
    "copy_into": (
        "identifier",
        "none",
        (
            "`copy_into(original, converted)` copies the content of a converted argument, into "
            "which the library has written, back into the original"
        ),
    ),
    "requires": (
        "list of requirements",
        "`[]`",
        "distributions without which it is inactive, such as `cupy-cuda12x` or `torch>=2.1`",
    ),
    "url": (
        "web address",
        "empty",
        "the backend's documentation, linked from the library's: `https://` or `http://`",
    ),
    "functions": ("table", "`{}`", "the functions that it implements, and the tables below"),
    "attributes": (
        "table",
        "`{}`",
        "identifiers of its values for attributes of the library's modules",
    ),
}
FUNCTION_TABLE = {
    "function": ("identifier", REQUIRED, "the implementation"),
    "should_run": (
        "identifier",
        "none",
        (
            "decides on a call, given a `DispatchContext` and the arguments: exactly `True` runs "
            "the implementation, `IF_NEEDED` runs it if no other backend does, anything else "
            "defers; a string is the reason"
        ),
    ),
    "uses_context": (
        "boolean, 0 or 1",
        "`false`",
        "whether the implementation takes a `DispatchContext` as its first argument",
    ),
    "additional_docs": (
        "string",
        "empty",
        "shown in the section *Backends* of the function's docstring",
    ),
    "variants": (
        "list of variants",
        "`[]`",
        (
            'implementations by requirement, such as `{requires = "torch>=1.12", function = '
            '"m:f"}`: the first one whose requirement is met replaces `function`'
        ),
    ),
}
VARIANT_TABLE = {
    "requires": ("requirement", REQUIRED, "a distribution, with versions: `torch>=1.12`"),
    "function": ("identifier", REQUIRED, "the implementation that is used if it is met"),
}
AUTO_GENERATION_TABLE = {
    "backend": ("identifier", REQUIRED, "the `BackendImplementation`"),
    "modules": (
        "module or list of modules",
        "`[]`",
        "imported first, with all their submodules, so that every function is registered",
    ),
    "variants_of": (
        "string",
        "empty",
        (
            "a distribution: functions next to an implementation `f` with names such as "
            "`f_v_1p12_and_above` become its variants"
        ),
    ),
}
FIELDS = tuple(FIELD_TABLE)
FUNCTION_FIELDS = tuple(FUNCTION_TABLE)

FUNCTIONS = "functions"
ATTRIBUTES = "attributes"
VARIANTS = "variants"
DEFAULTS = "defaults"
AUTO_GENERATION = "auto-generation"
EVERY = "*"
NO_FUNCTIONS = (DEFAULTS, AUTO_GENERATION, EVERY)
"""Tables below ``functions`` that do not describe a single function."""
NEEDED = (
    ("to_default", "from_default"),
    ("from_default", "to_default"),
    ("copy_into", "to_default"),
)
"""Pairs of a conversion's field and another field that it needs."""
OPT_IN = "requires_opt_in"
"""It keeps a backend from running, and must not be ignored in the wrong place."""

_PLACES: tuple[tuple[Mapping[Any, tuple[str, str, str]], str], ...] = (
    (FIELD_TABLE, "above the first table"),
    (FUNCTION_TABLE, f"in the table of a function, or in [{FUNCTIONS}.{DEFAULTS}]"),
    (AUTO_GENERATION_TABLE, f"in [{FUNCTIONS}.{AUTO_GENERATION}]"),
    (dict.fromkeys(NO_FUNCTIONS, (TABLE, "", "")), f"below {FUNCTIONS}"),
)
ALL_FIELDS: dict[object, tuple[str, str]] = {
    field: (kind, place) for table, place in _PLACES for field, (kind, _, _) in table.items()
}
"""The kind of each field of all tables, and where it stands in a file."""


# The values that the fields are read into


class Conversions(NamedTuple):
    """The identifiers of a backend's conversions."""

    to_default: str
    from_default: str
    copy_into: str | None


class Variant(NamedTuple):
    """An implementation that replaces the usual one if a requirement is met."""

    requires: str
    function: str


class Implementation(NamedTuple):
    """How a backend implements one function of the library.

    It has the fields that the table of a function has in a file. `function` is that of the variant
    that replaces it here, if any, which is `variant`; `should_run` is None if it always runs.
    """

    function: str
    should_run: str | None = None
    uses_context: bool = False
    additional_docs: str = ""
    variants: tuple[Variant, ...] = ()
    variant: Variant | None = None


class AutoGeneration(NamedTuple):
    """Where the update tool finds the implementations to describe."""

    backend: str
    modules: tuple[str, ...] = ()
    variants_of: str = ""


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Description(NamedTuple):
    """A backend, as its author describes it.

    It has the fields that a description has in a file, with their default values, and:

    Parameters
    ----------
    every : Implementation or None
        The implementation of every function without an entry of its own.
    auto_generation : AutoGeneration or None
        For the update tool.
    source : Source
        Where the description comes from.
    in_code : bool
        Whether the library itself passed it.
    problems : tuple of Finding
        Unknown keys, which were ignored.
    is_asked : bool
        Whether its functions cannot be listed, so that it is asked for each one.
    unmet : str
        Why a requirement is not met here; empty if all are.
    absent : mapping of str to str
        Why a function is not implemented here: the requirements of all its variants are unmet.
    """

    name: str
    primary_types: tuple[TypePattern, ...]
    secondary_types: tuple[TypePattern, ...] = ()
    requires_opt_in: bool = False
    higher_priority_than: tuple[str, ...] = ()
    lower_priority_than: tuple[str, ...] = ()
    to_default: str | None = None
    from_default: str | None = None
    copy_into: str | None = None
    requires: tuple[str, ...] = ()
    url: str = ""
    functions: Mapping[str, Implementation] = _NOTHING
    attributes: Mapping[str, str] = _NOTHING
    every: Implementation | None = None
    auto_generation: AutoGeneration | None = None
    source: Source = Source()
    in_code: bool = False
    problems: tuple[Finding, ...] = ()
    is_asked: bool = False
    unmet: str = ""
    absent: Mapping[str, str] = _NOTHING

    def __hash__(self) -> int:
        return hash((self.name, self.source))  # mappings cannot be hashed

    def __reduce__(self) -> Any:
        return reduced(self)

    def implementation(self, identifier: str) -> Implementation | None:
        """Return the implementation of a function of the library, or None."""
        found = self.functions.get(identifier)
        return found if found is not None or identifier in self.absent else self.every

    @property
    def known_types(self) -> tuple[TypePattern, ...]:
        """The primary and the secondary types."""
        return (*self.primary_types, *self.secondary_types)

    @property
    def conversions(self) -> Conversions | None:
        """The conversions; None if the backend has none."""
        if self.to_default is None or self.from_default is None:
            return None
        return Conversions(self.to_default, self.from_default, self.copy_into)

    @property
    def is_abstract(self) -> bool:
        """Whether any primary type is an abstract base class."""
        return any(pattern.prefix == ABSTRACT for pattern in self.primary_types)

    @property
    def varies(self) -> bool:
        """Whether a function has variants."""
        every = () if self.every is None else (self.every,)
        return any(each.variants for each in (*self.functions.values(), *every))


class GivenCallable(str):
    """The identifier of a callable that a description holds; it is never imported.

    Two are equal if their callables are the same object: all lambdas of a module have one
    identifier. The callable, `given`, need not be importable.
    """

    __slots__ = ("given",)

    given: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        if type(other) is GivenCallable:
            return self.given is other.given
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> Any:
        return str, (str(self),)  # without the callable, which may not support pickling


# Files


def find_file(module: str, name: str) -> tuple[str, bytes | None]:
    """Read a file next to the modules of the package that an import would find; imports nothing.

    Returns its path and its content; without a file, the folders that were searched and None.
    Raises `OSError` if the file cannot be read; finders and loaders may raise anything.
    """
    names = module.split(".")
    folders: list[str] | None = None
    # The innermost package with a loader that reads resources, and the path from there: editable
    # installations may have no folders, and those of a zip file do not exist.
    package = ""
    loader: Any = None
    inside: list[str] = []
    for count, part in enumerate(names, 1):
        found = _locate(".".join(names[:count]), folders)
        if found is None and folders is None:
            return "", None
        inside.append(part)
        if found is None:  # a folder of data, or in a package that extends its path when imported
            tops: list[Any] = sys.path  # it may hold anything
            places = [os.path.join(each, *names[:count]) for each in tops if isinstance(each, str)]
            folders = [os.path.join(each, part) for each in folders or ()]
            folders += [each for each in places if os.path.isdir(each)]
            continue
        path, its_loader, file = found
        if path is None:  # a module
            folders = [os.path.dirname(file)] if file else folders
            inside.pop()
            break
        folders = [*path]
        if hasattr(its_loader, "get_resource_reader"):
            package, loader, inside = ".".join(names[:count]), its_loader, []
    folders = [*dict.fromkeys(folders or ())]
    for file in [os.path.join(folder, name) for folder in folders]:
        if os.path.isfile(file):
            with open(file, "rb") as stream:
                return file, stream.read()
    reader = loader and loader.get_resource_reader(package)
    if hasattr(reader, "files"):
        resource = reader.files()
        for part in (*inside, name):
            resource = resource.joinpath(part)
        if resource.is_file():
            is_path = isinstance(resource, os.PathLike)
            file = os.fspath(resource) if is_path else os.path.join(*folders[:1], name)
            return file, resource.read_bytes()
    return ", ".join(folders), None


def _locate(name: str, folders: list[str] | None) -> tuple[Any, Any, Any] | None:
    """Return the path of a package, its loader and the file of a module; None if there is none."""
    module = sys.modules.get(name)
    if module is not None:
        # The dictionary itself, because any other access imports a lazy module.
        known = object.__getattribute__(module, "__dict__")
        loader = getattr(known.get("__spec__"), "loader", None)
        return known.get("__path__"), loader, known.get("__file__")
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        try:
            spec = find and find(name, folders)
        except KeyError:
            # `PathFinder` raises it for a namespace package inside of one that is not imported. It
            # has asked the finders of the folders, among them those of editable installations.
            finders = [sys.path_importer_cache.get(each) for each in folders or ()]
            specs = [each.find_spec(name) for each in finders if each is not None]
            places = [at for each in specs if each for at in each.submodule_search_locations or ()]
            if places:
                return places, None, None
            continue
        if spec is not None:
            return spec.submodule_search_locations, spec.loader, spec.origin
    return None


def parse_toml(content: bytes) -> dict[str, Any]:
    """Return the fields of a TOML file.

    Raises `ValueError` or `RecursionError` if it is not TOML, not UTF-8 or nested too deeply.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    fields: dict[str, Any] = tomllib.loads(content.decode())
    return fields
