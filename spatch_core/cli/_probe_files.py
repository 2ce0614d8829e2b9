"""What the child process does for `verify` and `update`: imports what a file names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import cleandoc
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ._examination import Examination
from ._examined_functions import check_callable
from ._examined_imports import Fault, Importer
from ._findings import Severity
from ._mentions import Mention, Role
from ._sources import BackendFile, find_requirements, read_file

if TYPE_CHECKING:
    from ._child import Journal

_REMEDY = "Register a function that its module has under its own name"


def verify(request: dict[str, Any], journal: Journal) -> None:
    """Report everything that is wrong with what a file names.

    Parameters
    ----------
    request : dict
        ``file``, its path.
    journal : Journal
        Gets each ``fault``: the key, and the fields of a `Fault`.
    """
    file = read_file(request["file"])
    for key, fault in _examination(file, file.mentions(), journal).faults():
        journal.add("fault", (key, *fault))


def update(request: dict[str, Any], journal: Journal) -> None:
    """Report all that the `BackendImplementation` has which a file names.

    Parameters
    ----------
    request : dict
        ``file``, its path.
    journal : Journal
        Gets each ``fault``, as above, and ``functions``, the fields of each.
    """
    file = read_file(request["file"])
    wanted = [each for each in file.mentions() if each.role in (Role.MODULE, Role.BACKEND)]
    examination = _examination(file, wanted, journal)
    examination.is_needed = True  # on any machine
    faults = [*examination.faults()]
    if not faults and journal.begins("reading what is registered"):
        backend = examination.importer.load(wanted[-1].text, is_needed=True)
        journal.add("functions", {key: _fields(each) for key, each in backend.functions.items()})
        faults = [*_registered(backend, examination.importer)]
    for key, fault in faults:
        journal.add("fault", (key, *fault))


def _examination(file: BackendFile, mentions: Iterable[Mention], journal: Journal) -> Examination:
    folder = file.folder()
    own = [] if folder is None else [each.name for each in iter_modules([folder])]
    nowhere = file.packages() if folder is None else ()
    importer = Importer(own, find_requirements(file.path), nowhere=nowhere)
    return Examination(mentions, importer, journal, name=file.fields.get("name"))


def _fields(registered: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"function": registered.identifier}
    if registered.should_run is not None:
        fields["should_run"] = registered.should_run
    fields["uses_context"] = registered.uses_context
    docs = _first_paragraph(registered.function)
    return {**fields, "additional_docs": docs} if docs else fields


def _registered(backend: Any, importer: Importer) -> Iterator[tuple[str, Fault]]:
    """Yield what is wrong with the identifiers of what is registered."""
    for identifier, each in backend.functions.items():
        key = f'functions."{identifier}"'
        found = importer.load(each.identifier, is_needed=True)
        # Bound methods are made anew each time.
        if isinstance(found, Fault):
            yield key, found._replace(remedy=_REMEDY)
        elif found is not each.function and found != each.function:
            message = f"{each.identifier!r} leads to something else than what was registered"
            yield key, Fault(Severity.ERROR, message, _REMEDY)
        elif each.should_run is not None:
            mention = Mention(key, Role.SHOULD_RUN, each.should_run)
            asked = importer.load(each.should_run, is_needed=True)
            fault = asked if isinstance(asked, Fault) else check_callable(mention, asked, None)
            if fault is not None:
                yield key, fault


def _first_paragraph(function: Any) -> str:
    docs = getattr(function, "__doc__", None)
    copied = getattr(getattr(function, "__wrapped__", None), "__doc__", None)
    # What functools.wraps has copied says nothing about this implementation.
    if not isinstance(docs, str) or docs == copied:
        return ""
    lines = cleandoc(docs).partition("\n\n")[0].splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()
