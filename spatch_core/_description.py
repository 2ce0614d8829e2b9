"""Descriptions of backends: the table of their fields, and the validator.

A mapping or an object comes in; an immutable, valid `Description` goes out, or an error with every
fault. `parse_description` is the only validator; discovery and the tools use it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from ._errors import (
    DescriptionError,
    IdentifierError,
    Problem,
    Published,
    Source,
    nearest,
    shortened,
)
from ._patterns import (
    ABSTRACT,
    DEFAULT,
    TypePattern,
    identifier_like,
    is_backend_name,
    split_identifier,
)

REQUIRED = "required"
"""The default of a field that must be given."""

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
        "list of backend names",
        "`[]`",
        "backends that it goes before; `default` is the library",
    ),
    "lower_priority_than": ("list of backend names", "`[]`", "backends that it goes after"),
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
"""The type, the default and the meaning of each field."""
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
        "boolean",
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
VARIANTS = "variants"
AUTO_GENERATION_FIELDS = tuple(AUTO_GENERATION_TABLE)

NEEDED = (
    ("to_default", "from_default"),
    ("from_default", "to_default"),
    ("copy_into", "to_default"),
)
"""Pairs of a conversion's field and another field that it needs."""

FUNCTIONS = "functions"
ATTRIBUTES = "attributes"
DEFAULTS = "defaults"
AUTO_GENERATION = "auto-generation"
EVERY = "*"
NO_FUNCTIONS = (DEFAULTS, AUTO_GENERATION, EVERY)
"""Tables below ``functions`` that do not describe a single function."""

RESTRICTING = ("requires_opt_in",)
"""Fields that keep a backend from running, and must not be ignored in the wrong place."""

TABLE = "table"
"""The kind of a field that is a table."""

_HOMES: tuple[tuple[Mapping[Any, tuple[str, str, str]], str], ...] = (
    (FIELD_TABLE, "above the first table"),
    (FUNCTION_TABLE, f"in the table of a function, or in [{FUNCTIONS}.{DEFAULTS}]"),
    (AUTO_GENERATION_TABLE, f"in [{FUNCTIONS}.{AUTO_GENERATION}]"),
    (dict.fromkeys(NO_FUNCTIONS, (TABLE, "", "")), f"below {FUNCTIONS}"),
)
"""Every table with its fields, and where it stands in a file."""


def kind_of(field: object) -> str:
    """Return the kind of a field of any table; empty for an unknown one."""
    return next((table[field][0] for table, _ in _HOMES if field in table), "")


def place_of(field: object) -> str:
    """Return where a field has an effect; empty for an unknown one.

    >>> place_of("requires_opt_in")
    'above the first table'
    """
    return next((place for table, place in _HOMES if field in table), "")


def all_fields() -> tuple[str, ...]:
    """Return the fields of all tables."""
    return tuple(field for table, _ in _HOMES for field in table)


class Conversions(NamedTuple):
    """The conversions of a backend, by their identifiers.

    Parameters
    ----------
    to_default, from_default : str
        Convert one object to a type of the library, and back.
    copy_into : str or None
        Writes a converted object back into the original.
    """

    to_default: str
    from_default: str
    copy_into: str | None


@dataclass(frozen=True, slots=True)
class Variant(Published):
    """An implementation that replaces the usual one if a requirement is met.

    Parameters
    ----------
    requires : str
        The requirement.
    function : str
        Identifier of the implementation.
    """

    requires: str
    function: str


@dataclass(frozen=True, slots=True)
class Implementation(Published):
    """How a backend implements one function of the library.

    Parameters
    ----------
    function : str
        Identifier of the implementation, or of the variant that replaces it here.
    should_run : str or None
        Identifier of the function that decides whether it runs; None if it always does.
    uses_context : bool
        Whether a `DispatchContext` is passed as the first argument.
    additional_docs : str
        Text for the "Backends" section of the function's docstring.
    variants : tuple of Variant
        The first one whose requirement is met replaces `function`.
    variant : Variant or None
        The variant that has replaced it, if any.
    """

    function: str
    should_run: str | None = None
    uses_context: bool = False
    additional_docs: str = ""
    variants: tuple[Variant, ...] = ()
    variant: Variant | None = None


