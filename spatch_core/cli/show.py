"""``spatch-core list`` and ``show``: libraries, backends and functions as they are.

Each is one object for JSON, of which the tables are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .._description import EVERY, Implementation
from .._patterns import DEFAULT
from ..examination.backends import (
    ListedBackend,
    State,
    Step,
    current_backend,
    functions_of_every,
    list_backends,
    mending,
    steps,
    unusable_backends,
)
from ..examination.doctor import without_repeated_cycles
from ..examination.findings import source_as_json
from ..examination.libraries import LoadedLibrary, find_libraries, is_adopted, load_library
from .arguments import (
    NO_LIBRARY,
    chosen_libraries,
    complete_any,
    complete_libraries,
    found_function,
    functions_named,
    json_option,
    loaded_libraries,
    meant,
    one_of,
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
    from .._description import Description
    from .._errors import Finding
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
    Column("reason", is_prose=True),
)
_FIELDS = (Column("field"), Column("value", is_prose=True))
_IMPLEMENTATIONS = (Column("implementation"), Column("should_run"), Column("context"))


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
    """Return the reasons why backends are not used."""
    return Notes(title, [f"{each.name} ({each.state.value}): {each.reason}" for each in unused])


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
        "backend": current_backend(loaded),
        "backends": [_backend_as_json(each) for each in list_backends(loaded)],
        "problems": [_problem_as_json(each) for each in without_repeated_cycles(loaded.problems)],
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


def _problem_as_json(problem: Finding) -> Json:
    names = ("backend", "key", "message", "remedy")
    return {**{each: getattr(problem, each) for each in names}, **source_as_json(problem.source)}


# show


@click.command(
    "show",
    help="""Show everything about NAME: a library, a backend, or a function.

