"""The tasks of child processes for `verify` and `update`."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from itertools import chain
from typing import TYPE_CHECKING, Any

from .._errors import Finding, replace
from .._patterns import split_identifier
from .backend_file import read_file
from .description_check import DescriptionCheck
from .findings import error, to_record
from .function_check import check_callable
from .library_functions import LibraryFunctions
from .mentions import Mention, Role
from .variant_names import found_variants

if TYPE_CHECKING:
    from .child import Journal
    from .importing import Importer

_REMEDY = "Register a function that its module has under its own name"


def verify(request: dict[str, Any], journal: Journal) -> None:
    """Add each ``finding`` about a file, which is not read if the request has its ``text``."""
    file = read_file(request["file"], request["text"])
    name = file.fields.get("name")
    check = DescriptionCheck(file.mentions(), file.importer(), journal, name=name)
    for each in chain(check.findings(), check.unmentioned()):
        journal.add("finding", to_record(each))


def update(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``functions`` registered with the `BackendImplementation`, and each ``finding``.

    Without ``functions``, the findings say why there are none. If the request says ``prune``, all
    submodules are needed: the functions of one that cannot be imported here would be lost.
    """
    file = read_file(request["file"], request["text"])
    importer = file.importer()
    wanted = [each for each in file.mentions() if each.role in (Role.MODULE, Role.BACKEND)]
    check = DescriptionCheck(wanted, importer, journal, name=file.fields.get("name"))
    check.is_needed = True  # an update always needs the backend's code
    check.needs_submodules = request["prune"]
    findings = [*check.findings()]
    if all(each.is_unchecked for each in findings) and journal.begins("reading what is registered"):
        backend = importer.load(wanted[-1].text, is_needed=True)
        table = file.fields.get("functions", {}).get("auto-generation", {})
        distribution = str(table.get("variants_of") or "")
        functions = {
            key: {**_fields(each), **found_variants(each.identifier, distribution)}
            for key, each in backend.functions.items()
        }
        journal.add("functions", functions)
        findings += [
            *_implementation_faults(backend, importer),
            *_function_faults(backend, importer, journal),
        ]
    for each in findings:
        journal.add("finding", to_record(each))


def _fields(registered: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"function": registered.identifier}
    if registered.should_run is not None:
        fields["should_run"] = registered.should_run
    fields["uses_context"] = registered.uses_context
    docs = _first_paragraph(registered.function)
    return {**fields, "additional_docs": docs} if docs else fields


def _implementation_faults(backend: Any, importer: Importer) -> Iterator[Finding]:
    """Yield faults of the identifiers of registered implementations."""
    for identifier, each in backend.functions.items():
        key = f'functions."{identifier}"'
        found = importer.load(each.identifier, is_needed=True)
        # Compare with ==, too: each access to a bound method creates a new object.
        if isinstance(found, Finding):
            yield replace(found, key=key, remedy=_REMEDY)
        elif found is not each.function and found != each.function:
            message = f"{each.identifier!r} does not lead to the registered function"
            yield replace(error(message, _REMEDY), key=key)
        elif each.should_run is not None:
            mention = Mention(key, Role.SHOULD_RUN, each.should_run)
            asked = importer.load(each.should_run, is_needed=True)
            fault = asked if isinstance(asked, Finding) else check_callable(mention, asked, None)
            if fault is not None:
                yield replace(fault, key=key)


def _function_faults(backend: Any, importer: Importer, journal: Journal) -> Iterator[Finding]:
    """Yield a finding for each implemented function that the library does not have."""
    functions = LibraryFunctions(importer)
    for identifier, each in backend.functions.items():
        key = f'functions."{identifier}"'
        module = split_identifier(identifier)[0]
        if journal.begins(f"importing {module}", key, module):
            found = functions.check(identifier)
            if found is None:
                continue
            # The library need not be installed here: an unchecked function is no fault.
            if not found.is_unchecked:
                message = f"{found.message}, for which {each.identifier!r} is registered"
                found = replace(found, message=message)
            yield replace(found, key=key)


def _first_paragraph(function: Any) -> str:
    docs = getattr(function, "__doc__", None)
    copied = getattr(getattr(function, "__wrapped__", None), "__doc__", None)
    # A docstring that functools.wraps copied does not describe this implementation.
    if not isinstance(docs, str) or docs == copied:
        return ""
    lines = cleandoc(docs).partition("\n\n")[0].splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()
