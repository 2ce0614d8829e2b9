"""The environment of a library: its variables, the installed distributions, and their backends.

=======================  ===================================  ===================================
variable                 example                              meaning
=======================  ===================================  ===================================
``<prefix>_PRIORITIZE``  ``first,second``                     these go first, in this order
``<prefix>_BLOCK``       ``one,two``, ``*`` or ``*,!one``     these, all, or all others are never
                                                              read
``<prefix>_SET_ORDER``   ``one>two>three,four>five``          one before two before three, ...
``<prefix>_BACKEND``     ``one``                              the current backend
``<prefix>_TRACE``       ``1``                                print the trace of all calls
=======================  ===================================  ===================================
Where code of a backend runs, any exception is a fault of it but `KeyboardInterrupt`, which is the
user's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ._description import Finding, Source, reason_to_skip
from ._errors import in_words, nearest
from ._order import find_cycle
from ._parsing import parse_description
from ._patterns import (
    DEFAULT,
    import_identifier,
    is_backend_name,
    is_dotted_name,
    is_initializing,
)
from .exceptions import DescriptionError

if TYPE_CHECKING:
    from ._description import Description

PRIORITIZE = "PRIORITIZE"
BLOCK = "BLOCK"
SET_ORDER = "SET_ORDER"
BACKEND = "BACKEND"
TRACE = "TRACE"
SUFFIXES = (PRIORITIZE, BLOCK, SET_ORDER, BACKEND, TRACE)

_ALL = "*"
_BUT = "!"
_MISSPELLED = 0.75
"""The least similarity at which a variable's suffix counts as a misspelling."""

Value = TypeVar("Value")


# --- Variables ------------------------------------------------------------------------------------


