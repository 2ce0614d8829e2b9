"""Errors and warnings, each with its data; findings with their places; pickles of public values.

Users find errors and warnings in `spatch_core.exceptions`, and values in `spatch_core.types`.
Pickles and warning filters name these modules, which are stable. Importing a library does not
import this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")

_PACKAGE = __name__.rpartition(".")[0]
_LONGEST = 2_000

REGISTERED = "a description that was registered at run time"
"""The `entry_point` of a `Source` for a description registered at run time."""


def nearest(name: object, names: Iterable[str], similarity: float = 0.6) -> list[str]:
    """Return up to three of the `names`, those most similar to `name` apart from case."""
    from difflib import get_close_matches

    spellings: dict[str, list[str]] = {}
    for each in names:
        spellings.setdefault(each.casefold(), []).append(each)
    found = get_close_matches(str(name).casefold(), [*spellings], n=3, cutoff=similarity)
    # Of names that differ only in case, the one closest to the case of `name` goes first.
    ordered = [get_close_matches(str(name), spellings[each], n=3, cutoff=0) for each in found]
    return [spelling for group in ordered for spelling in group][:3]


def either(names: Iterable[str]) -> str:
    """Return names as ``'a' or 'b'``."""
    return " or ".join(map(repr, names))


def in_words(error: BaseException) -> str:
    """Return the class and the text of an exception; the class alone if ``str`` fails."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # a backend's module may have raised it
        return name


def shortened(text: str) -> str:
    """Return a text of limited length: the middle of a long one is left out."""
    return (
        text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"
    )


# Values that users receive


class Published:
    """Base of immutable values; they are compared, printed and pickled by their fields.

    A subclass is a dataclass, or lists its fields in ``_fields`` and ``__slots__``: what a first
    call needs is no dataclass, because making one takes as long as importing a module.
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _uncompared: tuple[str, ...] = ()  # nor printed

    def _set(self, *values: object) -> None:
        for name, value in zip(self._fields, values, strict=True):
            object.__setattr__(self, name, value)

    def _compared(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields if name not in self._uncompared}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to {name!r}: a {type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name!r}: a {type(self).__name__} is immutable")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._compared().items())
        return f"{type(self).__name__}({fields})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(tuple(self._compared().values()))

    def __reduce__(self) -> Any:
        return reduced(self)


def reduced(value: Any) -> tuple[Any, ...]:
    """Return the result of ``__reduce__`` for a value with fields: see `published`."""
    # By name: later versions may have more fields, in another order. A mapping proxy cannot be
    # pickled.
    fields = {name: getattr(value, name) for name in _fields_of(type(value))}
    return published(
        value,
        **{
            name: dict(each) if isinstance(each, Mapping) else each for name, each in fields.items()
        },
    )


def _fields_of(cls: Any) -> tuple[str, ...]:
    """Return the names of the fields of a `Published`, a named tuple or a dataclass."""
    return tuple(getattr(cls, "__dataclass_fields__", ()) or getattr(cls, "_fields", ()))


def replace(value: T, **changes: Any) -> T:
    """Return a copy of a value with fields; the fields in `changes` are others."""
    fields = {name: getattr(value, name) for name in _fields_of(type(value))}
    return type(value)(**{**fields, **changes})


def published(value: object, *arguments: Any, **fields: Any) -> tuple[Any, ...]:
    """Return the result of ``__reduce__`` for a value of a class in `spatch_core.types`.

    `arguments` and `fields` make it again. The class of `value` may be a subclass that a user has
    defined; its own fields are kept.
    """
    from importlib import import_module

    # Imported by name, because `types` imports this module.
    types: Any = import_module(f"{_PACKAGE}.types")
    cls = type(value)
    # The public class; the value's own class may be a user's subclass.
    base: Any = next(each for each in cls.__mro__ if getattr(types, each.__name__, None) is each)
    if base is cls:
        return types.restore, (base.__name__, arguments, fields)
    known = _fields_of(base) or fields
    attributes = {name: each for name, each in fields.items() if name not in known}
    own = {name: each for name, each in fields.items() if name in known}
    attributes |= getattr(value, "__dict__", {})
    return types.restore, (base.__name__, arguments, own, cls, attributes)


class Source(Published):
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

    _fields = ("entry_point", "file", "metadata")
    _uncompared = ("metadata",)
    __slots__ = _fields

    entry_point: str | None
    file: str | None
    metadata: Any

    def __init__(
        self, entry_point: str | None = None, file: str | None = None, metadata: Any = None
    ) -> None:
        self._set(entry_point, file, metadata)

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
        place = place_text(*self._read(), self.entry_point, self.file)
        return place or "a distribution without a name"


def place_text(
    distribution: str | None, version: str | None, entry_point: str | None, file: str | None
) -> str:
    """Return where a description comes from, in words; empty if nothing is known."""
    parts = []
    if distribution:
        parts.append(f"distribution {distribution} {version or ''}".rstrip())
    if entry_point:
        parts.append(f"entry point '{entry_point}'")
    if file:
        parts.append(f"file {file}")
    return ", ".join(parts)


class Severity(str, Enum):
    """How bad a finding is.

    An error never works. A warning works badly, or does not work in this environment.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def __str__(self) -> str:
        return self.value

    def __reduce_ex__(self, protocol: Any) -> Any:
        return published(self, self.value)


