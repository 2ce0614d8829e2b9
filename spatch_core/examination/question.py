"""A question to the core about a call: its function, its types, and the options around it.

First comes what people name: types and functions, as in a program. The last part asks for all
functions of a library at once, in a child, for the report.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from .._call import decision_of
from .._decide import Decision, Verdict
from .._description import Source
from .._errors import ended, nearest
from .._matching import Matcher
from .._patterns import DEFAULT, import_identifier, loaded_object, split_identifier
from .child import foreign_code, import_failure, progress, run
from .importing import functions_near, package_of
from .libraries import (
    Library,
    LoadedLibrary,
    adopted_name,
    import_public_names,
    is_adopted,
    load_library,
)

if TYPE_CHECKING:
    from .._explain import Explanation
    from ..backend_system import BackendSystem
    from .child import Journal


class UnknownNameError(Exception):
    """No library has this function, or several things have this name."""


class LibraryError(Exception):
    """A library cannot be used."""


# --- Types ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GivenType:
    """A type given by its identifier."""

    identifier: str  # as the user gave it
    type: type  # the type itself, or a stand-in with the same module and qualname
    note: str = ""  # about the stand-in; empty for the type itself


def type_named(text: str, libraries: Iterable[LoadedLibrary] = ()) -> str:
    """Return the identifier of a type, given as in a program; a prefix of a pattern stays.

    ``decimal.Decimal`` has its module; ``int`` is one of Python's own, and ``Decimal`` alone is the
    only type of this name that a backend of the `libraries` names. Any other text is returned.
    """
    name = text.lstrip("~@")
    prefix = text[: len(text) - len(name)]
    if ":" in name:
        return text
    if "." in name:
        return prefix + _with_colon(name)
    if isinstance(getattr(builtins, name, None), type):
        return f"{prefix}builtins:{name}"
    named = {each for loaded in libraries for each in loaded.types if each.endswith(f":{name}")}
    if len(named) > 1:
        options = ", ".join(sorted(named))
        raise UnknownNameError(f"{text!r} may be each of these types: {options}")
    return prefix + named.pop() if named else text


def _with_colon(text: str) -> str:
    """Return a dotted name as an identifier, with the longest module that can be imported."""
    parts = text.split(".")
    for number in range(len(parts) - 1, 0, -1):
        module, qualname = ".".join(parts[:number]), ".".join(parts[number:])
        if all(each.isidentifier() for each in parts) and not import_failure(module):
            return f"{module}:{qualname}"
    return ":".join(text.rsplit(".", 1))


def given_type(identifier: str) -> GivenType:
    """Import a type; if its module cannot be imported, create a stand-in.

    An identifier that names no type is a `ValueError`.
    """
    module, qualname = split_identifier(identifier)
    failure = import_failure(module)
    if failure:
        note = (
            f"{failure}, so a class of the same name stands in for {identifier}: without its "
            "base classes, and without other names for it"
        )
        return GivenType(identifier, _stand_in(module, qualname), note)
    try:
        with foreign_code():
            found = import_identifier(identifier)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a third party's attribute hook
        raise ValueError(str(error)) from None
    if not isinstance(found, type):
        raise ValueError(f"{identifier} is not a type, but {found!r}")
    return GivenType(identifier, found)


@cache
def _stand_in(module: str, qualname: str) -> type:
    """Return a class with this module and qualname, the same one each time."""
    name = qualname.rpartition(".")[2]
    return type(name, (), {"__module__": module, "__qualname__": qualname})


# --- Functions ------------------------------------------------------------------------------------


def find_function(
    text: str, libraries: Sequence[LoadedLibrary], types: Iterable[str] = ()
) -> tuple[LoadedLibrary, str]:
    """Find a function and its library, by any name of the function that is not ambiguous.

    The identifiers of the dispatch `types` decide between several libraries that have adopted the
    function, such as one of NumPy's. Raises `UnknownNameError` if no library has the function, and
    `LibraryError` if the library of this package cannot be used.
    """
    found, failure = None, ""
    if ":" in text:
        failure = import_failure(split_identifier(text)[0])
        # First without the modules that libraries import lazily, because there may be many.
        found = _search(libraries, text)
    found = found or function_named(text, libraries)
    if not found and (":" in text or "." in text):
        identifier = text if ":" in text else _with_colon(text)
        split_identifier(identifier)  # raises an error for a malformed one
        found = _search(libraries, identifier) or _adopting(libraries, identifier, types)
    if found:
        return found
    for each in libraries:
        if each.failure and package_of(each.library.identifier) == package_of(text):
            raise LibraryError(each.failure)
    raise unknown_function(text, libraries, failure)


def function_named(
    text: str, libraries: Iterable[LoadedLibrary]
) -> tuple[LoadedLibrary, str] | None:
    """Return the function that is named exactly, or else the only one that may be meant.

    ``lib.module:blur`` may be meant by ``blur``, ``lib.blur`` and ``module.blur``.
    """
    found: dict[str, LoadedLibrary] = {}
    for each in libraries:
        for identifier in each.functions:
            dotted = identifier.replace(":", ".")
            if text in (identifier, dotted):
                return each, identifier
            short = f"{each.library.name}.{identifier.partition(':')[2]}"
            if f".{dotted}".endswith(f".{text}") or text == short:
                found.setdefault(identifier, each)
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise UnknownNameError(f"{text!r} may be each of these functions: {names}")
    return next(((each, identifier) for identifier, each in found.items()), None)


def unknown_function(
    text: str, libraries: Iterable[LoadedLibrary], why: str = ""
) -> UnknownNameError:
    """Return the error about a function that none of the libraries has, with the nearest ones."""
    known: dict[str, str] = {}
    for each in libraries:
        for identifier in each.functions:
            qualname = identifier.partition(":")[2]
            short = f"{each.library.name}.{qualname}"
            known |= dict.fromkeys((identifier, qualname, short), identifier)
    hint = "" if ":" in text else "; write module:qualname"
    near = functions_near(text, known.values()) if ":" in text else nearest(text, known)
    if near:
        names = tuple(dict.fromkeys(known.get(each, each) for each in near))
        hint = f"; did you mean {' or '.join(names)}?"
    message = f"no library has a function {text!r}{why and f' ({why})'}{hint}"
    faults = [each.failure for each in libraries if each.failure]
    return UnknownNameError(" ".join([ended(message), *faults]) if faults else message)


def _search(
    libraries: Iterable[LoadedLibrary], identifier: str
) -> tuple[LoadedLibrary, str] | None:
    """Return a function that has been imported, also by another name of the same object."""
    named = loaded_object(*split_identifier(identifier))
    for loaded in libraries:
        functions = {} if loaded.system is None else loaded.system.functions
        for each, function in functions.items():
            if each == identifier or function is named:
                return loaded, each
    return None


def _adopting(
    libraries: Iterable[LoadedLibrary], wanted: str, types: Iterable[str]
) -> tuple[LoadedLibrary, str] | None:
    """Return the library that has adopted a function; of several, the one that knows a type."""
    named = loaded_object(*split_identifier(wanted))
    adopting = []
    for each in libraries:
        if each.system is not None:
            adopted = is_adopted(each.system, wanted)
            identifier = wanted if adopted else adopted_name(each.system, named)
            if identifier is not None:
                adopting.append((each, identifier))
    for loaded, identifier in adopting:
        primary = {
            pattern.identifier
            for each in loaded.usable.backends.values()
            if each.name != DEFAULT
            for pattern in each.primary_types
        }
        if not primary.isdisjoint(types):
            return loaded, identifier
    return adopting[0] if adopting else None


# --- The question ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Options:
    """Arguments of ``backend_opts``."""

    prioritize: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    type: GivenType | None = None
    fallback: str | None = None  # the policy
    backend: str | None = None  # the current backend

    def __str__(self) -> str:
        """Return the call of ``backend_opts`` as code; empty without options."""
        given = []
        for key, value in self.as_json().items():
            if key == "type" and value:
                given.append(f"type={value.replace(':', '.')}")
            elif value:
                is_single = isinstance(value, list) and len(value) == 1
                given.append(f"{key}={value[0] if is_single else value!r}")
        return f"backend_opts({', '.join(given)})" if given else ""

    def as_json(self) -> dict[str, Any]:
        """Return the options as ``explain --json`` prints them."""
        return {
            "prioritize": list(self.prioritize),
            "disable": list(self.disable),
            "type": self.type and self.type.identifier,
            "fallback": self.fallback,
            "backend": self.backend,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A call of a function with arguments of given types."""

    system: BackendSystem
    function: str  # its identifier
    types: tuple[GivenType, ...]  # of the dispatch arguments
    options: Options = Options()  # in force around the call

    @property
    def given(self) -> list[GivenType]:
        """All types that the user gave."""
        return [*self.types, *([self.options.type] if self.options.type else [])]

    def ask(self) -> Explanation:
        """Return the explanation of the core, under the options.

        An option that names no backend or type raises `ValueError` or `TypeError`.
        """
        with self._in_force() as types:
            return self.system.explain_types(self.function, types)

    def decide(self) -> Decision:
        """Return the decision that such a call has, under the options, which raise as in `ask`."""
        dispatcher = self.system._dispatcher
        with self._in_force() as types:
            function = dispatcher.by_identifier.get(self.function)
            return decision_of(function or dispatcher.adoptions[0].find(self.function), types)

    @contextmanager
    def _in_force(self) -> Iterator[list[type]]:
        """Let the options be in force in a block; it gets the types."""
        options = self.options
        with (
            foreign_code(self.system),
            self.system.backend_opts(
                options.prioritize,
                options.disable,
                None if options.type is None else options.type.type,
                fallback=options.fallback,
                backend=options.backend,
            ),
        ):
            yield [each.type for each in self.types]

    def import_homes(self) -> None:
        """Import the modules of all type patterns if a type is no primary type of any backend.

        In a program that has such objects these modules may be imported, and one of them may make a
        class of a pattern a base class of the type.
        """
        descriptions = self.system.backends
        matcher = Matcher(descriptions)
        with foreign_code(self.system):
            matches = [matcher.match(each.type) for each in self.given if not each.note]
        if all(each.primary or each.is_builtin for each in matches):
            return
        known = {each.module for one in descriptions.values() for each in one.known_types}
        for module in sorted(known):
            with progress(f"importing {module}"):
                import_failure(module)