class Environment(NamedTuple):
    """The values of a library's variables; empty where one is unset or malformed."""

    prefix: str
    prioritize: tuple[str, ...] = ()
    block: frozenset[str] = frozenset()  # names, "*", and "!name" for each exception to it
    set_order: tuple[tuple[str, str], ...] = ()  # the first goes before the second; no cycles
    problems: tuple[Finding, ...] = ()  # malformed values and misspelled variables, all ignored
    backend: str | None = None
    trace: bool = False

    def variable(self, suffix: str) -> str:
        """Return the full name of a variable."""
        return f"{self.prefix}_{suffix}"

    def blocks(self, name: str) -> bool:
        """Whether the backend `name` must not be loaded."""
        return name in self.block or (_ALL in self.block and _BUT + name not in self.block)

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Every backend name mentioned, with the variable that mentions it."""
        mentioned: dict[str, Iterable[str]] = {
            PRIORITIZE: self.prioritize,
            BLOCK: sorted({each.removeprefix(_BUT) for each in self.block} - {_ALL}),
            SET_ORDER: [name for pair in self.set_order for name in pair],
            BACKEND: [self.backend] if self.backend else [],
        }
        pairs = [(name, self.variable(key)) for key, names in mentioned.items() for name in names]
        return tuple(dict.fromkeys(pairs))


def read_environment(prefix: str, variables: Mapping[str, str]) -> Environment:
    """Parse the variables of one library, usually from `os.environ`.

    A malformed value is ignored whole. It is a problem, and so is a variable that is misspelled.

    >>> found = read_environment("LIB", {"LIB_SET_ORDER": "a>b>c", "LIB_BLOCK": "a,b c"})
    >>> found.set_order
    (('a', 'b'), ('b', 'c'))
    >>> found.block
    frozenset()
    >>> print(found.problems[0].message)
    the value 'a,b c' is ignored: 'b c' cannot name a backend
    """
    problems: list[Finding] = []

    def read(suffix: str, parse: Callable[[str], Value]) -> Value:
        name = f"{prefix}_{suffix}"
        value = variables.get(name, "").strip()
        try:
            return parse(value)
        except _MalformedError as error:
            part, fault, example = error.args
            what = "it" if part == value else repr(part)
            text = f"the value {value!r} is ignored: {what} {fault}"
            problems.append(Finding(text, f"Write it as {name}={example}", key=name))
            return parse("")

    return Environment(
        prefix,
        tuple(dict.fromkeys(read(PRIORITIZE, _parse_names))),
        frozenset(read(BLOCK, _parse_block)),
        tuple(dict.fromkeys(read(SET_ORDER, _parse_order))),
        backend=read(BACKEND, lambda text: _checked(text, "first") if text else None),
        trace=read(TRACE, _parse_flag),
        problems=(*problems, *_misspelled(prefix, variables)),
    )


class _MalformedError(ValueError):
    """A value is malformed: the part that is, why, and an example of a good value."""


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []


def _checked(name: str, example: str) -> str:
    if not is_backend_name(name):
        raise _MalformedError(name, "cannot name a backend", example)
    return name


def _parse_names(text: str) -> list[str]:
    return [_checked(name, "first,second") for name in _split(text)]


def _parse_block(text: str) -> list[str]:
    block = _split(text)
    for each in block:
        name = each.removeprefix(_BUT)
        if name != each and _ALL not in block:
            fault = "exempts a backend, but not all are blocked"
            raise _MalformedError(each, fault, f"*,{each}")
        if each == DEFAULT:
            raise _MalformedError(each, "is the library itself, and cannot be blocked", "first")
        if each != _ALL:
            _checked(name, "first,second (or * for all, *,!first for all but one)")
    return block


def _parse_order(text: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for chain in _split(text):
        names = [name.strip() for name in chain.split(">")]
        if len(names) < 2 or not all(map(is_backend_name, names)):
            raise _MalformedError(chain, "is not an order", "'first>second,third>fourth'")
        pairs += pairwise(names)
    cycle = find_cycle(pairs)
    if cycle:
        kept: list[tuple[str, str]] = []
        for pair in pairs:
            kept += [] if find_cycle([*kept, pair]) else [pair]
        example = ",".join([">".join(pair) for pair in kept]) or "first>second"
        raise _MalformedError(text, f"has a cycle, {'>'.join(cycle)}", repr(example))
    return pairs


def _parse_flag(text: str) -> bool:
    if text not in ("", "0", "1"):
        raise _MalformedError(text, "is neither 1 nor 0", "1")
    return text == "1"


def _misspelled(prefix: str, variables: Iterable[str]) -> Iterator[Finding]:
    """Yield a problem for each variable whose name is nearly that of a variable of the library."""
    start = f"{prefix}_"
    known = {start + suffix for suffix in SUFFIXES}
    for name in sorted(variables):
        beginning, suffix = name[: len(start)], name[len(start) :]
        if name in known or beginning.casefold() != start.casefold():
            continue
        is_option = suffix.casefold() == "disable"  # `backend_opts` has it instead
        meant = (BLOCK,) if is_option else nearest(suffix, SUFFIXES, _MISSPELLED)
        if meant:
            message = "the library reads no variable with this name"
            yield Finding(message, f"Did you mean {start}{meant[0]}?", key=name)


def near_misses(mentioned: Iterable[tuple[str, str]], names: Collection[str]) -> Iterator[Finding]:
    """Yield a problem for each pair of a name and a variable that misspells one of `names`."""
    for name, variable in mentioned:
        meant = [] if name in names else nearest(name, names)
        if meant:
            message = f"no backend is named {name!r}; the name is ignored"
            yield Finding(message, f"Did you mean {meant[0]!r}?", key=variable)


# --- Distributions --------------------------------------------------------------------------------


def find_entry_points(group: str) -> tuple[list[Any], list[Finding]]:
    """Return the entry points of a group, and the distributions whose own cannot be read."""
    found: list[Any] = []
    problems: list[Finding] = []
    for distribution in installed_distributions():
        try:
            found += [each for each in distribution.entry_points if each.group == group]
        except Exception as error:  # noqa: BLE001  # whatever it raises
            problems.append(
                Finding(
                    f"its file entry_points.txt cannot be read ({in_words(error)})",
                    "Reinstall or uninstall the distribution",
                    source=Source(metadata=distribution),
                )
            )
    return found, problems


def installed_distributions(name: str | None = None) -> Iterator[Any]:
    """Yield the installed distributions, or those of one name; of several, the first on the path.

    `importlib.metadata` also yields the remains of uninstalled ones, and raises if a finder fails.
    """
    from importlib.metadata import DistributionFinder

    context = DistributionFinder.Context(name=name)
    seen = set()
    for finder in sys.meta_path:
        found: list[Any] = []
        with suppress(Exception):  # of a third party's finder; others have no such method
            found += finder.find_distributions(context)  # type: ignore[attr-defined]
        for distribution in found:
            folder: str = getattr(getattr(distribution, "_path", None), "name", "")
            # pip renames what it removes.
            if folder.startswith("~") or (
                folder.endswith(".dist-info") and not (distribution._path / "METADATA").exists()
            ):
                continue
            key = None
            with suppress(Exception):  # broken metadata; mostly the folder says the name
                key = distribution._normalized_name
            if key is None or key not in seen:
                seen.add(key)
                yield distribution


# --- Requirements ---------------------------------------------------------------------------------


class RequirementError(ValueError):
    """A requirement cannot be parsed or compared; the text says why."""

    def __init__(
        self, why: str, remedy: str = "Correct the requirement, for example 'numpy>=2'"
    ) -> None:
        super().__init__(why)
        self.remedy = remedy


def why_unmet(requirement: str, is_condition: bool = False) -> str:
    """Return why a requirement is not met; empty if it is. Raises `RequirementError`.

    A requirement whose marker does not hold here does not apply; if it `is_condition`, it is unmet.
    For a plain name, the standard library suffices. Anything else, such as ``"cupy>=13"``, is
    parsed by `packaging`.

    >>> why_unmet("no-such-distribution")
    'it requires no-such-distribution, which is not installed'
    """
    text = requirement
    if is_backend_name(text) and text.isascii() and text[0].isalnum() and text[-1].isalnum():
        missing = installed_version(text) is None
        return f"it requires {text}, which is not installed" if missing else ""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        message = (
            f"{text!r} is more than the name of a distribution, and can be compared only if "
            "the distribution packaging is installed"
        )
        raise RequirementError(message, "Install packaging") from None
    try:
        parsed = Requirement(text)
        if parsed.marker is not None and not parsed.marker.evaluate():
            return f"it is for {parsed.marker}, which does not hold here" if is_condition else ""
    except Exception as error:  # noqa: BLE001  # of packaging; releases differ in what they raise
        why = str(error).partition("\n")[0]
        raise RequirementError(f"{text!r} is not a requirement: {why}") from None
    version = installed_version(parsed.name)
    if version is None:
        return f"it requires {text}, which is not installed"
    try:
        is_met = not parsed.specifier or parsed.specifier.contains(version, True)
    except ValueError:  # not a version; later releases of packaging return False
        is_met = False
    return "" if is_met else f"it requires {text}, and {parsed.name} {version} is installed"


def installed_version(name: str) -> str | None:
    """Return the version of a distribution, ``"0"`` if it has none; None if not installed."""
    for distribution in installed_distributions(name):
        return Source(metadata=distribution).version or "0"
    return None


# --- How one backend is read ----------------------------------------------------------------------


def source_of(entry_point: Any) -> Source:
    """Return where the backend of an entry point comes from."""
    return Source(f"{entry_point.name} = {entry_point.value}", metadata=entry_point.dist)


def read_installed(
    entry_point: Any, source: Source, functions: Collection[str], block: str
) -> Description:
    """Read the backend of an entry point; `block` is the variable that blocks backends."""
    name = entry_point.name
    # The specification of entry points allows spaces and extras.
    value = str(entry_point.value).partition("[")[0]
    module, _, attribute = (part.strip() for part in value.partition(":"))
    if attribute.endswith(".toml"):
        fields, source = _read_file(name, module, attribute, source)
    else:
        fields = _import_object(name, module, attribute, source, block)
    return parse_description(fields, source, name, functions=functions)


def _fault(message: str, remedy: str, name: str, source: Source) -> DescriptionError:
    return DescriptionError([reason_to_skip(message, remedy, name, source=source)])


def _read_file(name: str, module: str, file: str, source: Source) -> tuple[Any, Source]:
    """Return the fields of a file in a package, and the source with the file's path."""
    if not is_dotted_name(module) or not is_backend_name(file):
        message = f"'{module}:{file}' does not name a file inside a package"
        remedy = "Write the entry point as 'package.module:file.toml'"
        raise _fault(message, remedy, name, source)
    try:
        path, content = find_file(module, file)
    except Exception as error:  # noqa: BLE001  # a third party's finder or loader
        message = f"the package {module!r} or its file cannot be read ({in_words(error)})"
        raise _fault(message, "Reinstall the distribution", name, source) from None
    if content is None:
        remedy = "Check the entry point, and that the distribution ships the file as package data"
        if not path:  # Python reads the path files of editable installations when it starts
            remedy = (
                "Reinstall the distribution; if it was installed in editable mode while this "
                "process was running, start Python again"
            )
        raise _fault(f"there is no file {file!r} in {path or module!r}", remedy, name, source)
    source = source._replace(file=path)
    try:
        return parse_toml(content), source
    except ImportError as error:  # a vendored copy of this package requires no parser
        message = f"TOML files cannot be read here: {error}"
        remedy = "Install tomli, or use Python 3.11 or later"
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, nested too deeply
        message, remedy = f"it is not valid TOML: {error}", "Correct the file"
    raise _fault(message, remedy, name, source)