@dataclass(frozen=True, slots=True)
class AutoGeneration(Published):
    """Where the update tool finds the implementations to describe.

    Parameters
    ----------
    backend : str
        Identifier of the `BackendImplementation`.
    modules : tuple of str
        Modules to import first, because they register functions.
    variants_of : str
        The distribution whose versions appear in the names of variants.
    """

    backend: str
    modules: tuple[str, ...] = ()
    variants_of: str = ""


@dataclass(frozen=True, slots=True)
class Description(Published):
    """A backend, as its author describes it.

    Parameters
    ----------
    name : str
        The backend's name.
    primary_types, secondary_types : tuple of TypePattern
        Types that it works with and returns; types that it accepts but converts.
    requires_opt_in : bool
        Whether it is inactive until it is prioritized.
    higher_priority_than, lower_priority_than : tuple of str
        Names of backends that it goes before and after.
    to_default, from_default, copy_into : str or None
        Identifiers of its conversions.
    requires : tuple of str
        Requirements without which it is inactive.
    url : str
        Its documentation on the web; may be empty.
    functions : mapping of str to Implementation
        By identifier of the library's function.
    attributes : mapping of str to str
        Identifiers of its values, by identifier of the library's attribute.
    every : Implementation or None
        The implementation of every function without an entry of its own.
    auto_generation : AutoGeneration or None
        For the update tool.
    source : Source
        Where the description comes from.
    in_code : bool
        Whether the library itself passed it.
    problems : tuple of Problem
        Unknown keys, which were ignored. Not compared.
    unmet : str
        Why a requirement is not met here; empty if all are.
    varies : bool
        Whether a function has variants. Not compared.
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
    functions: Mapping[str, Implementation] = field(
        default_factory=lambda: MappingProxyType({}), hash=False
    )
    attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    every: Implementation | None = None
    auto_generation: AutoGeneration | None = None
    source: Source = Source()
    in_code: bool = False
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    unmet: str = ""
    varies: bool = field(default=False, compare=False)
    absent: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

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


class GivenCallable(str):
    """The identifier of a callable that a description holds; it is never imported.

    Two are equal if their callables are the same object: all lambdas of a module have one
    identifier.

    Attributes
    ----------
    given : callable
        The callable, which need not be importable.
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


def identify(given: Callable[..., Any]) -> GivenCallable:
    """Return the identifier of a callable, made from its name or its class's name."""
    named = given if hasattr(given, "__qualname__") else type(given)
    # Ufuncs of older NumPy versions have no `__module__`.
    module = getattr(given, "__module__", None) or "?"
    identifier = GivenCallable(f"{module}:{named.__qualname__}")
    identifier.given = given
    return identifier


def as_mapping(fields: Any, functions: Collection[str]) -> Mapping[Any, Any]:
    """Return the fields of a description, from a mapping or an object.

    Parameters
    ----------
    fields : mapping or object
        A mapping with the fields as keys, or an object with them as attributes.
    functions : collection of str
        Identifiers of functions of the library, for a table that only has ``get``.
    """
    if not isinstance(fields, Mapping):
        # An object may have other attributes, unless they look like misspelled fields. A field of
        # a table, such as `function`, counts only if it is a mapping: a module may define it.
        others = [name for name in getattr(fields, "__dict__", ()) if name not in FIELDS]
        misspelled = [
            name
            for name in others
            if nearest(name, FIELDS, MISSPELLED)
            and not (kind_of(name) and not isinstance(getattr(fields, name), Mapping))
        ]
        fields = {
            name: getattr(fields, name) for name in (*FIELDS, *misspelled) if hasattr(fields, name)
        }
    table: Any = fields.get("functions")
    if not isinstance(table, Mapping) and callable(getattr(table, "get", None)):
        asked = {key: table.get(key) for key in (*NO_FUNCTIONS, *functions)}
        found = {key: entry for key, entry in asked.items() if entry is not None}
        fields = {**fields, "functions": found}
    return fields  # type: ignore[no-any-return]


MISSPELLED = 0.85
"""The least similarity to a field's name at which a key counts as a misspelling.

Misspellings warn. Other unknown keys may belong to a later version of this package.
"""
_SHORTEST = 4
"""The least length of a key that is looked for inside the names of fields."""
_DEEPEST = 20
"""The depth up to which nested tables are read as the parts of a module's name."""


