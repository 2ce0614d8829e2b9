"""The examination of one backend, in a process of its own: everything it names is imported.

Run by `_examiner`, which also sees to it that nothing but this backend is touched. What is
about to be done is written down first, so that a crash can be told from what went before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from re import match
from typing import TYPE_CHECKING, Any

from .._identifiers import DEFAULT, import_identifier, split_identifier
from .._problems import Source
from ._backends import list_backends
from ._examined_functions import ExaminedFunctions
from ._examined_imports import Fault, Importer
from ._examined_types import check_pattern, check_reach
from ._findings import Finding, Severity
from ._libraries import (
    Library,
    LoadedLibrary,
    find_libraries,
    foreign_code,
    import_public_names,
    load_library,
)

if TYPE_CHECKING:
    from .._description import Description
    from ..backend_system import BackendSystem


def main(request: str) -> None:
    """Do what the parent process asks for.

    Parameters
    ----------
    request : str
        JSON with ``task``, one of ``census``, ``discovery`` and ``backend``; ``library``, the
        name of its entry point; ``report``, the file to write to; for ``backend`` also
        ``backend``, its name, and ``skip``, modules not to be imported.
    """
    asked = json.loads(request)
    with open(asked["report"], "a", encoding="utf-8") as stream:

        def report(kind: str, value: Any) -> None:
            stream.write(json.dumps({kind: value}) + "\n")
            stream.flush()

        library = next(each for each in find_libraries() if each.name == asked["library"])
        report("step", {"keys": [], "what": f"importing the library {library.name}", "module": ""})
        if asked["task"] == "census":
            _block_all(library)
        loaded = load_library(library)
        if asked["task"] == "census":
            for finding in _census(loaded, report):
                report("finding", finding.as_json())
        elif asked["task"] == "discovery":
            for finding in _discovery(loaded):
                report("finding", finding.as_json())
            report("backends", _states(loaded))
        elif loaded.system is not None:
            import_public_names(library)
            description = loaded.system.backends.get(asked["backend"])
            if description is not None:
                examination = Examination(loaded, loaded.system, description, asked["skip"], report)
                for finding in examination.findings():
                    report("finding", finding.as_json())
        report("done", True)


def _block_all(library: Library) -> None:
    """Block every backend before any is discovered: that one may end the process."""
    with foreign_code(), suppress(BaseException):  # `load_library` will say what is wrong
        system: Any = import_identifier(library.identifier)
        os.environ[f"{system.environment_prefix}_BLOCK"] = "*"


def _census(loaded: LoadedLibrary, report: Any) -> Iterator[Finding]:
    """Report which backends there are; all are blocked, so that nothing of them is read."""
    if loaded.system is None:
        assert loaded.fault is not None  # one of the two is there
        yield Finding.of_problem(loaded.fault, Severity.ERROR)
        return
    catalog = loaded.system.resolver().catalog
    sources = {**catalog.blocked, DEFAULT: loaded.library.source}
    names = [DEFAULT, *sorted(catalog.blocked)]
    found = {name: _source_fields(sources[name], loaded) for name in names}
    report("census", {"prefix": loaded.system.environment_prefix, "backends": found})


def _discovery(loaded: LoadedLibrary) -> Iterator[Finding]:
    usable = {} if loaded.system is None else loaded.system.backends
    for problem in loaded.problems:
        # Skipped, while another one of its name is used; or about a variable.
        minor = problem.backend in usable or (problem.backend is None and problem.key is not None)
        yield Finding.of_problem(problem, Severity.WARNING if minor else Severity.ERROR)


def _states(loaded: LoadedLibrary) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "state": each.state.value, **_source_fields(each.source, loaded)}
        for each in list_backends(loaded)
    ]


def _source_fields(source: Source, loaded: LoadedLibrary) -> dict[str, str | None]:
    home = loaded.library.source if source.entry_point is None else source
    return {
        "entry_point": home.entry_point,
        "file": home.file,
        "distribution": home.distribution,
        "version": home.version,
    }


class Examination:
    """Examines one backend: its types, its implementations, what it asks first.

    Parameters
    ----------
    loaded : LoadedLibrary
        The library, with all its functions imported.
    system : BackendSystem
        Its system.
    description : Description
        Of the backend, or of the library itself.
    skip : list of str
        Modules not to be imported, because they have ended the process before.
    report : callable
        Takes the kind and the value of what is to be written down.
    """

    def __init__(
        self,
        loaded: LoadedLibrary,
        system: BackendSystem,
        description: Description,
        skip: list[str],
        report: Any,
    ) -> None:
        self.system = system
        self.description = description
        self.skip = skip
        self.report = report
        self.library = split_identifier(loaded.library.identifier)[0]
        source = description.source
        self.source = loaded.library.source if source.entry_point is None else source
        blocked = system.resolver().catalog.blocked.values()
        own = {self.library.partition(".")[0], *_packages([source])}
        self.importer = Importer(own, _requirements(self.source), _packages(blocked))

    def findings(self) -> Iterator[Finding]:
        """Yield everything that is wrong."""
        description = self.description
        # First, while as little as possible has been imported: their imports are timed.
        patterns = [
            (f"{field}[{position}]", pattern)
            for field in ("primary_types", "secondary_types")
            for position, pattern in enumerate(getattr(description, field))
        ]
        for key, pattern in sorted(patterns, key=lambda pair: pair[1].prefix != "@"):
            if self.begins(key, pattern.module, f"importing {pattern.module}"):
                for fault in check_pattern(pattern, self.importer, self.library):
                    yield self.finding(key, fault)
        descriptions = self.system.backends
        default = descriptions[DEFAULT]
        if description is not default:
            names = list(descriptions)
            first = names.index(description.name) < names.index(DEFAULT)
            for fault in check_reach(description, default, first):
                yield self.finding("requires_opt_in", fault)
        functions = ExaminedFunctions(self.system, description, self.importer, self.begins)
        for key, fault in functions.faults():
            yield self.finding(key, fault)

    def begins(self, key: str, module: str, what: str) -> bool:
        """Write down what comes next; False if it has ended the process before."""
        self.report("step", {"keys": [key], "what": what, "module": module})
        return module not in self.skip

    def finding(self, key: str, fault: Fault) -> Finding:
        """Return a fault of this backend as a finding."""
        finding = Finding(
            fault.severity, fault.message, fault.remedy, self.description.name, (key,)
        )
        return finding.at(self.source)


def _packages(sources: Any) -> set[str]:
    """Return the top-level packages that entry points name."""
    found = set()
    for source in sources:
        named = match(r"\s*[^=]*=\s*(\w+)", source.entry_point or "")
        if named:
            found.add(named[1])
    return found


def _requirements(source: Source) -> list[str]:
    try:
        texts = source.metadata.requires or ()
    except Exception:  # noqa: BLE001  # a third party's metadata, or none
        return []
    found = (match(r"[\w.-]+", text) for text in texts)
    return [each[0] for each in found if each]
