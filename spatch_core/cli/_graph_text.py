"""The priority order as a graph, in the languages of Graphviz and of Mermaid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ._edges import Step


def as_dot(title: str, names: Sequence[str], steps: Iterable[Step]) -> str:
    """Write the graph for Graphviz.

    Parameters
    ----------
    title : str
        The name of the graph.
    names : sequence of str
        Nodes, by priority.
    steps : iterable of Step
        Arrows between them, labelled with their reasons.
    """
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
    # Nodes have numbers, because some names, "end" for example, mean something there.
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
    """Replace what Mermaid might take for its own by the numbers of the characters."""
    return "".join(
        each if each.isalnum() or each in " .,_-:=()" else f"#{ord(each)};" for each in text
    )