class KeyChecker:
    """Collects the faults of a description, each with its key path, and reports unknown keys.

    Parameters
    ----------
    backend : str
        The backend's name, for the messages.
    source : Source
        Where the fields come from, for the messages.

    Attributes
    ----------
    problems : list of Problem
        The faults found so far.
    """

    def __init__(self, backend: str, source: Source) -> None:
        self.backend = backend
        self.source = source
        self.problems: list[Problem] = []

    def fault(self, path: str, message: str, remedy: str) -> None:
        """Report a fault at a key path such as ``functions."lib:fn".function``."""
        message, remedy, path = map(shortened, (message, remedy, path))
        self.problems.append(Problem(message, remedy, self.backend, path, self.source))

    def check_keys(self, table: Mapping[Any, Any], known: Collection[str], path: str) -> None:
        """Report keys that are not among the `known` ones.

        A field of another table is a fault, because the backend would be used without that field.
        Any other key is ignored: a later version may know it.
        """
        for key in table:
            if key not in known:
                self.check_key(table, key, known, path + str(key))

    def check_key(
        self, table: Mapping[Any, Any], key: object, known: Collection[str], path: str
    ) -> None:
        """Report a key of a table that is not among the `known` ones."""
        kind = kind_of(key)
        if kind and (kind == TABLE) == isinstance(table[key], Mapping):
            self.misplaced(key, path)
            return
        free = [name for name in known if name not in table]
        misspelled = _meant(key, free)
        function = "" if misspelled else misplaced_function(key, table[key])
        meant = [] if function else misspelled or nearest(key, free)
        elsewhere = [] if function or meant else _meant(key, all_fields())
        if function:
            remedy = function
        elif meant:
            remedy = f"Did you mean {meant[0]!r}?"
        elif elsewhere == [key]:  # a table with the name of a plain field, or the reverse
            remedy = f"The field {key!r} belongs {place_of(key)}"
        elif elsewhere:
            remedy = f"Did you mean {elsewhere[0]!r}? Write it {place_of(elsewhere[0])}"
        else:
            remedy = "Remove it, or update spatch-core if a later version knows it"
        message = f"there is no field {str(key)!r}; it is ignored"
        if meant and meant[0] in RESTRICTING:
            message += ", and the backend needs no opt-in"
        warns = bool(function or misspelled or elsewhere)
        self.problems.append(
            Problem(message, remedy, self.backend, path, self.source, skips=False, warns=warns)
        )
        self.check_unknown_table(table[key], path)

    def check_unknown_table(self, table: object, path: str) -> None:
        """Report fields below an unknown key that were meant to keep the backend from running."""
        if isinstance(table, Mapping):
            for key, value in table.items():
                if key in RESTRICTING:
                    self.misplaced(key, f"{path}.{key}")
                else:
                    self.check_unknown_table(value, f"{path}.{key}")
        elif isinstance(table, (list, tuple)):
            for position, value in enumerate(table):
                self.check_unknown_table(value, f"{path}[{position}]")

    def misplaced(self, key: object, path: str) -> None:
        """Report a field in a table where it has no effect."""
        self.fault(
            path,
            f"the field {str(key)!r} has no effect in this table",
            f"Write it {place_of(key)}",
        )


def _meant(key: object, names: Iterable[str]) -> list[str]:
    """Return the fields that a key misspells, or else the fields whose names contain it."""
    names = list(names)
    text = str(key).casefold()
    parts = [name for name in names if len(text) >= _SHORTEST and text in name]
    return nearest(key, names, MISSPELLED) or parts


