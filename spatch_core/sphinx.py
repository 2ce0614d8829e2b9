"""An extension of Sphinx that adds chosen backends to the documentation of a library.

``conf.py`` chooses the backends, whose descriptions are read. The result is the same in every
environment: it depends neither on environment variables, nor on other installed backends, nor on
whether the requirements of a backend are met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from inspect import cleandoc
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from docutils import nodes
from docutils.parsers.rst import Directive

from . import __version__
from ._description import Description, Implementation, Source, summary_of, without_prompts
from ._discovery import name_of
from ._environment import BLOCK, find_entry_points, parse_toml, read_installed, source_of
from ._errors import nearest
from ._parsing import parse_description
from ._patterns import import_identifier
from .examination.libraries import (
    Library,
    find_library,
    import_public_names,
    is_adopted,
    is_kind_of_system,
)
from .exceptions import DescriptionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from .backend_system import BackendSystem

__all__ = ["setup"]

OPTION = "spatch_backends"
"""The option in ``conf.py``."""
_FILE = ".toml"
_OURS = "spatch_backends"
"""The attribute of references to functions, which need not be documented."""
_TITLE = "Backends"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive ``spatch-backends`` and the section "Backends" of docstrings.

    Parameters
    ----------
    app : sphinx.application.Sphinx
        Sphinx, which calls this for ``extensions = ["spatch_core.sphinx"]``.

    Returns
    -------
    dict
        The metadata of the extension.
    """
    app.setup_extension("sphinx.ext.autodoc")
    app.add_config_value(OPTION, {}, "env", types=(dict,))
    app.add_directive("spatch-backends", Matrix)
    app.connect("config-inited", resolve_paths)
    app.connect("builder-inited", read_all)
    app.connect("builder-inited", restore_docstrings)
    app.connect("autodoc-process-signature", restore_docstrings, priority=100)
    # numpydoc and napoleon have priorities in between. They must not see the section: numpydoc
    # drops sections that it does not know.
    app.connect("autodoc-process-docstring", remove_section, priority=100)
    app.connect("autodoc-process-docstring", add_section, priority=900)
    app.connect("missing-reference", keep_text, priority=900)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}


# --- The chosen backends --------------------------------------------------------------------------


class ChoiceError(Exception):
    """A library or a backend in ``conf.py`` cannot be read."""


class ChosenBackends(NamedTuple):
    """A library's system, with the backends that its documentation shows, in their order."""

    system: BackendSystem
    descriptions: tuple[Description, ...]

    @property
    def files(self) -> list[str]:
        """The files of the descriptions."""
        return [each.source.file for each in self.descriptions if each.source.file]

    @property
    def identifiers(self) -> list[str]:
        """The library's functions, and the adopted ones that a backend names."""
        adopts = partial(is_adopted, self.system)
        named = {name for each in self.descriptions for name in each.functions}
        return sorted({*self.system.functions, *filter(adopts, named)})

    def implementing(self, identifier: str) -> list[tuple[Description, Implementation]]:
        """Return the backends that implement a function, with their implementations."""
        found = [(each, each.implementation(identifier)) for each in self.descriptions]
        return [(each, how) for each, how in found if how is not None]


def chosen_backends(config: Any, library: str) -> ChosenBackends:
    """Return the chosen backends of a library, by its name or ``"module:system"``.

    Raises `ChoiceError` if it or a backend does not exist, or a description has faults.
    """
    choices: Mapping[str, Sequence[str]] = config[OPTION]
    if library not in choices:
        meant = nearest(library, choices)
        hint = f"did you mean {meant[0]!r}?" if meant else f"add it to {OPTION} in conf.py"
        raise ChoiceError(f"no backends are chosen for a library {library!r}: {hint}")
    return _read(library, tuple(choices[library]))


def resolve_paths(app: Sphinx, config: Any) -> None:
    """Resolve paths of files relative to the folder of ``conf.py``."""
    config[OPTION] = {
        library: [str(Path(app.confdir, each)) if each.endswith(_FILE) else each for each in names]
        for library, names in config[OPTION].items()
    }


def read_all(app: Sphinx) -> None:
    """Read all descriptions at the start of a build, which faults end."""
    from sphinx.errors import ConfigError

    _read.cache_clear()
    for library in app.config[OPTION]:
        try:
            chosen_backends(app.config, library)
        except ChoiceError as error:
            raise ConfigError(f"{OPTION}[{library!r}]: {error}") from error


@cache
def _read(library: str, names: tuple[str, ...]) -> ChosenBackends:
    try:
        found = Library(library, library, Source()) if ":" in library else find_library(library)
        system: Any = import_identifier(found.identifier)  # which discovers no backends
    except (LookupError, ImportError, ValueError) as error:
        raise ChoiceError(str(error)) from error
    if not is_kind_of_system(type(system)):
        raise ChoiceError(f"{found.identifier!r} is not a BackendSystem")
    import_public_names(found)
    # Backends that are not chosen are not read. Of several entry points with one name, the first.
    points = [] if system.group is None else find_entry_points(system.group)[0]
    installed = {each.name: each for each in reversed(points)}
    in_code = {name_of(each): each for each in reversed(system._in_code)}
    descriptions = []
    for name in names:
        try:
            if name.endswith(_FILE):
                read = parse_description(parse_toml(Path(name).read_bytes()), Source(file=name))
            elif name in in_code:
                read = parse_description(in_code[name], Source(), None, True, system.functions)
            elif name in installed:
                block = f"{system.environ_prefix}_{BLOCK}"
                source = source_of(installed[name])
                read = read_installed(installed[name], source, system.functions, block)
            else:
                meant = nearest(name, [*installed, *filter(None, in_code)])
                hint = f"did you mean {meant[0]!r}?" if meant else "install it, or give its file"
                raise ChoiceError(f"{library} has no backend {name!r}: {hint}")
        except DescriptionError as error:
            faults = [str(each) for each in error.problems if each.skips]
            raise ChoiceError("\n".join(faults)) from None
        except (OSError, ValueError, RecursionError) as error:
            raise ChoiceError(f"{name} cannot be read: {error}") from error
        descriptions.append(read)
    return ChosenBackends(system, tuple(descriptions))


# --- Pages: the directive, and the section in docstrings ------------------------------------------


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
    if found is not None and _TITLE in lines:
        from sphinx.util.docstrings import prepare_docstring

        function = found[0].system.functions[found[1]]
        lines[:] = prepare_docstring(function.__wrapped__.__doc__ or "")


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