Of a library: the priority order with its reasons, and which backends implement which
functions ("asks" means that its should_run decides). Of a backend: its state, types,
declarations, functions and problems. Of a function: its implementations.""",
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
    """Find what has this name; return it for JSON and for people.

    Raises
    ------
    click.ClickException
        If there is no such thing, or several have the name.
    """
    if library is None and name in [each.name for each in find_libraries()]:
        return _library(usable_library(name))
    if library is not None and load_library(chosen_libraries(library)[0]).fault is not None:
        usable_library(library)  # raises
    libraries = loaded_libraries(library)
    backends = []
    for loaded in libraries:
        of_name = [
            each for each in list_backends(loaded) if name in (each.name, loaded.shown(each.name))
        ]
        # Of several with one name in a library, the first is in use.
        backends += [(loaded, each) for each in of_name[:1]]
    if len(backends) > 1:
        options = " or ".join(f"--library {loaded.library.name}" for loaded, _ in backends)
        raise click.UsageError(f"several libraries have a backend named {name!r}: add {options}")
    if backends:
        return _backend(*backends[0])
    function = one_of(name, functions_named(name, libraries), "functions")
    for loaded in libraries:
        if function is not None and loaded.system and function in loaded.system.functions:
            return _function(loaded, function)
    if library is None and (":" in name or "." in name):
        return _function(*found_function(name))  # another name of a function, or an adopted one
    names = [] if library else [each.library.name for each in libraries]
    names += [each.shown(backend.name) for each in libraries for backend in list_backends(each)]
    names += [
        function.partition(":")[2]
        for each in libraries
        if each.system is not None
        for function in each.system.functions
    ]
    hint = meant(name, dict.fromkeys(names), "known names")
    faults = [each.describe(each.fault) for each in libraries if each.fault is not None]
    raise click.UsageError(". ".join([f"nothing is named {name!r}; {hint}", *faults]))


# A library: the order of its backends, and its functions


def library_as_json(loaded: LoadedLibrary) -> Json:
    """Return a library as ``show --json`` prints it."""
    system = loaded.usable
    order = system._catalog().order
    return {
        "kind": "library",
        "library": loaded.library.name,
        "order": list(order.names),
        "prioritized": list(system.backend_opts().prioritized),
        "edges": _edges(loaded),
        "cycles": [
            {"path": list(each.path), "members": list(each.members), "set_order": each.set_order}
            for each in order.cycles
        ],
        "set_order": mending(order),
        "functions": _functions(system),
        "problems": [_problem_as_json(each) for each in without_repeated_cycles(loaded.problems)],
    }


def _edges(loaded: LoadedLibrary) -> list[Json]:
    """Return the edges, each with the reason why it takes part in no call, or an empty one."""
    why_void = loaded.usable._dispatcher.ensure_loaded().decider.why_void
    waiting = {each.name for each in list_backends(loaded) if each.state is State.WAITS}
    found = []
    for each in steps(loaded.usable._catalog().order):
        waits = [name for name in (each.before, each.after) if name in waiting]
        void = f"{waits[0]} waits for prioritize, and goes first there" if waits else ""
        found.append({**asdict(each), "void": void or why_void(each.before, each.after)})
    return found


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
    first = f"{prioritized}: {variable('PRIORITIZE')} puts them first"
    at_once = [f"{variable('SET_ORDER')}={record['set_order']!r}"]
    left_out = [f"{each.name} ({each.state.value})" for each in unusable_backends(loaded)]
    functions = [each for each in record["functions"] if each["is_dispatchable"]]
    without = [
        loaded.shown(backend)
        for backend in record["order"]
        if not any(backend in each["backends"] for each in functions)
    ]
    others = [
        f"{each['function']}: {', '.join(map(loaded.shown, each['backends']))}"
        for each in record["functions"]
        if not each["is_dispatchable"]
    ]
    parts: list[Part] = [
        f"{name}: the backends, first goes first",
        Table(_ORDER, [*_order_rows(record, loaded)]),
        Notes("Before all", [first] if prioritized else []),
        Notes("Breaks all cycles", at_once if len(record["cycles"]) > 1 else []),
        Notes("Not in the order", left_out),
    ]
    if functions:
        parts += ["Functions", _matrix(record["order"], functions, loaded)]
    parts += [
        Notes("Implement none of them", [", ".join(without)] if without else []),
        Notes("Not functions of the library", others),
    ]
    text = f"{counted(len(record['order']), 'backend')}, {counted(len(functions), 'function')}"
    return record, [*parts, *closing(text, (name, loaded.problems))]


def _order_rows(record: Json, loaded: LoadedLibrary) -> Iterator[tuple[str, ...]]:
    """Yield a row for each backend, with the reason for its place.

    This is its strongest edge among those that take part in calls, of these the one to the nearest
    backend. An edge without effect is no reason.
    """
    order = record["order"]
    states = {each.name: each.state for each in list_backends(loaded)}
    edges = [each for each in record["edges"] if not each["void"]]
    for position, name in enumerate(order):
        own = [each for each in edges if name in (each["before"], each["after"])]
        strongest = [each for each in own if each["origin"] == own[0]["origin"]]
        reason = "the library itself" if name == DEFAULT else "by name"
        if states[name] in (State.WAITS, State.NEEDS_OPT_IN):
            reason = states[name].value
        if strongest:
            nearest = min(
                strongest,
                key=lambda each: abs(order.index(each["before"]) - order.index(each["after"])),
            )
            names = {key: loaded.shown(nearest[key]) for key in ("before", "after")}
            step = {**nearest, **names}
            del step["void"]
            reason = Step(**step).short_reason(loaded.shown(name))
        types = map(str, loaded.usable.backends[name].primary_types)
        yield str(position + 1), loaded.shown(name), ", ".join(types), reason


def _matrix(names: list[str], functions: list[Json], loaded: LoadedLibrary) -> Table:
    def cell(function: Json, name: str) -> str:
        return "asks" if name in function["asks"] else "yes" if name in function["backends"] else ""

    styles = {"yes": "green", "asks": "yellow"}
    columns = [Column(loaded.shown(each), styles=styles, is_name=True) for each in names]
    return Table(
        [Column("function"), *columns],
        [(each["function"], *(cell(each, name) for name in names)) for each in functions],
    )


# A function


def _function(loaded: LoadedLibrary, identifier: str) -> tuple[Json, list[Part]]:
    system = loaded.usable
    found: list[Json] = []
    for each in list_backends(loaded):
        implementation = None
        if each.name == DEFAULT:
            implementation = _own(system).get(identifier)
        elif each.description is not None:
            implementation = each.description.implementation(identifier)
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
        "variants": [
            {"requires": each.requires, "function": each.function} for each in how.variants
        ],
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


def _own(system: BackendSystem) -> dict[str, Implementation]:
    """Return the library's own implementations of its functions."""
    found = {}
    for identifier, function in system.functions.items():
        names = (getattr(function.__wrapped__, f"__{key}__", "?") for key in ("module", "qualname"))
        found[identifier] = Implementation(":".join(names))
    return found


# A backend


