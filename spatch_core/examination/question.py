"""A question to the core about a call: its function, its types, and the options around it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from .._decide import Verdict
from .._matching import Matcher
from .._patterns import DEFAULT, import_identifier, loaded_object, split_identifier
from .child import foreign_code, import_failure, progress
from .importing import functions_near, package_of
from .libraries import (
    LoadedLibrary,
    adopted_name,
    find_libraries,
    import_public_names,
    is_adopted,
    load_library,
)

if TYPE_CHECKING:
    from .._explain import ExplainedBackend, Explanation
    from ..backend_system import BackendSystem


@dataclass(frozen=True, slots=True)
class GivenType:
    """A type given by its identifier."""

    identifier: str  # as the user gave it
    type: type  # the type itself, or a stand-in with the same module and qualname
    note: str = ""  # about the stand-in; empty for the type itself


def given_type(identifier: str) -> GivenType:
    """Import a type; if its module cannot be imported, create a stand-in.

    Raises
    ------
    ValueError
        If the identifier names no type.
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
        given = [
            f"{key}={names[0]!r}" if len(names) == 1 else f"{key}={list(names)!r}"
            for key, names in (("prioritize", self.prioritize), ("disable", self.disable))
            if names
        ]
        if self.type is not None:
            given.append(f"type={self.type.identifier.replace(':', '.')}")
        if self.fallback is not None:
            given.append(f"fallback={self.fallback!r}")
        if self.backend is not None:
            given.append(f"backend={self.backend!r}")
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

    def ask(self, variables: Mapping[str, str] | None = None) -> Explanation:
        """Return the explanation of the core, under the options and with environment variables.

        Raises
        ------
        ValueError, TypeError
            If an option names a backend or a type that does not exist.
        """
        options = self.options
        types = [each.type for each in self.types]
        assumed = None if options.type is None else options.type.type
        with (
            environment(self.system, variables or {}),
            foreign_code(self.system),
            self.system.backend_opts(
                options.prioritize,
                options.disable,
                assumed,
                fallback=options.fallback,
                backend=options.backend,
            ),
        ):
            return self.system.explain_types(self.function, types)


class Attempt(str, Enum):
    """The outcome of an attempt to make a backend run."""

    RUNS = "runs"
    ASKED = "its should_run decides"
    WOULD = "would run"
    CANNOT = "cannot run"
    UNREAD = "is not read"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to make a backend run."""

    question: Question  # with the options and types under which the backend runs
    variables: Mapping[str, str]  # environment variables to set
    outcome: Attempt  # `RUNS`, or `ASKED` if the arguments decide
    text: str  # the remedy in words

    def as_json(self) -> dict[str, Any]:
        """Return the fields as ``explain --json`` prints them."""
        return {
            **self.question.options.as_json(),
            "types": [each.identifier for each in self.question.types],
            "environment": dict(self.variables),
            "outcome": self.outcome.value,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a backend does not run in a call, and the ways to make it run."""

    backend: str
    outcome: Attempt  # `RUNS` or `ASKED` as things are, `WOULD` with any remedy, or `CANNOT`
    reason: str = ""  # why it does not run; empty if it does
    remedies: Sequence[Remedy] = ()  # the simplest first
    obstacles: Sequence[str] = ()  # changes that no option or variable can make

    def as_json(self) -> dict[str, Any]:
        """Return the fields as ``explain --json`` prints them."""
        return {
            "backend": self.backend,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "remedies": [each.as_json() for each in self.remedies],
            "obstacles": list(self.obstacles),
        }


def attempt_of(explanation: Explanation, backend: str) -> Attempt | None:
    """Return whether the backend runs or is asked first; None if another backend goes first."""
    if explanation.selected == backend:
        return Attempt.RUNS
    return Attempt.ASKED if contenders(explanation)[:1] == [backend] else None


def contenders(explanation: Explanation) -> list[str]:
    """Return the backends that run, convert or are asked, in order."""
    verdicts = (Verdict.RUNS, Verdict.ASKED, Verdict.CONVERTS)
    return [each.backend for each in explanation.backends if each.verdict in verdicts]


