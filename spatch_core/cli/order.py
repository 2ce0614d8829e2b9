"""``spatch-core order``: the priority order of a library's backends, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click

from .._discovery import CYCLE
from .._patterns import DEFAULT
from ..examination.backends import BASE_ORDER, Step, mending, steps, unusable_backends
from ..examination.libraries import LoadedLibrary
from .arguments import complete_libraries, usable_library
from .findings import by_backend, closing, counted
from .output import Column, Notes, Part, Table, plain, show, show_json
from .records import problem_as_json
from .streams import show_text

if TYPE_CHECKING:
    from .._order import Order
    from ..backend_system import BackendSystem

_ORDER = (
    Column("#", is_number=True),
    Column("backend"),
    Column("types"),
    Column("reason", is_prose=True),
)

_EPILOG = """\b
Examples:
  spatch-core order scipy_dispatch
  spatch-core order scipy_dispatch --dot | dot -Tsvg > order.svg

Exit code 1 if there are problems. With --dot and --mermaid, stderr shows them."""


@click.command("order", epilog=_EPILOG)
@click.argument("library", shell_complete=complete_libraries)
@click.option(
    "--json", "form", flag_value="json", help="Print JSON; see spatch-core schema COMMAND."
)
@click.option("--dot", "form", flag_value="dot", help="Print the graph for Graphviz.")
@click.option("--mermaid", "form", flag_value="mermaid", help="Print the graph for Mermaid.")
@click.option("--edges", "with_edges", is_flag=True, help="Show every edge with its reason.")
@click.pass_context
def order_command(context: click.Context, library: str, form: str | None, with_edges: bool) -> None:
    """Show the priority order of the backends of LIBRARY, each with a short reason.

    An edge puts one backend before another: because the environment says so, because one of
    the two declares it, or because its types are more specific. It takes effect in calls that
    have both as candidates. A cycle of declared edges is shown with the value of SET_ORDER
    that breaks it.
    """
    loaded = usable_library(library)
    order = loaded.usable._catalog().order
    if form == "json":
        show_json(order_as_json(loaded))
    elif form is None:
        show(_parts(loaded, order, with_edges))
    else:
        write = as_dot if form == "dot" else as_mermaid
        show_text(write(*_graph(loaded, order)))
        problems = by_backend(loaded.problems, loaded.library.name)
        click.echo(plain(problems), err=True, nl=False)
    context.exit(1 if loaded.problems else 0)


def _parts(loaded: LoadedLibrary, order: Order, with_edges: bool) -> list[Part]:
    system, descriptions = loaded.usable, loaded.usable.backends
    names = [loaded.shown(name) for name in order.names]
    edges = [(_shown(loaded, each), _why_void(each, system)) for each in steps(order)]
    rows = [
        (
            str(position),
            loaded.shown(name),
            ", ".join(map(str, descriptions[name].primary_types)),
            _short_reason(loaded.shown(name), names, edges)
            or ("the library itself" if name == DEFAULT else "by name"),
        )
        for position, name in enumerate(order.names, 1)
    ]
    parts: list[Part] = [f"{loaded.library.name}: first goes first", Table(_ORDER, rows)]
    if with_edges:
        lines = [
            (f"{each.before} before {each.after}: ", each.reason, void) for each, void in edges
        ]
        parts.append(Notes("Edges", [pair + reason for pair, reason, _ in lines]))
        void_lines = [pair + void for pair, _, void in lines if void]
        parts.append(Notes("Edges that take part in no call", void_lines))
        parts.append(Notes("Where no edge says otherwise", [BASE_ORDER]))
    variable = system._catalog().environment.variable
    prioritized = system.backend_opts().prioritized
    if prioritized:
        first = f"{', '.join(prioritized)}: {variable('PRIORITIZE')} puts them first"
        parts.append(Notes("Before all", [first]))
    cycles = [
        f"{' before '.join(map(loaded.shown, each.path))}. "
        f"Set {variable('SET_ORDER')}={each.set_order!r}"
        for each in order.cycles
    ]
    if len(cycles) > 1:
        cycles.append(f"All at once: {variable('SET_ORDER')}={mending(order)!r}")
    parts.append(Notes("Cycles", cycles))
    left_out = [f"{each.name} ({each.state.value})" for each in unusable_backends(loaded)]
    parts.append(Notes("Not in the order", left_out))
    others = [each for each in loaded.problems if not each.message.startswith(CYCLE)]
    text = f"{counted(len(rows), 'backend')}, {counted(len(edges), 'edge')}"
    return [*parts, *closing(text, (loaded.library.name, others), counted_before=len(order.cycles))]


def _graph(loaded: LoadedLibrary, order: Order) -> tuple[str, list[str], list[Step]]:
    """Return the title, the nodes and the edges of the graph."""
    found = [_shown(loaded, each) for each in steps(order)]
    return loaded.library.name, [loaded.shown(name) for name in order.names], found


def _shown(loaded: LoadedLibrary, step: Step) -> Step:
    """Return an edge with the names of the backends as people see them."""
    return replace(step, before=loaded.shown(step.before), after=loaded.shown(step.after))


def _short_reason(name: str, names: list[str], edges: Sequence[tuple[Step, str]]) -> str:
    """Explain the place of a backend by its strongest edge, of these the one to the nearest."""
    own = [each for each in edges if name in (each[0].before, each[0].after)]
    own = [each for each in own if not each[1]] or own
    strongest = [step for step, _ in own if step.origin == own[0][0].origin]
    distances = [(abs(names.index(e.before) - names.index(e.after)), e) for e in strongest]
    return min(distances, key=itemgetter(0))[1].short_reason(name) if distances else ""


def _why_void(step: Step, system: BackendSystem) -> str:
    return system._dispatcher.ensure_loaded().decider.why_void(step.before, step.after)


def order_as_json(loaded: LoadedLibrary) -> dict[str, Any]:
    """Return the order of a library as ``order --json`` prints it."""
    system = loaded.usable
    order = system._catalog().order
    return {
        "library": loaded.library.name,
        "order": list(order.names),
        "prioritized": list(system.backend_opts().prioritized),
        "edges": [{**asdict(each), "void": _why_void(each, system)} for each in steps(order)],
        "cycles": [
            {"path": list(each.path), "members": list(each.members), "set_order": each.set_order}
            for each in order.cycles
        ],
        "set_order": mending(order),
        "problems": [problem_as_json(each) for each in loaded.problems],
    }


def as_dot(title: str, names: Sequence[str], steps: Iterable[Step]) -> str:
    """Return the graph in the language of Graphviz."""
    lines = [f"digraph {_quoted(title)} {{", "    node [shape=box];"]
    lines += [
        f"    {_quoted(name)} [label={_quoted(f'{position}. {name}')}];"
        for position, name in enumerate(names, 1)
    ]
    lines += [
        f"    {_quoted(step.before)} -> {_quoted(step.after)} [label={_quoted(step.reason)}];"
        for step in steps
    ]
    return "\n".join([*lines, "}", ""])


def as_mermaid(title: str, names: Sequence[str], steps: Iterable[Step]) -> str:
    """Return the graph in the language of Mermaid."""
    # Nodes have numbers, because some names, for example "end", are keywords of Mermaid.
    number = {name: f"n{position}" for position, name in enumerate(names, 1)}
    lines = ["flowchart TD", f"    %% {_encoded(title)}"]
    lines += [
        f'    {number[name]}["{position}. {_encoded(name)}"]'
        for position, name in enumerate(names, 1)
    ]
    lines += [
        f'    {number[step.before]} -->|"{_encoded(step.reason)}"| {number[step.after]}'
        for step in steps
    ]
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _encoded(text: str) -> str:
    """Write the characters with a meaning in Mermaid as numeric entities."""
    return "".join(
        each if each.isalnum() or each in " .,_-:=()" else f"#{ord(each)};" for each in text
    )