class Finding(Published):
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
        How bad it is; by default an error if it skips the backend, else a warning. Notes are not
        faults.
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

    _fields = (
        *("message", "remedy", "backend", "key", "source", "skips", "warns"),
        *("severity", "more_keys", "line", "is_unchecked", "is_absent"),
    )
    __slots__ = _fields

    message: str
    remedy: str
    backend: str | None
    key: str | None
    source: Source | None
    skips: bool
    warns: bool
    severity: Severity
    more_keys: tuple[str, ...]
    line: int | None
    is_unchecked: bool
    is_absent: bool

    def __init__(
        self,
        message: str,
        remedy: str,
        backend: str | None = None,
        key: str | None = None,
        source: Source | None = None,
        skips: bool = False,
        warns: bool = True,
        severity: Severity | None = None,
        more_keys: tuple[str, ...] = (),
        line: int | None = None,
        is_unchecked: bool = False,
        is_absent: bool = False,
    ) -> None:
        severity = severity or (Severity.ERROR if skips else Severity.WARNING)
        about = message, remedy, backend, key, source, skips, warns, severity
        self._set(*about, more_keys, line, is_unchecked, is_absent)

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
        return f"{subject}{': ' if subject else ''}{self.message}. {self.remedy}"


# Errors


class SpatchCoreError(Exception):
    """Base class of every error that this package defines."""


class IdentifierError(SpatchCoreError, ValueError):
    """A string is not an identifier, a type pattern or a backend name.

    Attributes
    ----------
    text : object
        The value given.
    expected : str
        The expected form, in words.
    """

    def __init__(self, text: object, expected: str) -> None:
        super().__init__(text, expected)
        self.text = text
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.text!r} is not {self.expected}"


