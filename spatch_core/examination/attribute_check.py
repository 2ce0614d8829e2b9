"""Checks whether the attributes of a description are such of the library's modules."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from .._identifiers import nearest, split_identifier
from .findings import Finding, error, warning
from .packages import package_of
from .suggestions import did_you_mean

if TYPE_CHECKING:
    from .library_functions import LibraryFunctions


def check_attribute(identifier: str, functions: LibraryFunctions) -> Finding | None:
    """Return why an attribute would follow no backend.

    Parameters
    ----------
    identifier : str
        That of the attribute, ``"lib:name"``.
    functions : LibraryFunctions
        Those of the library; its modules are imported with them.
    """
    module, name = split_identifier(identifier)
    functions.import_module(module)
    found = sys.modules.get(module)
    if found is None:
        return functions.findings.get(module) or _absent(module, functions)
    if type(found) is not ModuleType:  # its class may do anything
        return None
    if name in vars(found):
        return warning(
            f"module {module!r} has a {name!r} of its own, which follows no backend",
            "Remove it here, or implement it as a function if it is one",
        )
    if "__getattr__" not in vars(found):
        return warning(
            f"attributes of module {module!r} follow no backend",
            "Remove it, or have the library use switching.attributes in that module",
        )
    return None


def _absent(module: str, functions: LibraryFunctions) -> Finding | None:
    modules = {package_of(each) for each in functions.known()}
    if functions.system is not None:
        modules |= {each for each in sys.modules if package_of(each) in modules}
    if not modules:
        return None
    remedy = did_you_mean(nearest(module, modules), "Name a module of the library")
    return error(f"the library has no module {module!r}", remedy)