# --- What runs for the types that backends name --------------------------------------------------


def is_refused(explanation: Explanation) -> bool:
    """Whether the call would raise; one whose arguments decide may run."""
    # Values, because a library that vendors this package has an enum of its own.
    verdicts = {each.verdict.value for each in explanation.backends}
    return Verdict.REFUSES.value in verdicts and Verdict.ASKED.value not in verdicts


def calls_of(question: Question, given: Mapping[str, GivenType]) -> list[dict[str, Any]]:
    """Explain a call with each given type that a backend with an implementation names.

    The answers are the ``calls`` of ``explain --json``, sorted by type.
    """
    names = {
        pattern.identifier
        for name, each in question.system.backends.items()
        for pattern in each.known_types
        if name == DEFAULT or each.implementation(question.function) is not None
    }
    found = []
    for name in sorted(names & given.keys()):
        explained = replace(question, types=(given[name],)).ask()
        deciding = (
            each.reason
            for each in explained.backends
            if each.backend == explained.selected or each.verdict == Verdict.ASKED
        )
        outcome = {"selected": explained.selected, "refused": is_refused(explained)}
        reason, note = next(deciding, ""), given[name].note
        found.append({"type": name, **outcome, "reason": reason, "note": note})
    return found


def what_runs(
    library: Library, functions: Sequence[str], *, timeout: float = 60.0
) -> dict[str, Any]:
    """Explain calls of each function of a library; a child process imports the types.

    The result has the answers of `calls_of` by function as ``calls``. If there are not all of them,
    ``fault`` says why.
    """
    name, identifier = library.name, library.identifier
    request = {"name": name, "identifier": identifier, "functions": [*functions]}
    result = run(f"{__name__}:answer", request, f"asking what runs in {name}", limit=timeout)
    endings = "" if result.is_complete else "; ".join(map(str, result.endings))
    calls = dict(result.values.get("calls", ()))
    return {"calls": calls, "fault": endings or result.last("fault", "")}


def answer(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``calls`` of each function, or a ``fault``; called in the child."""
    library = Library(request["name"], request["identifier"], Source())
    journal.begins(f"loading {library.name}")
    loaded = load_library(library)
    if loaded.failure:
        journal.add("fault", loaded.failure)
        return
    import_public_names(library)
    given = {}
    for identifier in sorted(loaded.types):
        module = split_identifier(identifier)[0]
        if journal.begins(f"importing {module}", identifier, module):
            with suppress(ValueError):  # doctor reports it
                given[identifier] = given_type(identifier)
    for name in request["functions"]:
        journal.begins(f"asking for {name}")
        journal.add("calls", (name, calls_of(Question(loaded.usable, name, ()), given)))