def _import_object(name: str, module: str, qualname: str, source: Source, block: str) -> object:
    """Import the object of an entry point."""
    if module.endswith(".toml"):
        package, _, stem = module.removesuffix(".toml").rpartition(".")
        message = f"the entry point {module!r} does not name a file in a package"
        raise _fault(message, f"Write '{package or 'package'}:{stem}.toml'", name, source)
    if is_initializing(sys.modules.get(module)):
        raise StillImportingError
    try:
        if qualname:
            found = import_identifier(f"{module}:{qualname}")
        else:
            from importlib import import_module

            found = import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a backend's module raises
        # CPython says so in its messages. It raises the other error if threads would wait for each
        # other's imports.
        if "circular import" in in_words(error) or type(error).__name__ == "_DeadlockError":
            raise StillImportingError from None
        message = f"importing it failed with {in_words(error)}"
        remedy = (
            f"Repair or uninstall the distribution, or block the backend by setting {block}={name}"
        )
        raise _fault(message, remedy, name, source) from None
    kind = _no_description(found)
    if kind:
        value = f"{module}:{qualname}" if qualname else module
        package = sys.modules[module].__package__ or module
        remedy = f"Write '{package}:backend.toml', the TOML file in the package"
        raise _fault(f"the entry point {value!r} names {kind}", remedy, name, source)
    return found


