"""What would run for each function of a library, for the types that its backends name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .._decide import Verdict
from .._errors import Source, in_words
from .._patterns import DEFAULT, split_identifier
from .child import run
from .libraries import Library, import_public_names, load_library
from .question import GivenType, Question, given_type

if TYPE_CHECKING:
    from ..backend_system import BackendSystem
    from .child import Journal

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


def what_runs(
    library: Library, functions: Sequence[str], *, limit: int = LIMIT, timeout: float = 60.0
) -> WhatRuns:
    """Ask what would run for each function of a library; a child process imports the types.

    If the number of combinations exceeds `limit`, pairs of types are left out first, then the
    types that few backends name.
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
        endings = [*map(str, report.endings)]
        return WhatRuns(fault="; ".join(endings) or report.last("fault", "nothing was answered"))
    return WhatRuns(**found)


def answer(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``answers``, or a ``fault``; called in the child."""
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
