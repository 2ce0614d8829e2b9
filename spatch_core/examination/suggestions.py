"""Finds the name that a misspelled one means: of a module, attribute, function or backend."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from re import search

from .._identifiers import DEFAULT, nearest
from .packages import package_of

_SIMILARITY = 0.75
_SHORTEST_FUNCTION = 2
_SHORTEST = 4
"""Shorter names of backends resemble each other too much."""
_SIMILAR_TO_DEFAULT = 0.8
_JOKES = {"antigravity", "this"}
"""Modules of Python's that do something when imported, and have no types."""


def submodules_like(absent: str) -> list[str]:
    """Return modules whose names resemble that of one that is not there."""
    parent, _, last = absent.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None)
    names = [] if path is None else [each.name for each in iter_modules(list(path))]
    return [f"{parent}.{name}" for name in nearest(last, set(names) - {last})]


def attributes_like(thing: object, name: str) -> list[str]:
    """Return attributes of a module or class whose names resemble `name`."""
    try:
        return nearest(name, dir(thing))
    except Exception:  # noqa: BLE001  # a third party's __dir__
        return []


def did_you_mean(names: list[str], otherwise: str = "") -> str:
    """Return the question whether one of these names was meant, if there is any."""
    return f"Did you mean {' or '.join(map(repr, names))}?" if names else otherwise


def functions_like(identifier: str, known: Iterable[str]) -> list[str]:
    """Return the functions whose identifiers are nearly this one, part by part, at most three.

    The module alone is not enough, and digits must be the same.

    Parameters
    ----------
    identifier : str
        That of no function.
    known : iterable of str
        Those that there are.

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
    """Return the functions that may be meant; unlike `functions_like`, it need not be certain.

    One letter of a short name counts for much in its similarity to another one.

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
    """Return the digits of a name. A different digit is no misspelling: it means another name."""
    return "".join(filter(str.isdigit, name))


def has_name(module: str, name: str) -> bool | None:
    """Whether a module has a name; None if its text does not tell. Third-party code is not run."""
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
    """Find a module without importing the packages around it."""
    package, *rest = module.split(".")
    spec = find_spec(package)
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        package = f"{package}.{part}"
        spec = PathFinder.find_spec(package, list(spec.submodule_search_locations))
    return spec


def meant_backend(name: str, names: Iterable[str]) -> str | None:
    """Return the backend that a misspelled name means; None if that is not certain.

    Only slips of the keyboard count: names of backends resemble each other, and a name of a
    backend that is not installed is no fault.

    Parameters
    ----------
    name : str
        The name that was found.
    names : iterable of str
        The names of the backends and of the library.

    Examples
    --------
    >>> meant_backend("duda", ["cuda", "dask"]), meant_backend("cuda11", ["cuda12", "cuda"])
    (None, None)
    >>> meant_backend("dsak", ["cuda", "dask"]), meant_backend("Defalt", ["default"])
    ('dask', 'default')
    """
    known = set(names)
    if name in known:
        return None
    if (
        DEFAULT in known
        and digits(name) == ""
        and nearest(name.lower(), [DEFAULT], _SIMILAR_TO_DEFAULT)
    ):
        return DEFAULT
    return next((each for each in sorted(known) if _is_slip(name, each)), None)


def _is_slip_of_one(name: str, right: str) -> bool:
    """Whether one letter differs, is missing or too many."""
    if digits(name) != digits(right) or min(len(name), len(right)) < _SHORTEST_FUNCTION:
        return False
    if len(name) == len(right):
        return sum(one != other for one, other in zip(name, right, strict=True)) <= 1
    return _lacks_one(name, right)


def _lacks_one(name: str, right: str) -> bool:
    """Whether one of two names is the other without one letter."""
    short, long = sorted([name, right], key=len)
    return any(short == long[:i] + long[i + 1 :] for i in range(len(long)))


def _is_slip(name: str, right: str) -> bool:
    """Whether two letters are swapped, one is missing or too many, or case and dashes differ."""
    if digits(name) != digits(right) or max(len(name), len(right)) < _SHORTEST:
        return False
    if _plain(name) == _plain(right):
        return True
    if len(name) == len(right):
        pairs = range(len(right) - 1)
        return any(name == right[:i] + right[i + 1] + right[i] + right[i + 2 :] for i in pairs)
    return _lacks_one(name, right)


def _plain(name: str) -> str:
    return "".join(each for each in name.lower() if each not in "-_.")