def _no_description(found: Any) -> str:
    """Return the kind of an object that is named in place of a description; empty if it is none."""
    # By name: the library may have a copy of this package of its own.
    if any(each.__name__ == "BackendImplementation" for each in type(found).__mro__):
        return "a BackendImplementation, from which `spatch-core update` writes a description"
    # A module may be a description.
    if isinstance(found, ModuleType) and {"name", "primary_types"}.isdisjoint(vars(found)):
        return "a package" if hasattr(found, "__path__") else "a module"
    return ""


class StillImportingError(Exception):
    """A backend needs a module that is being imported: not a fault; all are read later."""


# --- Files ----------------------------------------------------------------------------------------


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
        if found is None:  # in a package that extends its path when it is imported
            tops: list[Any] = sys.path  # it may hold anything
            places = [os.path.join(each, *names[:count]) for each in tops if isinstance(each, str)]
            folders = [each for each in places if os.path.isdir(each)]
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
        find: Any = getattr(finder, "find_spec", None)
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
    if content.startswith(b"\xef\xbb\xbf"):
        mark = "it begins with a byte order mark (BOM): save it as UTF-8 without one"
        raise ValueError(f"{mark} (at line 1, column 1)")
    fields: dict[str, Any] = tomllib.loads(content.decode())
    return fields
