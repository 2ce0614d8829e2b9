"""``spatch-core list`` and ``show``: libraries, backends and functions as they are.

Each is one object for JSON, of which the tables are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from .._description import AUTO_GENERATION, EVERY
from .._environment import PRIORITIZE, SET_ORDER, SUFFIXES
from .._errors import ended
from .._order import ENVIRONMENT
from .._patterns import DEFAULT
from ..examination.doctor import without_repeated_cycles
from ..examination.findings import source_as_json
from ..examination.libraries import (
    BY_TYPES,
    ListedBackend,
    LoadedLibrary,
    State,
    edges_as_json,
    find_libraries,
    functions_of_every,
    is_adopted,
    list_backends,
    names_of_backends,
    unusable_backends,
)
from ..examination.question import find_function, function_named
from .arguments import (
    NO_LIBRARY,
    complete_any,
    complete_libraries,
    json_option,
    loaded_libraries,
    meant,
    naming,
    usable_library,
)
from .output import (
    Cell,
    Column,
    Notes,
    Part,
    Table,
    closing,
    counted,
    distribution,
    show,
    show_json,
)

if TYPE_CHECKING:
    from .._description import Description, Implementation
    from ..backend_system import BackendSystem

Json = dict[str, Any]

STATE_STYLES: dict[str, str] = {
    State.ACTIVE: "green",
    State.WAITS: "yellow",
    State.NEEDS_OPT_IN: "yellow",
    State.INACTIVE: "yellow",
    State.BLOCKED: "dim",
    State.BROKEN: "bold red",
}
"""The style of each state in a terminal."""
_LISTED = (
    Column("backend"),
    Column("state", styles=STATE_STYLES),
    Column("types"),
    Column("functions", is_number=True),
    Column("distribution", is_hyphenated=True),
)
_ORDER = (
    Column("#", is_number=True),
    Column("backend"),
    Column("types"),
    Column("remark", is_prose=True),
)
_FUNCTIONS = (Column("function"), Column("implemented by", is_prose=True))
_FIELDS = (Column("field"), Column("value", is_prose=True))
_IMPLEMENTATIONS = (Column("implementation"), Column("should_run"), Column("context"))
_LABELS = {
    "auto_generation": f"functions.{AUTO_GENERATION}",
    "every": f'functions."{EVERY}"',
    "entry_point": "entry point",
    "is_dispatchable": "is dispatchable",
    "not_installed": "not installed",
}
"""The names of fields; those of a description have the keys of its file."""


# list


@click.command(
    "list",
    help="""Show the backends of LIBRARY, or of all libraries, by priority.

Each backend has its state, its primary types, the number of its functions, and its
distribution. Problems follow. In a pipe, a backend has a complete line for each type.""",
    epilog="""\b
Examples:
  spatch-core list
  spatch-core list scipy_dispatch --json

