"""A question to the core about a call: its function, its types, and the options around it.

The last part asks for all functions of a library at once, in a child, for the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .._decide import Verdict
from .._errors import Source, in_words
from .._matching import Matcher
from .._patterns import DEFAULT, import_identifier, loaded_object, split_identifier
from .child import foreign_code, import_failure, progress, run
from .importing import functions_near, package_of
from .libraries import (
    Library,
    LoadedLibrary,
    adopted_name,
    find_libraries,
    import_public_names,
    is_adopted,
    load_library,
)

if TYPE_CHECKING:
    from .._explain import Explanation
    from ..backend_system import BackendSystem
    from .child import Journal


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

    def ask(self) -> Explanation:
        """Return the explanation of the core, under the options.

        Raises
        ------
        ValueError, TypeError
            If an option names a backend or a type that does not exist.
        """
        options = self.options
        types = [each.type for each in self.types]
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
            return self.system.explain_types(self.function, types)


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


# --- What runs for the types that backends name --------------------------------------------------

LIMIT = 20_000
"""The largest number of combinations of a function with types, for one library."""
LINES = 2_000_000
"""The largest number of verdicts in all answers together, which take about half a minute."""
_FEW = 20
"""The largest number of backends with which answers include those that do not match."""
# Values, because a library that vendors this package has an enum of its own.
_UNINVOLVED = (Verdict.NO_MATCH.value, Verdict.NO_IMPLEMENTATION.value)
_REFUSES, _ASKED = Verdict.REFUSES.value, Verdict.ASKED.value
UNDECIDED, REFUSED = -1, -2
"""In place of a backend: the arguments decide, or the call would be refused."""


@dataclass(slots=True)
class WhatRuns:
    """Answers to "what would run?", in which equal outcomes and texts are stored once.

    Integers are indices into the other lists.
    """

    # Each with its ``name``, and a ``note`` if it is a stand-in or was left out.
    types: list[dict[str, str]] = field(default_factory=list)
    combinations: list[list[int]] = field(default_factory=list)  # single types, pairs of primary
    functions: list[str] = field(default_factory=list)
    answers: list[list[int]] = field(default_factory=list)  # by function and combination
    # Each with the backend that would run, `UNDECIDED` or `REFUSED`; triples of backend, verdict
    # and reason; and the number of backends that have none.
    outcomes: list[list[Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # the backends, verdicts and reasons
    left_out: int = 0  # types, because there were too many combinations
    fault: str = ""  # why there are no answers


def what_runs(library: Library, functions: Sequence[str], *, timeout: float = 60.0) -> WhatRuns:
    """Ask what would run for each function of a library; a child process imports the types.

    If there are too many combinations, pairs of types are left out first, then the types that few
    backends name.
    """
    name, identifier = library.name, library.identifier
    request = {"name": name, "identifier": identifier, "functions": [*functions]}
    about = f"asking what runs in {library.name}"
    report = run(f"{__name__}:answer", request, about, limit=timeout)
    found = report.last("answers")
    if found is None:
        endings = [*map(str, report.endings)]
        return WhatRuns(fault="; ".join(endings) or report.last("fault", "nothing was answered"))
    return WhatRuns(**found)


def answer(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``answers``, or a ``fault``; called in the child."""
    library = Library(request["name"], request["identifier"], Source())
    journal.begins(f"loading {library.name}")
    loaded = load_library(library)
    if loaded.fault is not None:
        journal.add("fault", loaded.describe(loaded.fault))
        return
    import_public_names(library)
    system, names = loaded.usable, request["functions"]
    identifiers, primary = _types_of(system)
    limit = min(LIMIT, LINES // len(system.backends))
    room = max(1, limit // max(1, len(names)))
    found = WhatRuns(functions=names, left_out=len(identifiers[room:]))
    given = [_given(each, journal) for each in identifiers[:room]]
    found.types = [
        {"name": name, "note": each if isinstance(each, str) else each.note}
        for name, each in zip(identifiers, given, strict=False)
    ]
    usable = [place for place, each in enumerate(given) if isinstance(each, GivenType)]
    pairs = combinations([each for each in usable if identifiers[each] in primary], 2)
    found.combinations = [*([each] for each in usable), *map(list, pairs)][:room]
    _ask_all(system, given, found, journal)
    journal.add("answers", asdict(found))


def _types_of(system: BackendSystem) -> tuple[list[str], set[str]]:
    """Return the types that backends name, and the set of primary types.

    The library's own types come first, then the types of most backends.
    """
    descriptions = system.backends.values()
    own = {pattern.identifier for pattern in system.backends[DEFAULT].primary_types}
    primary = {pattern.identifier for each in descriptions for pattern in each.primary_types}
    counts = Counter(pattern.identifier for each in descriptions for pattern in each.known_types)
    return sorted(counts, key=lambda name: (name not in own, -counts[name], name)), primary


def _given(identifier: str, journal: Journal) -> GivenType | str:
    """Return a type, or the reason for leaving it out."""
    module = split_identifier(identifier)[0]
    if not journal.begins(f"importing {module}", identifier, module):
        return f"importing {module} ended the interpreter"
    try:
        return given_type(identifier)
    except ValueError as error:
        return str(error)


def _ask_all(
    system: BackendSystem, given: Sequence[GivenType | str], found: WhatRuns, journal: Journal
) -> None:
    texts = _Places()
    places: dict[Any, int] = {}
    chosen = [[given[place] for place in each] for each in found.combinations]
    combined = [tuple(each for each in one if isinstance(each, GivenType)) for one in chosen]
    for name in found.functions:
        journal.begins(f"asking for {name}")
        outcomes = (_outcome(Question(system, name, each), texts) for each in combined)
        found.answers.append([places.setdefault(each, len(places)) for each in outcomes])
    found.outcomes = [[selected, [*map(list, lines)], rest] for selected, lines, rest in places]
    found.texts = list(texts)


class _Places(dict[str, int]):
    """Texts with their indices."""

    def place(self, text: str) -> int:
        return self.setdefault(text, len(self))


def _outcome(question: Question, texts: _Places) -> tuple[int, tuple[tuple[int, ...], ...], int]:
    """Return the answer to a question as one of `WhatRuns.outcomes`."""
    try:
        explained = question.ask()
    except Exception as error:  # noqa: BLE001  # a third party's class
        return UNDECIDED, ((-1, -1, texts.place(in_words(error))),), 0
    lines = [(each.backend, each.verdict.value, each.reason) for each in explained.backends]
    verdicts = {verdict for _, verdict, _ in lines}
    if len(lines) > _FEW:
        lines = [each for each in lines if each[1] not in _UNINVOLVED]
    selected = UNDECIDED
    if explained.selected is not None:
        selected = texts.place(explained.selected)
    elif _REFUSES in verdicts and _ASKED not in verdicts:
        selected = REFUSED
    placed = tuple(tuple(map(texts.place, each)) for each in lines)
    return selected, placed, len(explained.backends) - len(lines)
