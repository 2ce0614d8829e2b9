"""Pages: the directive ``spatch-backends``, and the section "Backends" in docstrings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from inspect import cleandoc
from types import MethodType
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive

from .._loading import summary_of, without_prompts
from .chosen import OPTION, ChoiceError, ChosenBackends, chosen_backends

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_OURS = "spatch_backends"
"""The attribute of references to functions, which need not be documented."""
_TITLE = "Backends"


class Matrix(Directive):
    """A table with a row for each function of a library, and a column for each chosen backend.

    Each cell has a word. The first row and the first column are headers.
    """

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
        words = [
            {each.name: "asks" if how.should_run else "yes" for each, how in chosen.implementing(i)}
            for i in chosen.identifiers
        ]
        body = nodes.tbody()
        for identifier, found in zip(chosen.identifiers, words, strict=True):
            cells = [nodes.Text(found.get(each.name, "no")) for each in chosen.descriptions]
            body += _row([_function(identifier), *cells])
        caption = f"Functions of {self.arguments[0]} by backend"
        if any("asks" in each.values() for each in words):
            caption += "; where it asks, the arguments of a call decide"
        head = nodes.thead("", _row([nodes.Text("function"), *map(_backend, chosen.descriptions)]))
        group = nodes.tgroup(cols=1 + len(chosen.descriptions))
        group += nodes.colspec(colwidth=1, stub=1)
        group += [nodes.colspec(colwidth=1) for _ in chosen.descriptions]
        group += [head, body]
        table = nodes.table(classes=["spatch-backends"])
        table += [nodes.title("", caption), group]
        return [table]


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


def restore_docstrings(app: Sphinx, *_: Any) -> None:
    """Remove the section that discovery has added to the docstrings of functions.

    numpydoc reads the docstrings of the objects themselves, too, and warns about unknown sections.
    """
    for library in app.config[OPTION]:
        for each in chosen_backends(app.config, library).system.functions.values():
            each.__doc__ = each.__wrapped__.__doc__


def remove_section(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Remove the section about installed backends from a docstring.

    Importing a module for its documentation may discover them after `restore_docstrings`. The
    parameters are those of the event ``autodoc-process-docstring``.
    """
    found = _find(app, obj)
    if found is None:
        return
    from sphinx.util.docstrings import prepare_docstring

    function = found[0].system.functions[found[1]]
    own = _stripped(prepare_docstring(function.__wrapped__.__doc__ or ""))
    for place, line in enumerate(lines):
        if line == _TITLE and lines[place + 1 : place + 2] == ["-" * len(_TITLE)]:
            above = _stripped(lines[:place])
            # Compare the ends: autodoc may have removed a signature from the start.
            if above == own[len(own) - len(above) :]:
                lines[place:] = []
                return


def add_section(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Add the section about the chosen backends that implement a function.

    The parameters are those of the event ``autodoc-process-docstring``.
    """
    found = _find(app, obj)
    if found is None:
        return
    chosen, identifier = found
    for file in chosen.files:
        with suppress(KeyError):  # no page is being read
            app.env.note_dependency(file)
    section: list[str] = []
    for description, implementation in chosen.implementing(identifier):
        # An address that ends in an underscore would be taken for the name of another link.
        url = description.url.replace("_", r"\_")
        section += [
            f"`{description.name} <{url}>`__" if url else f"``{description.name}``",
            f"    {summary_of(description, '``', links=False)}",
            "",
        ]
        docs = cleandoc(implementation.additional_docs).strip()
        if docs:
            section += [f"    {without_prompts(line)}".rstrip() for line in docs.splitlines()]
            section.append("")
    if section:
        lines += ["", f".. rubric:: {_TITLE}", "", *section]


def _stripped(lines: list[str]) -> list[str]:
    """Return lines without the empty ones at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def _find(app: Sphinx, obj: Any) -> tuple[ChosenBackends, str] | None:
    """Return the library of a dispatchable function, and the function's identifier."""
    if isinstance(obj, property):
        obj = obj.fget
    elif isinstance(obj, MethodType):  # a class method
        obj = obj.__func__
    for library in app.config[OPTION]:
        chosen = chosen_backends(app.config, library)
        for identifier, function in chosen.system.functions.items():
            if function is obj:
                return chosen, identifier
    return None