def misplaced_function(key: object, value: Any) -> str:
    """Return where a misplaced function of the library belongs; empty for any other key.

    Parameters
    ----------
    key : object
        An unknown key.
    value : object
        Its value. Without quotes, ``[lib.fn]`` is one table in another.

    Examples
    --------
    >>> misplaced_function("lib:fn", {"function": "pkg:fn"})
    'Write it as [functions."lib:fn"]'
    >>> misplaced_function("lib", {"fn": {"function": "pkg:fn"}})
    'Write it as [functions."lib:fn"]'
    """
    path = [str(key)]
    if isinstance(value, str) and ":" in path[0] and _identifier(path) and _identifier([value]):
        return (
            f'Write function = {value!r} below [{FUNCTIONS}."{key}"], or the line below '
            f"[{ATTRIBUTES}] if {key} is an attribute"
        )
    if not isinstance(value, Mapping):
        return ""
    if ":" in path[0] and _identifier(path):
        return f'Write it as [{FUNCTIONS}."{key}"]'
    while not isinstance(value.get("function"), str) and not callable(value.get("function")):
        inner = [(name, each) for name, each in value.items() if isinstance(each, Mapping)]
        if len(path) == _DEEPEST or not inner:
            return ""
        name, value = inner[0]
        path.append(str(name))
    identifier = _identifier(path)
    if not identifier:
        return f'Write it as [{FUNCTIONS}."module:{path[-1]}"], with the module of the function'
    return f'Write it as [{FUNCTIONS}."{identifier}"]'


def _identifier(path: list[str]) -> str:
    """Return the identifier that the names of nested tables form; empty if they form none."""
    text = ".".join(path)
    try:
        split_identifier(text)
    except IdentifierError:
        return identifier_like(text) if "." in text else ""
    return text


_VARIANT_REMEDY = "Write {requires = 'torch>=1.12', function = 'module:qualname'}"

_SCHEMES = ("https://", "http://")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_IN_ADDRESSES = _LETTERS | frozenset("-._~:/?#[]@!$&'()*+,;=%")
"""The characters of RFC 3986, none of which ends a link in HTML or reStructuredText."""


