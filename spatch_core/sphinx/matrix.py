"""The directive ``spatch-backends``: which backends implement which functions of a library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive

from .chosen import ChoiceError, ChosenBackends, chosen_backends

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_OURS = "spatch_backends"
"""The attribute of references to functions, which need not be documented."""


class Matrix(Directive):
    """A table with a row for each function of a library, and a column for each chosen backend."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        env = self.state.document.settings.env
        try:
            chosen = chosen_backends(env.config, self.arguments[0])
        except ChoiceError as error:
            raise self.error(str(error)) from error
        for file in chosen.files:
            env.note_dependency(file)
        return [matrix(chosen, self.arguments[0])]


def matrix(chosen: ChosenBackends, library: str) -> nodes.table:
    """Return the table.

    Each cell has a word. The first row and the first column are headers.
    """
    body = nodes.tbody()
    asks = False
    for identifier in chosen.identifiers:
        implementing = {
            each.name: "asks" if how.should_run else "yes"
            for each, how in chosen.implementing(identifier)
        }
        asks = asks or "asks" in implementing.values()
        words = [implementing.get(each.name, "no") for each in chosen.descriptions]
        body += _row([_function(identifier), *map(nodes.Text, words)])
    caption = f"Functions of {library} by backend"
    if asks:
        caption += "; where it asks, the arguments of a call decide"
    head = nodes.thead("", _row([nodes.Text("function"), *map(_backend, chosen.descriptions)]))
    columns = 1 + len(chosen.descriptions)
    group = nodes.tgroup(cols=columns)
    group += nodes.colspec(colwidth=1, stub=1)
    group += [nodes.colspec(colwidth=1) for _ in chosen.descriptions]
    group += [head, body]
    table = nodes.table(classes=["spatch-backends"])
    table += [nodes.title("", caption), group]
    return table


def keep_text(app: Sphinx, env: Any, node: Any, contnode: nodes.Element) -> nodes.Element | None:
    """Show an undocumented function as text, without a warning of ``nitpicky``.

    The parameters are those of the event ``missing-reference``.
    """
    return contnode if node.get(_OURS) else None


def _row(cells: Sequence[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", each)) for each in cells))


def _function(identifier: str) -> nodes.Node:
    """Return the name of a function, with a link to its documentation if it is documented."""
    from sphinx.addnodes import pending_xref

    name = identifier.replace(":", ".")
    text = nodes.literal(name, name, classes=["xref", "py"])
    found: nodes.Node = pending_xref(
        "", text, refdomain="py", reftype="obj", reftarget=name, refexplicit=True, **{_OURS: True}
    )
    return found


def _backend(description: Any) -> nodes.Node:
    """Return the name of a backend, with a link if its description has a `url`."""
    if not description.url:
        return nodes.Text(description.name)
    return nodes.reference("", description.name, internal=False, refuri=description.url)
