"""``spatch-core order``: the priority order of a library's backends, with all its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..examination.backends import unusable_backends
from ..examination.edges import BASE_ORDER, Step, mending, steps
from ..examination.libraries import LoadedLibrary
from .arguments import complete_libraries, usable_library
from .json_shape import JsonCommand
from .output import Column, Notes, Part, Table, show, show_json
from .records import problem_as_json
from .streams import show_text

if TYPE_CHECKING:
    from .._order.ordering import Order
    from ..backend_system import BackendSystem

_ORDER = (Column("#", is_number=True), Column("backend"), Column("types"))
_EDGES = (
    Column("before"),
    Column("after"),
    Column("origin", styles={"environment": "yellow", "type specificity": "dim"}),
    Column("reason"),
)

_EPILOG = """\b
Examples:
  spatch-core order scipy_dispatch
  spatch-core order scipy_dispatch --dot | dot -Tsvg > order.svg

Exit code 1 if there are problems. With --dot and --mermaid these go to stderr."""


@click.command("order", cls=JsonCommand, epilog=_EPILOG)
@click.argument("library", shell_complete=complete_libraries)
@click.option("--json", "form", flag_value="json", help="Print JSON; its shape is below.")
@click.option("--dot", "form", flag_value="dot", help="Print the graph for Graphviz.")
@click.option("--mermaid", "form", flag_value="mermaid", help="Print the graph for Mermaid.")
@click.pass_context
def order_command(context: click.Context, library: str, form: str | None) -> None:
    """Show the priority order of the backends of LIBRARY, and the reason of every edge.

    An edge says that one backend goes before another: because the environment says so,
    because one of the two declares it, or because its types are more specific. It takes part in
    the calls of which both are candidates. Cycles of declared edges are shown with the value of
    SET_ORDER that mends them.
    """
    loaded = usable_library(library)
    system = loaded.system
    assert system is not None
    order = system._catalog().order
    if form == "json":
        show_json(_as_json(loaded, system, order))
    elif form is None:
        show(_parts(loaded, system, order))
    else:
        write = as_dot if form == "dot" else as_mermaid
        show_text(write(loaded.library.name, order.names, steps(order)))
        for problem in loaded.problems:
            click.echo(loaded.describe(problem), err=True)
    context.exit(1 if loaded.problems else 0)


def _parts(loaded: LoadedLibrary, system: BackendSystem, order: Order) -> list[Part]:
    descriptions = system.backends
    rows = [
        (str(position), loaded.shown(name), "\n".join(map(str, descriptions[name].primary_types)))
        for position, name in enumerate(order.names, 1)
    ]
    parts: list[Part] = [f"{loaded.library.name}: first goes first", Table(_ORDER, rows)]
    edges = steps(order)
    if edges:
        parts += ["Edges", Table(_EDGES, [_row(each, loaded) for each in edges])]
        void = [(each, _why_void(each, system)) for each in edges]
        notes = [f"{each.before} before {each.after}: {why}" for each, why in void if why]
        parts.append(Notes("Edges that take part in no call", notes))
    parts.append(Notes("Where no edge says otherwise", [BASE_ORDER]))
    variable = system._catalog().environment.variable
    prioritized = system.backend_opts().prioritized
    if prioritized:
        first = f"{', '.join(prioritized)}: {variable('PRIORITIZE')} puts them first"
        parts.append(Notes("Before all", [first]))
    cycles = [
        f"{' before '.join(each.path)}. Set {variable('SET_ORDER')}={each.set_order!r}"
        for each in order.cycles
    ]
    if len(cycles) > 1:
        cycles.append(f"All at once: {variable('SET_ORDER')}={mending(order)!r}")
    parts.append(Notes("Cycles", cycles))
    left_out = [f"{each.name} ({each.state.value})" for each in unusable_backends(loaded)]
    parts.append(Notes("Not in the order", left_out))
    parts.append(Notes("Problems", [loaded.describe(each) for each in loaded.problems]))
    return parts


def _row(step: Step, loaded: LoadedLibrary) -> tuple[str, ...]:
    before, after = map(loaded.shown, (step.before, step.after))
    return (before, after, step.declared_by or step.origin, step.reason)


def _why_void(step: Step, system: BackendSystem) -> str:
    return system._dispatcher.ensure_loaded().resolver.why_void(step.before, step.after)


def _as_json(loaded: LoadedLibrary, system: BackendSystem, order: Order) -> dict[str, Any]:
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
    """Write the graph for Graphviz."""
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
    """Write the graph for Mermaid; see `as_dot`."""
    # Nodes are numbered, because some names, "end" for example, are keywords of Mermaid.
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
    """Escape the characters that have a meaning in Mermaid by their numbers."""
    return "".join(
        each if each.isalnum() or each in " .,_-:=()" else f"#{ord(each)};" for each in text
    )
