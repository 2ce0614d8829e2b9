"""What would run for each function of a library, and for the types that its backends name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from .._identifiers import DEFAULT, split_identifier
from .._reporting.problems import Source, in_words
from .._resolution.explanation import Verdict
from .child import run
from .libraries import Library, import_public_names, load_library
from .packages import package_of, packages_of_sources
from .question import GivenType, Question, given_type

if TYPE_CHECKING:
    from .._resolution.explanation import ExplainedBackend
    from ..backend_system import BackendSystem
    from .child import Journal

LIMIT = 20_000
"""How many combinations of a function and types are asked for, of one library."""
LINES = 2_000_000
"""How many backends all answers together may be about: half a minute, more or less."""
_FEW = 20
"""Up to so many backends, answers also have those that do not match."""
# Compared by their values, because a library that vendors this package has an enum of its own.
_UNINVOLVED = (Verdict.NO_MATCH.value, Verdict.NO_IMPLEMENTATION.value)
_REFUSES, _ASKED = Verdict.REFUSES.value, Verdict.ASKED.value
UNDECIDED, REFUSED = -1, -2
"""Instead of the place of a backend: the arguments decide, or the call would be refused."""


@dataclass(slots=True)
class WhatRuns:
    """Answers to "what would run?", each text once; numbers are places in the lists.

    Parameters
    ----------
    types : list of dict
        Each with its ``name``, and a ``note`` if a stand-in or nothing took its place.
    combinations : list of list of int
        Of types: each alone, and pairs of primary types.
    functions : list of str
        Their identifiers.
    answers : list of list of int
        For each function, the outcome of each combination.
    outcomes : list of list
        Each with the backend that would run, `UNDECIDED` or `REFUSED`; its lines, of backend,
        verdict and reason; and the number of backends that do not take part and have no line.
    backends, verdicts, reasons : list of str
        The texts of the outcomes.
    left_out : int
        How many types were not asked for, because there were too many combinations.
    fault : str
        Why there are no answers.
    """

    types: list[dict[str, str]] = field(default_factory=list)
    combinations: list[list[int]] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    answers: list[list[int]] = field(default_factory=list)
    outcomes: list[list[Any]] = field(default_factory=list)
    backends: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    left_out: int = 0
    fault: str = ""


def what_runs(
    library: Library, functions: Sequence[str], *, limit: int = LIMIT, timeout: float = 60.0
) -> WhatRuns:
    """Ask for each function what would run; the types are imported in a child process.

    Parameters
    ----------
    library : Library
        The library.
    functions : sequence of str
        Identifiers of its functions, and of those that it has adopted.
    limit : int, optional
        How many combinations of a function and types are asked for. The types that most backends
        name come first, and pairs last.
    timeout : float, optional
        Seconds that a child process may take.
    """
    request = {
        "name": library.name,
        "identifier": library.identifier,
        "functions": [*functions],
        "limit": limit,
    }
    about = f"asking what runs in {library.name}"
    report = run(f"{__name__}:answer", request, about, limit=timeout)
    found = report.last("answers")
    if found is None:
        told = [f"{each.what} {each.how}" for each in report.endings]
        return WhatRuns(fault="; ".join(told) or report.last("fault", "nothing was answered"))
    return WhatRuns(**found)


def answer(request: dict[str, Any], journal: Journal) -> None:
    """Write down the ``answers``, or a ``fault``; runs in the child."""
    library = Library(request["name"], request["identifier"], Source())
    journal.begins(f"loading {library.name}")
    loaded = load_library(library, tries=False)
    if loaded.fault is not None:
        journal.add("fault", loaded.describe(loaded.fault))
        return
    import_public_names(library)
    system, names = loaded.usable, request["functions"]
    identifiers, primary = _types_of(system)
    limit = min(request["limit"], LINES // len(system.backends))
    room = max(1, limit // max(1, len(names)))
    found = WhatRuns(functions=names, left_out=len(identifiers[room:]))
    given = [_given(each, _untouchable(library, system), journal) for each in identifiers[:room]]
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
    """Return the types that backends name, and the primary ones among them.

    The library's own come first, then those of most backends.
    """
    descriptions = system.backends.values()
    own = {*_identifiers([system.backends[DEFAULT].primary_types])}
    primary = Counter(_identifiers(each.primary_types for each in descriptions))
    secondary = Counter(_identifiers(each.secondary_types for each in descriptions))
    names = {*primary, *secondary}

    def rank(name: str) -> tuple[bool, int, int, str]:
        return name not in own, -primary[name], -secondary[name], name

    return sorted(names, key=rank), {*primary}


def _identifiers(patterns: Iterable[Iterable[Any]]) -> Iterator[str]:
    for each in patterns:
        yield from {pattern.identifier for pattern in each}


def _untouchable(library: Library, system: BackendSystem) -> set[str]:
    """Return the top-level packages of backends that are blocked."""
    blocked = packages_of_sources(system._catalog().blocked.values())
    usable = packages_of_sources(each.source for each in system.backends.values())
    return blocked - usable - {package_of(library.identifier)}


def _given(identifier: str, untouchable: set[str], journal: Journal) -> GivenType | str:
    """Return a type, or why it is left out."""
    module = split_identifier(identifier)[0]
    if package_of(module) in untouchable:
        return "it belongs to a backend that is blocked"
    if not journal.begins(f"importing {module}", identifier, module):
        return f"importing {module} ended the interpreter"
    try:
        return given_type(identifier)
    except ValueError as error:
        return str(error)


def _ask_all(
    system: BackendSystem, given: Sequence[GivenType | str], found: WhatRuns, journal: Journal
) -> None:
    texts = _Texts(_Places(), _Places(), _Places())
    places: dict[Any, int] = {}
    chosen = [[given[place] for place in each] for each in found.combinations]
    combined = [tuple(each for each in one if isinstance(each, GivenType)) for one in chosen]
    for name in found.functions:
        journal.begins(f"asking for {name}")
        outcomes = (_outcome(Question(system, name, each), texts) for each in combined)
        found.answers.append([places.setdefault(each, len(places)) for each in outcomes])
    found.outcomes = [[selected, [*map(list, lines)], rest] for selected, lines, rest in places]
    found.backends, found.verdicts, found.reasons = map(list, texts)


def _outcome(question: Question, texts: _Texts) -> tuple[int, tuple[tuple[int, ...], ...], int]:
    """Return the answer to a question, as in `WhatRuns.outcomes`."""
    try:
        explained = question.ask()
    except Exception as error:  # noqa: BLE001  # a third party's class may raise anything
        return UNDECIDED, ((-1, -1, texts.reasons.place(in_words(error))),), 0
    lines = explained.backends
    verdicts = {each.verdict.value for each in lines}
    if len(lines) > _FEW:
        lines = tuple(each for each in lines if each.verdict.value not in _UNINVOLVED)
    selected = UNDECIDED
    if explained.selected is not None:
        selected = texts.backends.place(explained.selected)
    elif _REFUSES in verdicts and _ASKED not in verdicts:
        selected = REFUSED
    return selected, tuple(map(texts.line, lines)), len(explained.backends) - len(lines)


class _Places(dict[str, int]):
    """Texts, each with its place in the list of them."""

    def place(self, text: str) -> int:
        return self.setdefault(text, len(self))


class _Texts(NamedTuple):
    """The texts of all outcomes."""

    backends: _Places
    verdicts: _Places
    reasons: _Places

    def line(self, each: ExplainedBackend) -> tuple[int, int, int]:
        return (
            self.backends.place(each.backend),
            self.verdicts.place(each.verdict.value),
            self.reasons.place(each.reason),
        )