Exit code 1 if there are problems.""",
)
@click.argument("library", required=False, shell_complete=complete_libraries)
@json_option
@click.pass_context
def list_command(context: click.Context, library: str | None, as_json: bool) -> None:
    """Run ``spatch-core list``."""
    loaded = loaded_libraries(library)
    if as_json:
        show_json({"libraries": [listed_as_json(each) for each in loaded]})
    else:
        show([*(part for each in loaded for part in _listed(each)), *_closing(loaded)])
    context.exit(1 if any(each.problems for each in loaded) else 0)


def _listed(loaded: LoadedLibrary) -> list[Part]:
    record = listed_as_json(loaded)
    version = distribution(loaded.library.source)
    number = record["functions"]
    said = [version, "" if number is None else counted(number, "function")]
    parts: list[Part] = [f"{record['name']}  {', '.join(filter(None, said))}"]
    rows = [
        (
            loaded.shown(each["name"]),
            each["state"],
            tuple(each["primary_types"] or ()),
            "" if each["functions"] is None else str(each["functions"]),
            " ".join(filter(None, (each["distribution"], each["version"]))),
        )
        for each in record["backends"]
    ]
    if rows:
        parts.append(Table(_LISTED, rows))
    if record["backend"] is not None:
        parts.append(f"Current backend: {loaded.shown(record['backend'])}")
    remarked = (State.ACTIVE, State.BROKEN)  # broken ones are among the problems
    idle = [each for each in list_backends(loaded) if each.state not in remarked]
    return [*parts, state_notes("Not active", idle)]


def state_notes(title: str, unused: Iterable[ListedBackend]) -> Notes:
    """Return the reasons why backends are not used; backends with the same one share a line."""
    names: dict[str, list[str]] = {}
    for each in unused:
        names.setdefault(f"({each.state.value}): {each.reason}", []).append(each.name)
    return Notes(title, [f"{', '.join(found)} {reason}" for reason, found in names.items()])


def _closing(loaded: list[LoadedLibrary]) -> list[Part]:
    if not loaded:
        return [NO_LIBRARY]
    states = Counter(each.state for library in loaded for each in list_backends(library))
    text = counted(sum(states.values()), "backend")
    if len(loaded) > 1:
        text = f"{counted(len(loaded), 'library')}, {text}"
    counts = ", ".join(f"{states[each]} {each.value}" for each in State if states[each])
    problems = ((each.library.name, each.problems) for each in loaded)
    return closing(f"{text}: {counts}" if counts else text, *problems)


def listed_as_json(loaded: LoadedLibrary) -> Json:
    """Return a library as ``list --json`` prints it."""
    system = loaded.system
    where = source_as_json(loaded.library.source)
    del where["file"]
    return {
        "name": loaded.library.name,
        **where,
        "group": None if system is None else system.group,
        "environ_prefix": None if system is None else system.environ_prefix,
        "functions": None if system is None else len(system.functions),
        "backend": None if system is None else system.backend_opts().backend,
        "backends": [_backend_as_json(each) for each in list_backends(loaded)],
        "problems": _problems(loaded),
    }


def _backend_as_json(backend: ListedBackend) -> Json:
    described = backend.description
    return {
        "name": backend.name,
        "state": backend.state.value,
        "reason": backend.reason,
        "primary_types": described and [str(each) for each in described.primary_types],
        "secondary_types": described and [str(each) for each in described.secondary_types],
        "requires_opt_in": described and described.requires_opt_in,
        "functions": backend.functions,
        "prioritized": backend.prioritized,
        **source_as_json(backend.source),
    }


def _problems(loaded: LoadedLibrary, backend: str | None = None) -> list[Json]:
    """Return the problems of a library, or those of one of its backends."""
    names = ("backend", "key", "message", "remedy")
    problems = [each for each in loaded.problems if backend in (None, each.backend)]
    return [
        {**{name: getattr(each, name) for name in names}, **source_as_json(each.source)}
        for each in without_repeated_cycles(problems)
    ]


# show


@click.command(
    "show",
    help="""Show everything about NAME: a library, a backend, or a function.

Of a library: the priority order with its reasons, and which backends implement which
functions. Of a backend: its state, types, declarations, functions and problems. Of a function:
its implementations, with the should_run that decides about each.""",
    epilog="""\b
Examples:
  spatch-core show scipy_dispatch
  spatch-core show opencv
  spatch-core show gaussian_filter --json
  spatch-core show default --library scipy_dispatch

