"""The distributions of packages, and the requirements of distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution
from pathlib import PurePosixPath
from re import match, search, sub
from typing import TYPE_CHECKING

from .._environment import installed_distributions, installed_version

if TYPE_CHECKING:
    from .._description import Description
    from .._errors import Source


def package_of(name: str) -> str:
    """Return the top-level package of a module, or of the module that an identifier names."""
    return name.partition(":")[0].partition(".")[0]


def packages_of_sources(sources: Iterable[Source]) -> set[str]:
    """Return the top-level packages that entry points name."""
    found = (match(r"\s*[^=]*=\s*(\w+)", each.entry_point or "") for each in sources)
    return {each[1] for each in found if each}


def owners_of_packages() -> dict[str, list[str]]:
    """Return the distributions of each top-level package and module.

    Unlike `importlib.metadata.packages_distributions`, it leaves out what uninstallations have left
    behind, and on Python 3.10 it needs no ``top_level.txt``, a file that only setuptools writes.
    """
    found: dict[str, list[str]] = {}
    for each in installed_distributions():
        owner = each.metadata["Name"]
        for name in sorted(_names(each)) if owner else ():
            found.setdefault(name, []).append(owner)
    return found


def _names(installed: Distribution) -> set[str]:
    names = {*(installed.read_text("top_level.txt") or "").split()}
    if not names:
        files = [PurePosixPath(str(file)) for file in installed.files or ()]
        names = {file.parts[0] for file in files if len(file.parts) > 1}
        names |= {file.stem for file in files if len(file.parts) == 1 and file.suffix == ".py"}
    return {name for name in names if name.isidentifier()}


class Requirements:
    """The requirements of a distribution, optional or not.

    Parameters
    ----------
    name : str, optional
        The name of the distribution.
    texts : iterable of str, optional
        Its requirements, as in its metadata.

    Examples
    --------
    >>> Requirements("oil", ["cupy-cuda12x; extra == 'gpu'"]).remedy("cupy_cuda12x")
    "Install it, as 'pip install oil[gpu]' does"
    """

    def __init__(self, name: str = "", texts: Iterable[str] = ()) -> None:
        self.name = name
        self.extras: dict[str, str] = {}
        self.always: list[str] = []
        for text in texts:
            found = match(r"\s*([\w.-]+)", text)
            if found:
                extra = search(r"""\bextra\s*==\s*['"]([\w.-]+)""", text)
                if extra is None:
                    self.extras[_normal(found[1])] = ""
                else:
                    self.extras.setdefault(_normal(found[1]), extra[1])
                if ";" not in text:  # a marker may exclude this environment
                    self.always.append(found[1])

    def __contains__(self, package: str) -> bool:
        return _normal(package) in self.extras

    def remedy(self, package: str) -> str:
        """Say how to install a package; empty if it is no requirement."""
        extra = self.extras.get(_normal(package))
        if extra:
            return f"Install it, as 'pip install {self.name}[{extra}]' does"
        if extra is not None:
            return f"Install it: {self.name} requires it"
        missing = " and ".join(each for each in self.always if installed_version(each) is None)
        # A package may have another name than its distribution.
        return missing and f"Install {missing}, which {self.name} requires and which may have it"


def _normal(name: str) -> str:
    return sub("[-_.]+", "_", name).lower()


def origin_of(
    function: str, backend: str, descriptions: Mapping[str, Description]
) -> tuple[str | None, str | None]:
    """Return the distribution of a backend and its version, or None.

    The library itself and backends in its code come from the distribution of `function`, one of
    the library's functions.
    """
    description = descriptions.get(backend)
    if description is not None and description.source.distribution is not None:
        return description.source.distribution, description.source.version
    for name in owners_of_packages().get(package_of(function), ()):
        version = installed_version(name)
        if version is not None:
            return name, version
    return None, None
