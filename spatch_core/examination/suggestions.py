"""Suggestions for misspelled names of modules, attributes and functions."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from re import search

from .._errors import nearest
from .packages import package_of

_SIMILARITY = 0.75
"""The least similarity of each part of a misspelled function."""
_SHORTEST_FUNCTION = 2
"""The least length of names: shorter ones resemble each other by chance."""
_JOKES = {"antigravity", "this"}
"""Modules of the standard library that act when they are imported, and have no types."""


def submodules_like(absent: str) -> list[str]:
    """Return submodules beside an absent one that have similar names."""
    parent, _, last = absent.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None)
    names = [] if path is None else [each.name for each in iter_modules(list(path))]
    return [f"{parent}.{name}" for name in nearest(last, set(names) - {last})]


def attributes_like(thing: object, name: str) -> list[str]:
    """Return attributes of a module or class with names similar to `name`."""
    try:
        return nearest(name, dir(thing))
    except Exception:  # noqa: BLE001  # a third party's __dir__
        return []


def did_you_mean(names: list[str], otherwise: str = "") -> str:
    """Ask whether one of the names was meant; without names, return `otherwise`."""
    return f"Did you mean {' or '.join(map(repr, names))}?" if names else otherwise


def functions_like(identifier: str, known: Iterable[str]) -> list[str]:
    """Return up to three functions whose module and qualname are both similar.

    Digits must be the same.

    Examples
    --------
    >>> functions_like("lib.fft:ffft", ["lib.fft:fft", "lib.fft:fft2", "lib.fft:shift"])
    ['lib.fft:fft']
    >>> functions_like("lib.ftt:fft", ["lib.fft:fft", "other.io:fft"])
    ['lib.fft:fft']
    """
    module, _, qualname = identifier.partition(":")
    package = package_of(module)
    found: dict[str, int] = {}
    for each in known:
        own_module, _, own = each.partition(":")
        if digits(own) != digits(qualname) or not nearest(qualname, [own], _SIMILARITY):
            continue
        if own_module == module:
            found[each] = 0
        elif nearest(module, [own_module], _SIMILARITY):
            found[each] = 1
        elif own == qualname and package_of(own_module) == package:
            found[each] = 2
    best = min(found.values(), default=0)
    return nearest(identifier, [each for each, rank in found.items() if rank == best], 0)


def functions_near(identifier: str, known: Iterable[str]) -> list[str]:
    """Return the functions that may be meant, also if they are only slightly similar.

    Besides `functions_like`, these are functions of the same module whose names differ in one
    letter, which makes short names dissimilar.

    Examples
    --------
    >>> functions_like("lib:fm", ["lib:fn"]), functions_near("lib:fm", ["lib:fn", "lib:blur"])
    ([], ['lib:fn'])
    """
    module, _, qualname = identifier.partition(":")
    own = {each.partition(":")[2]: each for each in known if each.partition(":")[0] == module}
    slips = [own[name] for name in own if _is_slip_of_one(qualname, name)]
    return functions_like(identifier, known) or nearest(identifier, slips)


def digits(name: str) -> str:
    """Return the digits of a name: names with different digits are not misspellings."""
    return "".join(filter(str.isdigit, name))


def has_name(module: str, name: str) -> bool | None:
    """Whether a module has a name, without running third-party code; None if that is not clear."""
    try:
        is_own = package_of(module) in sys.stdlib_module_names - _JOKES
        if module in sys.modules or is_own:
            return hasattr(import_module(module), name)
        spec = _find(module)
        file = Path(str(spec and spec.origin))
        texts = [file.with_suffix(each) for each in (".py", ".pyi")]
        text = "\n".join(each.read_text("utf-8") for each in texts if each.is_file())
    except Exception:  # noqa: BLE001  # a third party's finder, or no text in UTF-8
        return False
    if search(rf"\b{name}\b", text):
        return True
    is_hidden = search(r"import \*|def __getattr__", text) or file.suffix in EXTENSION_SUFFIXES
    return None if is_hidden else False


def _find(module: str) -> ModuleSpec | None:
    """Return the spec of a module without importing the packages around it."""
    package, *rest = module.split(".")
    spec = find_spec(package)
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        package = f"{package}.{part}"
        spec = PathFinder.find_spec(package, list(spec.submodule_search_locations))
    return spec


def _is_slip_of_one(name: str, right: str) -> bool:
    """Whether two names differ by one letter that is replaced, missing or added."""
    if digits(name) != digits(right) or min(len(name), len(right)) < _SHORTEST_FUNCTION:
        return False
    if len(name) == len(right):
        return sum(one != other for one, other in zip(name, right, strict=True)) <= 1
    return _lacks_one(name, right)


def _lacks_one(name: str, right: str) -> bool:
    """Whether one of two names is the other one without a letter."""
    short, long = sorted([name, right], key=len)
    return any(short == long[:i] + long[i + 1 :] for i in range(len(long)))