If several things have this name, a library goes first, then a backend. Exit code 1 if there are
problems.""",
)
@click.argument("name", shell_complete=complete_any)
@click.option(
    "--library",
    metavar="LIBRARY",
    shell_complete=complete_libraries,
    help="Look only for a backend or function of LIBRARY.",
)
@json_option
@click.pass_context
def show_command(context: click.Context, name: str, library: str | None, as_json: bool) -> None:
    """Run ``spatch-core show``."""
    record, parts = _found(name, library)
    if as_json:
        show_json(record)
    else:
        show(parts)
    context.exit(1 if record["problems"] else 0)


def _found(name: str, library: str | None) -> tuple[Json, list[Part]]:
    """Find the only thing that has this name; return it for JSON and for people."""
    if library is None and name in [each.name for each in find_libraries()]:
        return _library(usable_library(name))
    libraries = loaded_libraries(None) if library is None else [usable_library(library)]
    backends: dict[str, tuple[LoadedLibrary, ListedBackend]] = {}
    for loaded in libraries:
        for each in list_backends(loaded):
            if name in (each.name, loaded.shown(each.name)):
                # Of several with one name in a library, the first is in use.
                backends.setdefault(loaded.library.name, (loaded, each))
    if len(backends) > 1:
        options = " or ".join(f"--library {each}" for each in backends)
        raise click.UsageError(f"several libraries have a backend named {name!r}: add {options}")
    for loaded, each in backends.values():
        return _backend(loaded, each)
    with naming():
        function = function_named(name, libraries)
        if function is None and library is None and (":" in name or "." in name):
            function = find_function(name, libraries)  # another name, or an adopted one
    if function is not None:
        return _function(*function)
    names = [] if library else [each.library.name for each in libraries]
    for loaded in libraries:
        names += [loaded.shown(each.name) for each in list_backends(loaded)]
        names += [each.partition(":")[2] for each in loaded.functions]
    hint = meant(name, dict.fromkeys(names), "known names")
    faults = [each.failure for each in libraries if each.failure]
    raise click.UsageError(" ".join([ended(f"nothing is named {name!r}; {hint}"), *faults]))


# A library: the order of its backends, and its functions


def library_as_json(loaded: LoadedLibrary) -> Json:
    """Return a library as ``show --json`` prints it."""
    system = loaded.usable
    order = system._catalog().order
    mending = [piece for cycle in order.cycles for piece in cycle.set_order.split(",")]
    return {
        "kind": "library",
        "library": loaded.library.name,
        "environ_prefix": system.environ_prefix,
        "order": list(order.names),
        "prioritized": list(system.backend_opts().prioritized),
        "edges": edges_as_json(loaded),
        "cycles": [
            {"path": list(each.path), "members": list(each.members), "set_order": each.set_order}
            for each in order.cycles
        ],
        "set_order": ",".join(dict.fromkeys(mending)) or None,
        "functions": _functions(system),
        "problems": _problems(loaded),
    }


def _functions(system: BackendSystem) -> list[Json]:
    """Return the functions of the library, then unknown functions that backends name.

    Adopted functions, such as NumPy's, are included if a backend names them.
    """
    descriptions = system.backends
    names = {each: list(system.functions[each].backends) for each in sorted(system.functions)}
    others: dict[str, list[str]] = {}
    for name, description in descriptions.items():
        for identifier in description.functions.keys() - names.keys():
            others.setdefault(identifier, []).append(name)
    adopted = [each for each in sorted(others) if is_adopted(system, each)]
    names.update((each, others.pop(each)) for each in adopted)

    def asks(identifier: str, name: str) -> bool:
        implementation = descriptions[name].functions.get(identifier)
        return implementation is not None and implementation.should_run is not None

    return [
        {
            "function": identifier,
            "backends": backends,
            "asks": [name for name in backends if asks(identifier, name)],
            "is_dispatchable": identifier in names,
        }
        for identifier, backends in [*names.items(), *sorted(others.items())]
    ]


def _library(loaded: LoadedLibrary) -> tuple[Json, list[Part]]:
    record, name = library_as_json(loaded), loaded.library.name
    variable = loaded.usable._catalog().environment.variable
    prioritized = ", ".join(map(loaded.shown, record["prioritized"]))
    first = f"{prioritized}: {variable(PRIORITIZE)} puts them first"
    at_once = [f"{variable(SET_ORDER)}={record['set_order']!r}"]
    left_out = [f"{each.name} ({each.state.value})" for each in unusable_backends(loaded)]
    functions: dict[bool, list[tuple[str, str]]] = {True: [], False: []}
    for each in record["functions"]:
        backends = ", ".join(map(loaded.shown, each["backends"]))
        functions[each["is_dispatchable"]].append((each["function"], backends))
    parts: list[Part] = [
        f"{name}: the backends in order, by name where no remark says more",
        Table(_ORDER, [*_order_rows(record, loaded)]),
        Notes("Before all", [first] if prioritized else []),
        Notes("Breaks all cycles", at_once if len(record["cycles"]) > 1 else []),
        Notes("Not in the order", left_out),
        Notes("Environment variables", [", ".join(map(variable, SUFFIXES))]),
    ]
    if functions[True]:
        parts += ["Functions", Table(_FUNCTIONS, functions[True])]
    others = [f"{identifier}: {backends}" for identifier, backends in functions[False]]
    parts.append(Notes("Not functions of the library", others))
    counts = counted(len(record["order"]), "backend"), counted(len(functions[True]), "function")
    return record, [*parts, *closing(", ".join(counts), (name, loaded.problems))]


def _order_rows(record: Json, loaded: LoadedLibrary) -> Iterator[tuple[str, ...]]:
    """Yield a row for each backend, with its state and the reason for its place.

    The reason is its strongest edge, of these the one to the nearest backend. Edges that take part
    in no call are left out, except those of the environment, which its user looks for.
    """
    order = record["order"]
    states = {each.name: each.state for each in list_backends(loaded)}
    edges = [e for e in record["edges"] if not e["void"] or e["origin"] == ENVIRONMENT]
    for position, name in enumerate(order):
        own = [each for each in edges if name in (each["before"], each["after"])]
        strongest = [each for each in own if each["origin"] == own[0]["origin"]]
        is_idle = states[name] in (State.WAITS, State.NEEDS_OPT_IN)
        remarks = [states[name].value] if is_idle else []
        if strongest:
            nearest = min(
                strongest,
                key=lambda each: abs(order.index(each["before"]) - order.index(each["after"])),
            )
            remarks.append(_short_reason(nearest, name, loaded))
        types = map(str, loaded.usable.backends[name].primary_types)
        yield str(position + 1), loaded.shown(name), ", ".join(types), "; ".join(remarks)


def _short_reason(edge: Json, name: str, loaded: LoadedLibrary) -> str:
    """Return a short text about an edge, from the side of one of its two backends."""
    is_before = name == edge["before"]
    other = loaded.shown(edge["after" if is_before else "before"])
    reason = f"{edge['declared_by']} declares it" if edge["declared_by"] else edge["reason"]
    if edge["origin"] == BY_TYPES:
        reason = "narrower types" if is_before else "wider types"
    return f"{'before' if is_before else 'after'} {other}: {reason}"


# A function


def _function(loaded: LoadedLibrary, identifier: str) -> tuple[Json, list[Part]]:
    system = loaded.usable
    found: list[Json] = []
    for each in list_backends(loaded):
        implementation = each.description and each.description.implementation(identifier)
        if implementation is not None:
            one = _implementation(identifier, implementation, system)
            found.append({"backend": each.name, "state": each.state.value, **one})
    record = {
        "kind": "function",
        "library": loaded.library.name,
        "function": identifier,
        "backends": found,
        "problems": [],
    }
    columns = (Column("backend"), Column("state", styles=STATE_STYLES), *_IMPLEMENTATIONS)
    rows = [(loaded.shown(each["backend"]), each["state"], *_cells(each)) for each in found]
    return record, [
        f"{identifier}, a function of {loaded.library.name}",
        Table(columns, rows),
        _docs((loaded.shown(each["backend"]), each) for each in found),
        f"{counted(len(found), 'implementation')}; see what runs: spatch-core explain {identifier}",
    ]


def _implementation(name: str, how: Implementation, system: BackendSystem) -> Json:
    return {
        "function": name,
        "implementation": how.function,
        "should_run": how.should_run,
        "uses_context": how.uses_context,
        "additional_docs": how.additional_docs,
        "variants": [each._asdict() for each in how.variants],
        "variant": how.variant and how.variant.requires,
        "is_dispatchable": name in system.functions or name == EVERY or is_adopted(system, name),
    }


def _cells(record: Json) -> tuple[str, str, str]:
    """Return the cells about an implementation, with the requirement of its variant."""
    variant = f" (for {record['variant']})" if record["variant"] else ""
    context = "yes" if record["uses_context"] else ""
    return f"{record['implementation']}{variant}", record["should_run"] or "", context


def _docs(named: Iterable[tuple[str, Json]]) -> Notes:
    lines = [(name, " ".join(each["additional_docs"].split())) for name, each in named]
    return Notes("Notes for users", [f"{name}: {text}" for name, text in lines if text])


# A backend


def _backend(loaded: LoadedLibrary, backend: ListedBackend) -> tuple[Json, list[Part]]:
    library, name = loaded.library.name, loaded.shown(backend.name)
    record = {
        "kind": "backend",
        "library": library,
        **_backend_as_json(backend),
        **_described(backend.description, loaded),
        "problems": _problems(loaded, backend.name),
    }
    functions = record["functions"] or []
    is_own = backend.name == DEFAULT
    heading = f"the library {library} itself" if is_own else f"a backend of {library}"
    parts: list[Part] = [f"{name}, {heading}", Table(_FIELDS, [*_fields(record, loaded)])]
    if functions:
        rows = [(each["function"], *_cells(each)) for each in functions]
        parts += ["Functions", Table((Column("function"), *_IMPLEMENTATIONS), rows)]
    parts.append(_docs((each["function"], each) for each in functions))
    unknown = [each["function"] for each in functions if not each["is_dispatchable"]]
    parts.append(Notes("Not functions of the library", unknown))
    number = len(record["every"] or ()) + sum(each["function"] != EVERY for each in functions)
    problems = [each for each in loaded.problems if each.backend == backend.name]
    return record, [*parts, *closing(counted(number, "function"), (library, problems))]


def _fields(record: Json, loaded: LoadedLibrary) -> Iterator[tuple[str, Cell]]:
    """Yield a row for each field with a value, as JSON has them; tables show the functions."""
    texts = {
        "order": ", ".join(map(loaded.shown, record["order"] or ())),
        **{
            side: [
                f"{loaded.shown(each[other])}: {each['reason']}"
                for each in record[side] or ()
                if not each["void"]
            ]
            for side, other in (("before", "after"), ("after", "before"))
        },
    }
    for key, value in {**record, **texts}.items():
        if value and key not in ("kind", "library", "name", "functions", "problems"):
            yield _LABELS.get(key, key), _cell(value)


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        texts = ((key, [each] if isinstance(each, str) else each) for key, each in value.items())
        return tuple(f"{key}: {', '.join(each)}" for key, each in texts)
    return "yes" if value is True else value if isinstance(value, str) else tuple(value)


def _described(description: Description | None, loaded: LoadedLibrary) -> Json:
    """Return the fields of a description, and its place in the order; None without one."""
    if description is None:
        return dict.fromkeys(_described(loaded.usable.backends[DEFAULT], loaded))  # the same keys
    names = ("to_default", "from_default", "copy_into", "url")
    lists = ("higher_priority_than", "lower_priority_than", "requires")
    system, edges, name = loaded.usable, edges_as_json(loaded), description.name
    before = [each for each in edges if each["before"] == name]
    after = [each for each in edges if each["after"] == name]
    above = {each["after"] for each in before}
    below = {each["before"] for each in after}
    void = [
        *(each for each in description.higher_priority_than if each not in above),
        *(each for each in description.lower_priority_than if each not in below),
    ]
    installed = names_of_backends(system)
    generation = description.auto_generation
    implementations = dict(description.functions)
    if description.every is not None:
        implementations[EVERY] = description.every
    return {
        **{key: getattr(description, key) for key in names},
        **{key: list(getattr(description, key)) for key in lists},
        "overridden": [each for each in void if each in system.backends],
        "not_installed": [each for each in void if each not in installed],
        "fallback": system._fallback if name == DEFAULT else None,
        "auto_generation": generation
        and {"backend": generation.backend, "modules": list(generation.modules)},
        "order": list(system._catalog().order.names),
        "before": before,
        "after": after,
        "functions": [_implementation(*each, system) for each in implementations.items()],
        "every": functions_of_every(description, system),
        "attributes": dict(description.attributes),
        "absent": dict(description.absent),
    }
