"""The section "Backends" in docstrings that autodoc shows."""

from __future__ import annotations

from contextlib import suppress
from inspect import cleandoc
from types import MethodType
from typing import TYPE_CHECKING, Any

from .._loading import summary_of, without_prompts
from .chosen import OPTION, ChosenBackends, chosen_backends

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_TITLE = "Backends"


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

    Importing a module for its documentation may discover them after `restore_docstrings`.

    The parameters are those of the event ``autodoc-process-docstring``.
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
    lines += section_lines(chosen, identifier)


def section_lines(chosen: ChosenBackends, identifier: str) -> list[str]:
    """Return the section of a function in reStructuredText; empty without backends."""
    lines: list[str] = []
    for description, implementation in chosen.implementing(identifier):
        # An address that ends in an underscore would be taken for the name of another link.
        url = description.url.replace("_", r"\_")
        lines += [
            f"`{description.name} <{url}>`__" if url else f"``{description.name}``",
            f"    {summary_of(description, '``', links=False)}",
            "",
        ]
        docs = cleandoc(implementation.additional_docs).strip()
        if docs:
            lines += [f"    {without_prompts(line)}".rstrip() for line in docs.splitlines()]
            lines.append("")
    return ["", f".. rubric:: {_TITLE}", "", *lines] if lines else []


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
        identifier = chosen.identifier_of(obj)
        if identifier is not None:
            return chosen, identifier
    return None