def explained(explanation: Explanation, backend: str) -> ExplainedBackend:
    """Return the verdict about one backend."""
    found = [each for each in explanation.backends if each.backend == backend]
    # A backend may have two verdicts: as an implementation, and at last as a conversion.
    converting = (Verdict.CONVERTS, Verdict.CANNOT_CONVERT)
    return next((each for each in found if each.verdict in converting), found[0])


@contextmanager
def environment(system: BackendSystem, variables: Mapping[str, str]) -> Iterator[None]:
    """Let a library see environment variables as if the process had started with them.

    The system discovers its backends again at the start and at the end.
    """
    if not variables:
        yield
        return
    before = {name: os.environ.get(name) for name in variables}
    try:
        os.environ.update(variables)
        with foreign_code(system):
            system.reload()
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        with foreign_code(system):
            system.reload()


# --- The function of a question -------------------------------------------------------------------


class UnknownFunctionError(Exception):
    """No library has this function."""


class LibraryError(Exception):
    """A library cannot be used."""


def import_homes(system: BackendSystem, types: Iterable[GivenType]) -> None:
    """Import the modules of all type patterns if a type is no primary type of any backend.

    In a program that has such objects these modules may be imported, and one of them may make a
    class of a pattern a base class of the type.
    """
    matcher = Matcher(system.backends)
    with foreign_code(system):
        matches = [matcher.match(each.type) for each in types if not each.note]
    if all(each.primary or each.is_builtin for each in matches):
        return
    modules = {
        pattern.module
        for description in system.backends.values()
        for pattern in description.known_types
    }
    for module in sorted(modules):
        with progress(f"importing {module}"):
            import_failure(module)


def find_function(wanted: str, types: Iterable[str] = ()) -> tuple[LoadedLibrary, str]:
    """Find a function by its identifier, or by another name of the same object, and its library.

    The identifiers of the dispatch `types` decide between several libraries that have adopted the
    function, such as one of NumPy's. Raises `UnknownFunctionError` if no library has the function,
    and `LibraryError` if the library of this package cannot be used.
    """
    failure = import_failure(split_identifier(wanted)[0])
    libraries = [load_library(each) for each in find_libraries()]
    found = _search(libraries, wanted)
    if found is None:
        # A library may import the function's module lazily.
        for each in libraries:
            if each.system is not None:
                import_public_names(each.library)
        found = _search(libraries, wanted) or _adopting(libraries, wanted, types)
    if found is None:
        raise _not_found(libraries, wanted, failure)
    return found


def _search(libraries: list[LoadedLibrary], wanted: str) -> tuple[LoadedLibrary, str] | None:
    named = loaded_object(*split_identifier(wanted))
    for loaded in libraries:
        functions = {} if loaded.system is None else loaded.system.functions
        for identifier, function in functions.items():
            if identifier == wanted or function is named:
                return loaded, identifier
    return None


def _adopting(
    libraries: list[LoadedLibrary], wanted: str, types: Iterable[str]
) -> tuple[LoadedLibrary, str] | None:
    """Return the library that has adopted a function; of several, the one that knows a type."""
    named = loaded_object(*split_identifier(wanted))
    adopting = []
    for each in libraries:
        if each.system is not None:
            identifier = adopted_name(each.system, named)
            if is_adopted(each.system, wanted):
                identifier = wanted
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


def _not_found(libraries: list[LoadedLibrary], wanted: str, failure: str) -> Exception:
    package = package_of(wanted)
    known: list[str] = []
    for each in libraries:
        if each.fault is not None and package_of(each.library.identifier) == package:
            return LibraryError(each.describe(each.fault))
        if each.system is not None:
            known += each.system.functions
    text = f"no library has a function {wanted!r}"
    if failure:
        text += f" ({failure})"
    near = functions_near(wanted, known)
    if near:
        text += f"; did you mean {' or '.join(near)}?"
    return UnknownFunctionError(text)
