"""Descriptions of backends: where they come from, their faults, their fields, and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from ._errors import ended
from ._patterns import ABSTRACT, TypePattern

# Where descriptions come from, and what is wrong with them

REGISTERED = "a description that was registered at run time"
"""The `entry_point` of a `Source` for a description registered at run time."""


class Source(NamedTuple):
    """Where a backend's description comes from.

    Parameters
    ----------
    entry_point : str or None
        ``"name = value"`` as the distribution's metadata has it; None for a description
        in the library's code.
    file : str or None
        The TOML file, once it has been found.
    metadata : importlib.metadata.Distribution or None
        The distribution. Its metadata is read on demand, because reading parses a file.
    """

    entry_point: str | None = None
    file: str | None = None
    metadata: Any = None

    @property
    def distribution(self) -> str | None:
        """Name of the distribution that has the entry point, if known."""
        return self._read()[0]

    @property
    def version(self) -> str | None:
        """Version of the distribution, if known."""
        return self._read()[1]

    def _read(self) -> tuple[str | None, str | None]:
        """Return name and version; both at once, because each read parses the metadata again."""
        if self.metadata is None:
            return None, None
        try:
            found = self.metadata.metadata
            name, version = found.get("Name"), found.get("Version")
            return name and str(name), version and str(version)
        except Exception:  # noqa: BLE001  # a third party's metadata, missing or malformed
            return None, None

    def __str__(self) -> str:
        if self.entry_point is None and self.metadata is None:
            return "a description in the library's code"
        if self.entry_point == REGISTERED:
            return self.entry_point
        name, version = self._read()
        parts = [f"distribution {name} {version or ''}".rstrip()] if name else []
        if self.entry_point:
            parts.append(f"entry point '{self.entry_point}'")
        if self.file:
            parts.append(f"file {self.file}")
        return ", ".join(parts) or "a distribution without a name"


class Severity(str, Enum):
    """How bad a finding is.

    An error never works. A warning works badly, or does not work in this environment.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    __str__ = str.__str__


class Finding(NamedTuple):
    """A fault or a remark about a backend, a library, a file or an environment variable.

    Parameters
    ----------
    message, remedy : str
        What is wrong, and what to do about it; both without a final full stop.
    backend : str or None
        The backend; ``"default"`` is the library itself. None for an environment variable, for
        the library's entry point, for a file, and for a distribution whose entry points cannot be
        read.
    key : str or None
        The key path in the description, or the environment variable.
    source : Source or None
        Where the description comes from.
    skips : bool
        Whether the library skips the backend because of it. False for an unknown key, which is
        ignored, and for a cycle, which skips backends only in calls that several of them match.
    warns : bool
        Whether loading the backends warns about it.
    severity : Severity
        How bad it is, by default a warning. Notes are not faults.
    more_keys : tuple of str
        Further keys with the same fault.
    line : int or None
        The line of the key in the file of the source; None for a finding about a whole file, and
        if no file was examined.
    is_unchecked : bool
        Whether the finding only says that something could not be checked here.
    is_absent : bool
        Whether the finding is about a module that is not installed.

    Examples
    --------
    >>> finding = Finding("there is no module 'gpu'", "Correct the name", "oil", "functions")
    >>> str(finding)
    "backend 'oil', key functions: there is no module 'gpu'. Correct the name"
    """

    message: str
    remedy: str
    backend: str | None = None
    key: str | None = None
    source: Source | None = None
    skips: bool = False
    warns: bool = True
    severity: Severity = Severity.WARNING
    more_keys: tuple[str, ...] = ()
    line: int | None = None
    is_unchecked: bool = False
    is_absent: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys with this fault."""
        return () if self.key is None else (self.key, *self.more_keys)

    @property
    def place(self) -> str:
        """The file and the line, as far as they are known; empty without a file."""
        file = (self.source and self.source.file) or ""
        return file if self.line is None else f"{file}:{self.line}"

    def __str__(self) -> str:
        more = f" and {len(self.more_keys)} more" if self.more_keys else ""
        key = f", key {self.key}{more}" if self.key else ""
        where = "" if self.source is None else str(self.source)
        if self.backend is not None:
            skipped = " is skipped" if self.skips else ""
            subject = f"backend {self.backend!r}{skipped}{f' ({where})' if where else ''}{key}"
        elif self.place:
            subject = f"{self.place}{key}"
        else:
            subject = f"environment variable {self.key}{more}" if self.key else where
        return f"{subject}{': ' if subject else ''}{ended(self.message)} {self.remedy}"


def reason_to_skip(
    message: str, remedy: str, backend: str, key: str | None = None, source: Source | None = None
) -> Finding:
    """Return an error for which the library skips the backend."""
    return Finding(message, remedy, backend, key, source, skips=True, severity=Severity.ERROR)


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
FUNCTION_FIELDS = tuple(FUNCTION_TABLE)

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

_PLACES: dict[str, Mapping[Any, tuple[str, str, str]]] = {
    "above the first table": FIELD_TABLE,
    f"in the table of a function, or in [functions.{DEFAULTS}]": FUNCTION_TABLE,
    f"in [functions.{AUTO_GENERATION}]": AUTO_GENERATION_TABLE,
    "below functions": dict.fromkeys(NO_FUNCTIONS, (TABLE, "", "")),
}
ALL_FIELDS: dict[object, tuple[str, str]] = {
    field: (kind, place)
    for place, table in _PLACES.items()
    for field, (kind, _, _) in table.items()
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

    def __reduce__(self) -> Any:
        # A mapping proxy cannot be pickled.
        values = [dict(each) if isinstance(each, Mapping) else each for each in self]
        return Description, tuple(values)

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

    The callable, `given`, need not be importable.
    """

    __slots__ = ("given",)

    given: Callable[..., Any]

    def __reduce__(self) -> Any:
        return str, (str(self),)  # without the callable, which may not support pickling


# The section "Backends" of docstrings


def summary_of(description: Description, quote: str = "", *, links: bool = True) -> str:
    """Return the types of a backend, whether it needs opt-in, and its web address, as text."""

    def listed(types: Iterable[TypePattern]) -> str:
        return ", ".join(f"{quote}{each}{quote}" for each in types)

    text = f"Types: {listed(description.primary_types)}"
    if description.secondary_types:
        text += f"; converts {listed(description.secondary_types)}"
    if description.requires_opt_in:
        text += f'. Needs opt-in: ``prioritize="{description.name}"``'
    # No full stop after an address: some programs would make it part of the link.
    return f"{text}. See {description.url}" if description.url and links else f"{text}."


def with_section(doc: str | None, section: str) -> str | None:
    r"""Return a docstring with a section at its end, indented like its other lines.

    >>> print(with_section("Double.", "Backends\n--------\nfast\n    Less precise."))
    Double.
    <BLANKLINE>
    Backends
    --------
    fast
        Less precise.
    <BLANKLINE>
    """
    if not section:
        return doc
    section = without_prompts(section)
    if not doc:
        return section
    lines = [line for line in doc.splitlines()[1:] if line.strip()]
    margin = min((line[: len(line) - len(line.lstrip())] for line in lines), key=len, default="")
    text = "\n".join([margin + line if line else "" for line in section.splitlines()])
    return f"{doc.rstrip()}\n\n{text}\n{margin}"


def without_prompts(text: str) -> str:
    """Return a backend's text without examples that doctest would run for the library."""
    return text.replace(">>>", "\\>>>")  # reStructuredText shows no backslash there
