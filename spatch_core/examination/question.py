"""A question to the core about a call: its function, its types, and the options around it.

First comes what people name: types and functions, as in a program. The last part asks for all
functions of a library at once, in a child, for the report.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .._decide import Verdict
from .._errors import Source, in_words, nearest
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
        if each.fault is not None and package_of(each.library.identifier) == package_of(text):
            raise LibraryError(each.describe(each.fault))
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
    return UnknownNameError(f"no library has a function {text!r}{why and f' ({why})'}{hint}")


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


def what_runs(
    library: Library, functions: Sequence[str], *, timeout: float = 60.0
) -> dict[str, Any]:
    """Ask what would run for each function of a library; a child process imports the types.

    If there are too many combinations, pairs of types are left out first, then the types that few
    backends name. Equal outcomes and texts are stored once; other lists have indices into theirs:

    - ``types``: each with its ``name``, and a ``note`` if it is a stand-in or was left out;
    - ``combinations`` of types: single ones, and pairs of primary types;
    - ``answers``: lists of outcomes, by function and combination;
    - ``outcomes``: the backend that would run, `UNDECIDED` or `REFUSED`; triples of backend,
      verdict and reason; and the number of backends that have none;
    - ``left_out``: the number of types that were left out;
    - ``fault``: why there are no answers; then the lists are empty.
    """
    name, identifier = library.name, library.identifier
    request = {"name": name, "identifier": identifier, "functions": [*functions]}
    about = f"asking what runs in {library.name}"
    report = run(f"{__name__}:answer", request, about, limit=timeout)
    endings = "; ".join(map(str, report.endings))
    fault = endings or report.last("fault", "nothing was answered")
    lists = ("types", "combinations", "functions", "answers", "outcomes", "texts")
    nothing: dict[str, Any] = {**{each: [] for each in lists}, "left_out": 0, "fault": fault}
    found: dict[str, Any] = report.last("answers", nothing)
    return found


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
    room = max(1, min(LIMIT, LINES // len(system.backends)) // max(1, len(names)))
    given = [_given(each, journal) for each in identifiers[:room]]
    usable = {place: each for place, each in enumerate(given) if isinstance(each, GivenType)}
    pairs = combinations([each for each in usable if identifiers[each] in primary], 2)
    chosen = [*([each] for each in usable), *map(list, pairs)][:room]
    combined = [tuple(usable[place] for place in places) for places in chosen]
    texts: dict[str, int] = {}
    outcomes: dict[Any, int] = {}
    answers = []
    for name in names:
        journal.begins(f"asking for {name}")
        found = (_outcome(Question(system, name, each), texts) for each in combined)
        answers.append([outcomes.setdefault(each, len(outcomes)) for each in found])
    described = [
        {"name": name, "note": each if isinstance(each, str) else each.note}
        for name, each in zip(identifiers, given, strict=False)
    ]
    everything = {
        "types": described,
        "combinations": chosen,
        "functions": names,
        "answers": answers,
        "outcomes": [*outcomes],
        "texts": [*texts],
        "left_out": len(identifiers[room:]),
        "fault": "",
    }
    journal.add("answers", everything)


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


def _outcome(
    question: Question, texts: dict[str, int]
) -> tuple[int, tuple[tuple[int, ...], ...], int]:
    """Return the answer to a question as one of the ``outcomes``; `texts` gets what it says."""

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    try:
        explained = question.ask()
    except Exception as error:  # noqa: BLE001  # a third party's class
        return UNDECIDED, ((-1, -1, place(in_words(error))),), 0
    lines = [(each.backend, each.verdict.value, each.reason) for each in explained.backends]
    verdicts = {verdict for _, verdict, _ in lines}
    if len(lines) > _FEW:
        lines = [each for each in lines if each[1] not in _UNINVOLVED]
    selected = UNDECIDED
    if explained.selected is not None:
        selected = place(explained.selected)
    elif _REFUSES in verdicts and _ASKED not in verdicts:
        selected = REFUSED
    placed = tuple(tuple(map(place, each)) for each in lines)
    return selected, placed, len(explained.backends) - len(lines)
