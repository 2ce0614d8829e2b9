"""The backends that ``conf.py`` chooses, read from their descriptions.

The result is the same in every environment: it depends neither on environment variables, nor on
other installed backends, nor on whether the requirements of a backend are met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._description import Description, Implementation, parse_toml
from .._discovery import name_of, read_installed, source_of
from .._environment import BLOCK, find_entry_points
from .._errors import Source, nearest
from .._parsing import parse_description
from .._patterns import import_identifier
from ..examination.libraries import (
    Library,
    find_library,
    import_public_names,
    is_adopted,
    is_system,
)
from ..exceptions import DescriptionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from ..backend_system import BackendSystem

OPTION = "spatch_backends"
"""The option in ``conf.py``."""
_FILE = ".toml"


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

    Raises
    ------
    ChoiceError
        If the library or a backend does not exist, or a description has faults.
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
    system, found = _system(library)
    import_public_names(found)
    # Backends that are not chosen are not read. Of several entry points with one name, the first.
    points = [] if system.group is None else find_entry_points(system.group)[0]
    installed = {each.name: each for each in reversed(points)}
    in_code = {name_of(each): each for each in reversed(system._in_code)}
    descriptions = []
    for name in names:
        try:
            if name.endswith(_FILE):
                read = _from_file(Path(name))
            elif name in in_code:
                read = parse_description(in_code[name], Source(), None, True, system.functions)
            elif name in installed:
                block = f"{system.environ_prefix}_{BLOCK}"
                source = source_of(installed[name])
                read = read_installed(installed[name], source, system.functions, block)
            else:
                meant = nearest(name, [*installed, *filter(None, map(str, in_code))])
                hint = f"did you mean {meant[0]!r}?" if meant else "install it, or give its file"
                raise ChoiceError(f"{library} has no backend {name!r}: {hint}")
        except DescriptionError as error:
            faults = [str(each) for each in error.problems if each.skips]
            raise ChoiceError("\n".join(faults)) from None
        descriptions.append(read)
    return ChosenBackends(system, tuple(descriptions))


def _system(name: str) -> tuple[BackendSystem, Library]:
    """Return the system of a library, without discovering its backends."""
    try:
        library = Library(name, name, Source()) if ":" in name else find_library(name)
        found: Any = import_identifier(library.identifier)
    except (LookupError, ImportError, ValueError) as error:
        raise ChoiceError(str(error)) from error
    if not is_system(found):
        raise ChoiceError(f"{library.identifier!r} is not a BackendSystem")
    return found, library


def _from_file(path: Path) -> Description:
    try:
        return parse_description(parse_toml(path.read_bytes()), Source(file=str(path)))
    except (OSError, ValueError, RecursionError) as error:
        raise ChoiceError(f"{path} cannot be read: {error}") from error