class FieldReader(KeyChecker):
    """Reads fields; a method returns a valid value even where it reports a fault.

    The parameters are those of `KeyChecker`.
    """

    def __init__(self, backend: str, source: Source) -> None:
        super().__init__(backend, source)
        # Identifiers found valid, because many functions share a `should_run`.
        self._valid: set[str] = set()

    def values(
        self, table: Mapping[Any, Any], fields: Mapping[str, tuple[str, str, str]], path: str
    ) -> dict[str, Any]:
        """Return the valid values of a table's fields of simple kinds (see `_READERS`).

        Parameters
        ----------
        table : mapping
            The table.
        fields : mapping of str to tuple
            Its fields, as `fields` describes them.
        path : str
            The start of their key paths, up to the last dot.
        """
        found: dict[str, Any] = {}
        for key, (kind, _, _) in fields.items():
            if key not in table:
                continue
            if kind == "identifier":
                if callable(table[key]):
                    found[key] = identify(table[key])
                elif self.is_identifier(table[key], path, key):
                    found[key] = table[key]
            elif kind in _READERS:
                found[key] = _READERS[kind](self, table, key, path + key)
        return found

    def table(self, table: Mapping[Any, Any], key: str, path: str) -> Mapping[Any, Any]:
        """Return a table; empty if it is absent or not a table."""
        value = table.get(key, {})
        if isinstance(value, Mapping):
            return value
        self.fault(path, f"{value!r} is not a table", "Make it a table")
        return {}

    def strings(self, table: Mapping[Any, Any], key: str, path: str) -> Iterator[tuple[int, str]]:
        """Yield the strings of a list, each with its position."""
        value = table.get(key, ())
        if isinstance(value, str) or not isinstance(value, (list, tuple, set, frozenset)):
            text = f"[{value!r}]" if isinstance(value, str) else "a list of strings"
            self.fault(path, f"{value!r} is not a list of strings", f"Write it as {text}")
            return
        for position, item in enumerate(value):
            if isinstance(item, str):
                yield position, item
            else:
                self.fault(f"{path}[{position}]", f"{item!r} is not a string", "Write a string")

    def string(self, table: Mapping[Any, Any], key: str, path: str) -> str:
        """Return a string; empty if it is absent or not a string."""
        value = table.get(key, "")
        if isinstance(value, str):
            return value
        self.fault(path, f"{value!r} is not a string", "Write a string")
        return ""

    def web_address(self, table: Mapping[Any, Any], key: str, path: str) -> str:
        """Return a web address; empty if it is absent or invalid."""
        text = self.string(table, key, path)
        start = next((each for each in _SCHEMES if text.startswith(each)), "")
        rest = text[len(start) :]
        if not text or (start and rest[:1] in _LETTERS and {*rest} <= _IN_ADDRESSES and rest):
            return text
        self.fault(
            path,
            f"{text!r} is not a web address",
            "Write 'https://...' or 'http://...', other characters than ASCII as '%C3%BC'",
        )
        return ""

    def boolean(self, table: Mapping[Any, Any], key: str, path: str) -> bool:
        """Return a boolean; False if it is absent."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.fault(path, f"{value!r} is not a boolean", "Write true or false")
        return bool(value)

    def patterns(self, table: Mapping[Any, Any], key: str) -> tuple[TypePattern, ...]:
        """Return the type patterns of a list."""
        found = []
        for position, text in self.strings(table, key, key):
            try:
                found.append(TypePattern(text))
            except IdentifierError as error:
                remedy = f"Write it as {identifier_like(text) or 'package.module:Class'!r}"
                self.fault(f"{key}[{position}]", str(error), remedy)
        return tuple(found)

    def backend_names(self, table: Mapping[Any, Any], key: str, own: object) -> tuple[str, ...]:
        """Return the names of other backends than `own` in a list."""
        found = []
        for position, name in self.strings(table, key, key):
            path = f"{key}[{position}]"
            if not is_backend_name(name):
                self.fault(
                    path,
                    f"{name!r} cannot name a backend",
                    f"Use the name of another backend's entry point, or {DEFAULT!r}",
                )
            elif name == own:
                self.fault(path, "a backend cannot precede itself", "Remove the name")
            else:
                found.append(name)
        return tuple(found)

    def requirements(self, table: Mapping[Any, Any], key: str, path: str) -> tuple[str, ...]:
        """Return the requirements of a list; they are parsed only when needed."""
        strings = self.strings(table, key, path)
        return tuple(
            text for number, text in strings if self.is_requirement(text, f"{path}[{number}]")
        )

    def is_requirement(self, text: str, path: str) -> bool:
        """Whether a string may be a requirement; reports a fault if not."""
        if text[:1].isascii() and text[:1].isalnum():
            return True
        self.fault(
            path,
            f"{text!r} is not a requirement",
            "Write the name of a distribution, and perhaps versions: 'torch>=2.1'",
        )
        return False

    def variants(self, table: Mapping[Any, Any], key: str, path: str) -> tuple[Variant, ...]:
        """Return the variants of a function."""
        found = []
        given = table.get(key, ())
        if not isinstance(given, (list, tuple)):
            self.fault(path, f"{given!r} is not a list of tables", _VARIANT_REMEDY)
            return ()
        for position, entry in enumerate(given):
            place = f"{path}[{position}]"
            if not isinstance(entry, Mapping):
                self.fault(place, f"{entry!r} is not a table", _VARIANT_REMEDY)
                continue
            self.check_keys(entry, VARIANT_TABLE, f"{place}.")
            for missing in [each for each in VARIANT_TABLE if each not in entry]:
                self.fault(f"{place}.{missing}", "the field is missing", _VARIANT_REMEDY)
            values = self.values(entry, VARIANT_TABLE, f"{place}.")
            if values.keys() == VARIANT_TABLE.keys():
                found.append(Variant(**values))
        return tuple(found)

    def modules(self, table: Mapping[Any, Any], key: str, path: str) -> tuple[str, ...]:
        """Return the modules of a list, or the only one."""
        if isinstance(table.get(key), str):
            return (table[key],)
        return tuple(text for _, text in self.strings(table, key, path))

    def requirement(self, table: Mapping[Any, Any], key: str, path: str) -> str:
        """Return a requirement; empty if it is invalid."""
        text = self.string(table, key, path)
        return text if self.is_requirement(text, path) else ""

    def is_identifier(self, text: Any, path: str, key: str = "") -> bool:
        """Whether `text` is an identifier; reports a fault at ``path + key`` if not."""
        # The path is joined only for a fault: a description may have thousands of functions.
        if type(text) is str and text in self._valid:
            return True
        try:
            split_identifier(text)
        except IdentifierError as error:
            remedy = f"Write it as {identifier_like(text) or 'package.module:function'!r}"
            self.fault(path + key, str(error), remedy)
            return False
        self._valid.add(text)
        return True


_READERS: dict[str, Callable[[FieldReader, Mapping[Any, Any], str, str], Any]] = {
    "boolean": FieldReader.boolean,
    "string": FieldReader.string,
    "web address": FieldReader.web_address,
    "module or list of modules": FieldReader.modules,
    "list of requirements": FieldReader.requirements,
    "list of variants": FieldReader.variants,
    "requirement": FieldReader.requirement,
    "list of type patterns": lambda reader, table, key, _: reader.patterns(table, key),
    "list of backend names": lambda reader, table, key, _: reader.backend_names(
        table, key, table.get("name")
    ),
}
"""The readers of simple kinds; they take the reader, the table, the key and the key path."""


def parse_description(
    fields: Any,
    source: Source,
    expected_name: str | None = None,
    in_code: bool = False,
    functions: Collection[str] = (),
) -> Description:
    """Check the fields of a description.

    Parameters
    ----------
    fields : mapping or object
        A mapping with the fields as keys, or an object with them as attributes.
    source : Source
        Where `fields` comes from, for the messages.
    expected_name : str, optional
        The name of the entry point, which the description must repeat.
    in_code : bool, optional
        Whether the library itself passed it.
    functions : collection of str, optional
        Identifiers of functions of the library, for a table that only has ``get``.

    Returns
    -------
    Description
        The description, immutable; its `problems` are the unknown keys.

    Raises
    ------
    DescriptionError
        With every fault that was found.
    """
    fields = as_mapping(fields, functions)
    reader = _DescriptionReader(fields, source, expected_name)
    description = reader.read(in_code)
    if any(problem.skips for problem in reader.problems):
        # Faults that skip the backend go first, because a warning shows only the first one.
        raise DescriptionError(sorted(reader.problems, key=lambda problem: not problem.skips))
    return description


class _DescriptionReader(FieldReader):
    """Reads the fields of one description."""

    def __init__(
        self, fields: Mapping[Any, Any], source: Source, expected_name: str | None
    ) -> None:
        name = fields.get("name")
        super().__init__(expected_name or (name if isinstance(name, str) else "?"), source)
        self.fields = fields
        self.expected_name = expected_name
        self.varies = False  # whether a function has variants

    def read(self, in_code: bool) -> Description:
        self.check_keys(self.fields, FIELD_TABLE, "")
        name = self.name()
        self.check_primary_types()
        values = self.values(self.fields, FIELD_TABLE, "")
        self.check_priorities(values)
        self.check_conversions()
        functions, every = self.functions(), self.every()
        return Description(
            **{"primary_types": (), **values},
            name=name,
            functions=functions,
            attributes=self.attributes(),
            every=every,
            auto_generation=self.auto_generation(),
            source=self.source,
            in_code=in_code,
            problems=tuple(self.problems),
            varies=self.varies,
        )

    def name(self) -> str:
        name = self.fields.get("name")
        if name is None:
            self.fault("name", "the field is missing", "Add the name of the entry point")
        elif not is_backend_name(name) or name == DEFAULT:
            self.fault(
                "name",
                f"{name!r} cannot name a backend",
                "Use letters, digits, '_', '.' and '-'; 'default' is the library's own name",
            )
        elif self.expected_name is not None and name != self.expected_name:
            self.fault(
                "name",
                f"the description says {name!r}, its entry point {self.expected_name!r}",
                "Give both the same name",
            )
        return str(name)

    def check_primary_types(self) -> None:
        key = "primary_types"
        if self.fields.get(key, ()) in ([], (), set()):
            self.fault(
                key,
                "the list is empty" if key in self.fields else "the field is missing",
                "Name at least one type that the backend works with, e.g. ['numpy:ndarray']",
            )

    def check_priorities(self, values: Mapping[str, Any]) -> None:
        for name in values.get("higher_priority_than", ()):
            if name in values.get("lower_priority_than", ()):
                self.fault(
                    "lower_priority_than",
                    f"{name!r} is in higher_priority_than too",
                    "Remove it from one of the two",
                )

    def check_conversions(self) -> None:
        # Reported at the missing field, because the given one may have a fault of its own.
        missing = {
            needed: key
            for key, needed in NEEDED
            if key in self.fields and needed not in self.fields
        }
        for needed, key in missing.items():
            self.fault(
                needed,
                f"the field is missing, and {key!r} is given: conversions go both ways",
                f"Add {needed}, or remove {key}",
            )

    def functions(self) -> Mapping[str, Implementation]:
        functions = self.table(self.fields, "functions", "functions")
        path = f"functions.{DEFAULTS}"
        table = self.table(functions, DEFAULTS, path)
        self.check_keys(table, FUNCTION_TABLE, f"{path}.")
        defaults = self.values(table, FUNCTION_TABLE, f"{path}.")
        found = {}
        # Copied in one step: another thread may be adding functions to a table in code.
        for identifier, entry in [*functions.items()]:
            if identifier in NO_FUNCTIONS:
                continue
            path = f'functions."{identifier}"'
            if isinstance(identifier, str) and not {":", "."} & {*identifier}:
                self.check_key(functions, identifier, NO_FUNCTIONS, path)
                continue
            if not self.is_identifier(identifier, path):
                continue
            if not isinstance(entry, Mapping):
                remedy = "Write function = 'module:qualname'"
                if isinstance(entry, list) and entry and isinstance(entry[0], Mapping):
                    remedy = f"Write [{path}], with one pair of brackets"
                self.fault(path, f"{entry!r} is not a table", remedy)
                continue
            fields = self.implementation_fields(entry, path, defaults)
            if "function" in fields:
                found[identifier] = Implementation(**fields)
        return MappingProxyType(found)

    def attributes(self) -> Mapping[str, str]:
        """Return the identifiers of the backend's values, by identifier of the attribute."""
        found = {}
        for name, value in self.table(self.fields, ATTRIBUTES, ATTRIBUTES).items():
            path = f'{ATTRIBUTES}."{name}"'
            if kind_of(name):  # a field below the header of this table
                self.misplaced(name, path)
            elif self.is_identifier(name, path) and self.is_identifier(value, path):
                found[name] = value
        return MappingProxyType(found)

    def every(self) -> Implementation | None:
        """Return the implementation of every function without an entry of its own."""
        functions = self.fields.get("functions", {})
        if not isinstance(functions, Mapping) or EVERY not in functions:
            return None
        path = f'functions."{EVERY}"'
        entry = self.table(functions, EVERY, path)
        silent = FieldReader(self.backend, self.source)  # `functions` reports their faults
        defaults = silent.values(
            silent.table(functions, DEFAULTS, ""), FUNCTION_TABLE, f"functions.{DEFAULTS}."
        )
        fields = self.implementation_fields(entry, path, defaults)
        if "function" not in fields:
            return None
        fields["uses_context"] = True  # the context says which function is called
        return Implementation(**fields)

    def implementation_fields(
        self, entry: Mapping[Any, Any], path: str, defaults: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the valid fields of one function; only those given, there or in the defaults."""
        self.check_keys(entry, FUNCTION_TABLE, f"{path}.")
        fields = {**defaults, **self.values(entry, FUNCTION_TABLE, f"{path}.")}
        if fields.get(VARIANTS):
            self.varies = True
            fields.setdefault("function", "")
        if "function" not in fields and "function" not in entry:
            self.fault(
                f"{path}.function",
                "the field is missing",
                "Name the implementation as 'module:qualname'",
            )
        return fields

    def auto_generation(self) -> AutoGeneration | None:
        functions = self.fields.get("functions", {})
        if not isinstance(functions, Mapping):
            return None  # `functions` reports it
        path = f"functions.{AUTO_GENERATION}"
        table = self.table(functions, AUTO_GENERATION, path)
        if not table:
            return None
        self.check_keys(table, AUTO_GENERATION_TABLE, f"{path}.")
        values = self.values(table, AUTO_GENERATION_TABLE, f"{path}.")
        if table.get("backend") is None:
            self.fault(
                f"{path}.backend",
                "the field is missing",
                "Name the BackendImplementation as 'module:qualname'",
            )
        return AutoGeneration(**{"backend": "", **values})