def _backend(loaded: LoadedLibrary, backend: ListedBackend) -> tuple[Json, list[Part]]:
    problems = [each for each in loaded.problems if each.backend == backend.name]
    record = {
        "kind": "backend",
        "library": loaded.library.name,
        **_backend_as_json(backend),
        **_described(backend.description, loaded),
        "problems": [_problem_as_json(each) for each in problems],
    }
    name, functions = loaded.shown(backend.name), record["functions"] or []
    heading = f"{name}, a backend of {loaded.library.name}"
    if backend.name == DEFAULT:
        heading = f"{name}, the library {loaded.library.name} itself"
    parts: list[Part] = [heading, Table(_FIELDS, [*_fields(record)])]
    if functions:
        rows = [(each["function"], *_cells(each)) for each in functions]
        parts += ["Functions", Table((Column("function"), *_IMPLEMENTATIONS), rows)]
    served = record["every"] or []
    unknown = [each["function"] for each in functions if not each["is_dispatchable"]]
    parts += [
        Notes(f"Served by {EVERY}", served),
        Notes("Attributes", _pairs(record["attributes"])),
        Notes("Not implemented for what is installed here", _pairs(record["absent"])),
        _docs((each["function"], each) for each in functions),
        Notes("Not functions of the library", unknown),
    ]
    if record["order"]:
        edges = [
            f"{side} {loaded.shown(each[side_of])}: {each['reason']}"
            for side, side_of in (("before", "after"), ("after", "before"))
            for each in record[side]
            if not each["void"]
        ]
        order = ", ".join(map(loaded.shown, record["order"]))
        parts += [f"Order: {order}", Notes("It goes", edges)]
    own = [each for each in functions if each["function"] != EVERY]
    text = counted(len(own) + len(served), "function")
    return record, [*parts, *closing(text, (loaded.library.name, problems))]


def _pairs(values: dict[str, str] | None) -> list[Cell]:
    return [f"{name}: {value}" for name, value in (values or {}).items()]


def _described(description: Description | None, loaded: LoadedLibrary) -> Json:
    """Return the fields of a description, and its place in the order."""
    names = ("to_default", "from_default", "copy_into", "url")
    lists = ("higher_priority_than", "lower_priority_than", "requires")
    if description is None:
        others = ("overridden", "fallback", "auto_generation", "order", "before", "after")
        return dict.fromkeys(
            (*names, *lists, *others, "functions", "every", "attributes", "absent")
        )
    system, edges = loaded.usable, _edges(loaded)
    before = [each for each in edges if each["before"] == description.name]
    after = [each for each in edges if each["after"] == description.name]
    followed = {each["after"] for each in before}, {each["before"] for each in after}
    declared = description.higher_priority_than, description.lower_priority_than
    generation = description.auto_generation
    implementations = {**description.functions}
    if description.name == DEFAULT:
        implementations = {**_own(system), **implementations}
    if description.every is not None:
        implementations[EVERY] = description.every
    return {
        **{key: getattr(description, key) for key in names},
        **{key: list(getattr(description, key)) for key in lists},
        "overridden": [
            name
            for said, there in zip(declared, followed, strict=True)
            for name in said
            if name not in there
        ],
        "fallback": system._fallback if description.name == DEFAULT else None,
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


def _fields(record: Json) -> Iterator[tuple[str, Cell]]:
    yield "state", ": ".join(part for part in (record["state"], record["reason"]) if part)
    if record["primary_types"] is not None:
        yield "primary types", tuple(record["primary_types"])
        yield "secondary types", tuple(record["secondary_types"])
        yield "requires opt-in", "yes" if record["requires_opt_in"] else "no"
        for key in ("higher_priority_than", "lower_priority_than"):
            yield (
                key,
                tuple(
                    f"{name} (not followed)" if name in record["overridden"] else name
                    for name in record[key]
                ),
            )
    for key in ("to_default", "from_default", "copy_into"):
        if record[key] is not None:
            yield key, record[key]
    for title, key in (("requires", "requires"), ("fallback policy", "fallback")):
        if record[key]:
            yield title, record[key] if key == "fallback" else tuple(record[key])
    if record["url"]:
        yield "documentation", record["url"]
    if record["auto_generation"] is not None:
        modules = [f"with {module}" for module in record["auto_generation"]["modules"]]
        yield "auto-generation", ", ".join([record["auto_generation"]["backend"], *modules])
    if record["prioritized"]:
        yield "prioritized", "by the environment"
    yield "distribution", " ".join(filter(None, (record["distribution"], record["version"])))
    yield "entry point", record["entry_point"] or ""
    yield "file", record["file"] or ""