class DescriptionError(SpatchCoreError, ValueError):
    """A backend's description has faults.

    Attributes
    ----------
    problems : tuple of Finding
        All faults, not only the first.
    """

    def __init__(self, problems: Iterable[Finding]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class ImplementationImportError(SpatchCoreError, ImportError):
    """Importing a backend's implementation, ``should_run`` or conversion failed.

    Attributes
    ----------
    backend : str
        The backend's name.
    function : str
        Identifier of the library's function.
    identifier : str
        Identifier of the object that could not be imported.
    block : str
        The environment variable that blocks backends.
    """

    def __init__(self, backend: str, function: str, identifier: str, block: str) -> None:
        super().__init__(backend, function, identifier, block)
        self.backend = backend
        self.function = function
        self.identifier = identifier
        self.block = block

    def __str__(self) -> str:
        cause = f" ({self.__cause__})" if self.__cause__ is not None else ""
        return (
            f"backend {self.backend!r} uses {self.identifier!r} for {self.function}, "
            f"which cannot be imported{cause}. Repair or uninstall the backend, "
            f"or block it by setting {self.block}={self.backend}"
        )


class BackendDeferredError(SpatchCoreError, NotImplementedError):
    """A backend that was chosen by name did not answer the call.

    Attributes
    ----------
    backend : str
        The backend's name.
    function : str
        Identifier of the library's function.
    reason : str
        Why it did not answer.
    """

    def __init__(self, backend: str, function: str, reason: str) -> None:
        super().__init__(backend, function, reason)
        self.backend = backend
        self.function = function
        self.reason = reason

    def __str__(self) -> str:
        return f"backend {self.backend!r} did not run {self.function}: {self.reason}"


class NoImplementationError(SpatchCoreError, TypeError):
    """A call with foreign types is refused, because no backend took it.

    Attributes
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of str
        Identifiers of the dispatch types.
    foreign : tuple of str
        The foreign types among them: neither Python's own classes nor the library's.
    backends : tuple of ExplainedBackend
        Every backend that was considered, with the reason why it did not run.
    policy : str
        The fallback policy.
    remedies : tuple of str
        Options or changes with which the call would succeed.
    reason : str
        Why a conversion failed, or that all overriding types have declined; else empty.
    """

    def __init__(
        self,
        function: str,
        types: Iterable[str],
        foreign: Iterable[str],
        backends: Iterable[Any],
        policy: str,
        remedies: Iterable[str] = (),
        reason: str = "",
    ) -> None:
        self.function = function
        self.types = tuple(types)
        self.foreign = tuple(foreign)
        self.backends = tuple(backends)
        self.policy = policy
        self.remedies = tuple(remedies)
        self.reason = reason
        super().__init__(
            function, self.types, self.foreign, self.backends, policy, self.remedies, reason
        )

    def __str__(self) -> str:
        why = self.reason or (
            f"no backend runs it{' or converts' if self.policy == 'convert' else ''}, and "
            f"fallback={self.policy!r} keeps the library's own implementation from running for "
            f"{', '.join(self.foreign)}"
        )
        lines = [f"{self.function} cannot be called with {', '.join(self.types)}: {why}"]
        lines += [f"  {each}" for each in self.backends] or ["  no backend is installed"]
        lines += [f"What would help: {each}" for each in self.remedies]
        return "\n".join(lines)


class UnknownBackendError(SpatchCoreError, ValueError):
    """No usable backend has this name.

    Attributes
    ----------
    name : str
        The name given.
    nearest : tuple of str
        Names of usable backends that resemble it.
    reason : str
        Why an installed backend of this name cannot be used; else empty.
    known : tuple of str
        The names of all usable backends.
    """

    def __init__(
        self, name: object, known: Iterable[str], nearest: Iterable[str] = (), reason: str = ""
    ) -> None:
        self.name = name
        self.known = tuple(known)
        self.nearest = tuple(nearest)
        self.reason = reason
        super().__init__(name, self.known, self.nearest, reason)

    def __str__(self) -> str:
        if self.reason:
            return f"backend {self.name!r} cannot be used: {self.reason}"
        text = f"no backend is named {self.name!r}"
        if self.nearest:
            return f"{text}; did you mean {either(self.nearest)}?"
        return f"{text}; installed: {', '.join(self.known)}"


class UnknownFunctionError(SpatchCoreError, KeyError):
    """The library has no dispatchable function with this identifier.

    Attributes
    ----------
    identifier : str
        The identifier given.
    nearest : tuple of str
        Identifiers of functions of the library that resemble it.
    """

    def __init__(self, identifier: object, nearest: Iterable[str] = ()) -> None:
        self.identifier = identifier
        self.nearest = tuple(nearest)
        super().__init__(identifier, self.nearest)

    def __str__(self) -> str:
        text = f"the library has no dispatchable function {self.identifier!r}"
        if self.nearest:
            return f"{text}; did you mean {either(self.nearest)}?"
        return (
            f"{text}; give the identifier of one of its functions, 'module:qualname' "
            "(system.functions has them), whose module is imported"
        )


class UnknownTypeError(SpatchCoreError, ValueError):
    """A type is not a primary type of any backend.

    Attributes
    ----------
    type : type
        The type given.
    known : tuple of str
        The primary types of all backends.
    """

    def __init__(self, type: object, known: Iterable[str]) -> None:
        self.type = type
        self.known = tuple(known)
        super().__init__(type, self.known)

    def __str__(self) -> str:
        return (
            f"{self.type!r} is not a primary type of any backend; "
            f"primary types are: {', '.join(self.known) or 'none'}"
        )


# Warnings


class SpatchCoreWarning(UserWarning):
    """Base class of every warning that this package issues."""


class BackendSkippedWarning(SpatchCoreWarning):
    """A backend, or part of it, is not used.

    Attributes
    ----------
    problems : tuple of Finding
        Every fault of this backend.
    """

    def __init__(self, problems: Sequence[Finding]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        text = str(self.problems[0])
        more = len(self.problems) - 1
        if more:
            text += f" ({more} more fault{'s' * (more > 1)}: see the library's system.problems)"
        return text


class EnvironmentVariableWarning(SpatchCoreWarning):
    """An environment variable is malformed, or a name in it looks like a misspelling.

    Attributes
    ----------
    problem : Finding
        The fault; its ``key`` is the name of the variable.
    """

    def __init__(self, problem: Finding) -> None:
        self.problem = problem
        super().__init__(problem)

    def __str__(self) -> str:
        return str(self.problem)


class DuplicateFunctionWarning(SpatchCoreWarning):
    """Two functions of a library have the same identifier; the later one replaces the earlier.

    Attributes
    ----------
    identifier : str
        The identifier of both.
    earlier, later : str
        Where they are defined, as ``"file:line"`` if known.
    """

    def __init__(self, identifier: str, earlier: str, later: str) -> None:
        super().__init__(identifier, earlier, later)
        self.identifier = identifier
        self.earlier = earlier
        self.later = later

    def __str__(self) -> str:
        return (
            f"two functions are dispatchable as {self.identifier!r}, and backends reach only the "
            f"later one: {self.earlier} and {self.later}. Give one of them another identifier, "
            "with dispatchable(identifier=...)"
        )


class GlobalOptionsWarning(SpatchCoreWarning):
    """``enable_globally`` overrides an earlier ``enable_globally``."""


class FallbackWarning(SpatchCoreWarning):
    """The default implementation runs for foreign types, because no backend took the call.

    Attributes
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of str
        Identifiers of the dispatch types.
    foreign : tuple of str
        The foreign types among them: neither Python's own classes nor the library's.
    backends : tuple of ExplainedBackend
        Every backend that was considered, with the reason why it did not run.
    size : int
        The bytes of the arguments of foreign types that have ``nbytes``.
    """

    def __init__(
        self,
        function: str,
        types: Iterable[str],
        foreign: Iterable[str],
        backends: Iterable[Any],
        size: int = 0,
    ) -> None:
        self.function = function
        self.types = tuple(types)
        self.foreign = tuple(foreign)
        self.backends = tuple(backends)
        self.size = size
        super().__init__(function, self.types, self.foreign, self.backends, size)

    def __str__(self) -> str:
        size = f" ({self.size} bytes)" if self.size else ""
        types = "" if self.types == self.foreign else f" for {', '.join(self.types)}"
        head = (
            f"{self.function} runs the library's own implementation{types}, "
            f"which is not made for {', '.join(self.foreign)}{size}: no backend runs it"
        )
        return "\n".join([head, *(f"  {each}" for each in self.backends)])


for _each in [*globals().values()]:
    if isinstance(_each, type) and issubclass(_each, (SpatchCoreError, SpatchCoreWarning)):
        _each.__module__ = f"{_PACKAGE}.exceptions"
