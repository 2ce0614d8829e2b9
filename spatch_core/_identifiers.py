"""Identifiers (``"module:qualname"``), type patterns and backend names.

Parsing needs no import of what is named; only `import_identifier` imports.
"""

from __future__ import annotations

import sys
from types import FunctionType

from .exceptions import IdentifierError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final, Literal

EXACT: Final = ""
SUBCLASS: Final = "~"
ABSTRACT: Final = "@"

DEFAULT: Final = "default"
"""The name under which the library itself stands in the order."""

# Read through the descriptors of `type`, because a metaclass may override attribute access.
_get_module = type.__dict__["__module__"].__get__
_qualname_of = type.__dict__["__qualname__"].__get__
_mro_of = type.__dict__["__mro__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9  # of CPython's Py_TPFLAGS_HEAPTYPE: made at run time, so that it may go
_dict_of = type.__dict__["__dict__"].__get__
_Module = type(sys)
_module_dict_of: Any = vars(_Module)["__dict__"].__get__


def _module_of(cls: type) -> str:
    """Return the name of a class's module; empty for a class that has none, or no string."""
    try:
        module = _get_module(cls)
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def split_identifier(text: object) -> tuple[str, str]:
    """Split ``"module:qualname"`` into its two parts.

    Parameters
    ----------
    text : str
        The identifier.

    Returns
    -------
    module, qualname : str
        Both dotted names.

    Raises
    ------
    IdentifierError
        If `text` is not an identifier.

    Examples
    --------
    >>> split_identifier("dask.array:Array.sum")
    ('dask.array', 'Array.sum')
    """
    if isinstance(text, str):
        module, separator, qualname = text.partition(":")
        if separator and is_dotted_name(module) and is_dotted_name(qualname):
            return module, qualname
    raise IdentifierError(text, "an identifier of the form 'module:qualname'")


def is_dotted_name(text: str) -> bool:
    """Whether `text` is Python names joined by dots, as in a qualname."""
    if text.isidentifier():
        return True
    for part in text.split("."):  # noqa: SIM110  # a generator takes three times as long
        if not part.isidentifier() and part != "<locals>":
            return False
    return True


def is_backend_name(text: object) -> bool:
    r"""Whether `text` follows the grammar of backend names, ``[\w.-]+``."""
    return (
        isinstance(text, str)
        and text != ""
        and all(character.isalnum() or character in "_.-" for character in text)
    )


def import_identifier(identifier: str) -> object:
    """Import the module of an identifier and look its qualname up.

    Parameters
    ----------
    identifier : str
        ``"module:qualname"``.

    Returns
    -------
    object
        What the identifier names.

    Raises
    ------
    ImportError
        If the module has no such attribute.
    Exception
        Whatever importing the module raises.
    """
    # Only reached on first use of something; the package is part of a running interpreter.
    from importlib import import_module

    module, qualname = split_identifier(identifier)
    found: object = import_module(module)
    for part in qualname.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            hint = nearest(part, dir(found))
            meant = f"; did you mean {' or '.join(map(repr, hint))}?" if hint else ""
            raise ImportError(f"{identifier!r} does not exist: {error}{meant}") from error
    return found


def is_importing() -> bool:
    """Whether this thread is in the middle of importing a module."""
    frame = sys._getframe()
    while frame.f_back is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def is_initializing(module: object) -> bool:
    """Whether a module is in the middle of being imported."""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def is_awaited(name: str) -> bool:
    """Whether a module has not been imported, or not to its end."""
    module = sys.modules.get(name)
    return module is None or is_initializing(module)


def loaded_object(module: str, qualname: str, hooks: bool = True) -> object:
    """Return the object that an identifier names if its module is imported, else None.

    Nothing is imported, but what a module's own ``__getattr__`` imports.

    Parameters
    ----------
    module, qualname : str
        The two parts of the identifier.
    hooks : bool, optional
        Whether the module's own ``__getattr__`` may be asked.
    """
    found: object = sys.modules.get(module)
    if found is None:
        return None
    try:
        if not hooks and qualname.partition(".")[0] not in vars(found):
            return None
        for part in qualname.split("."):
            found = getattr(found, part)
    except Exception:  # noqa: BLE001
        # A module's or class's own attribute hook failed: it does not have the attribute.
        return None
    return found


def type_identifier(cls: type) -> str:
    """``"module:qualname"`` of a class, whatever its metaclass does."""
    return f"{_module_of(cls)}:{_qualname_of(cls)}"


def is_importable(cls: type) -> bool:
    """Whether `cls` is found under its own module and qualname, and so lives on by itself.

    Runs no code but this module's: it is asked in the middle of a garbage collection.
    """
    if not _flags_of(cls) & _HEAP_TYPE:
        return True
    return _is_found(cls, _module_of(cls), _qualname_of(cls))


def is_found(function: object, identifier: str) -> bool:
    """Whether `function` is what an identifier names, and so lives on by itself.

    Runs no code but this module's, as `is_importable`.
    """
    module, _, qualname = identifier.partition(":")
    return _is_found(function, module, qualname)


def is_of_module(function: object) -> bool:
    """Whether all that a function refers to by name are globals of an imported module."""
    if type(function) is not FunctionType or function.__closure__:
        return False
    namespace = function.__globals__
    name = namespace.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return isinstance(module, _Module) and _module_dict_of(module) is namespace


def _is_found(wanted: object, module: str, qualname: str) -> bool:
    found: object = sys.modules.get(module)
    for part in qualname.split("."):
        if isinstance(found, type):
            found = _dict_of(found).get(part)
        elif isinstance(found, _Module):
            found = _module_dict_of(found).get(part)
        else:
            return False
    # Its `__class__` might run code.
    if type(found) is staticmethod or type(found) is classmethod:
        found = found.__func__
    return found is wanted


def is_hashable_by_identity(cls: type) -> bool:
    """Whether `cls` may be a key of a dictionary: its metaclass compares by identity."""
    metaclass = type(cls)
    return metaclass.__hash__ is type.__hash__ and metaclass.__eq__ is type.__eq__


class TypePattern:
    """``"m:Q"``, ``"~m:Q"`` or ``"@m:Q"``: which types a backend means.

    Parameters
    ----------
    text : str
        The pattern.

    Attributes
    ----------
    prefix : str
        `EXACT`, `SUBCLASS` or `ABSTRACT`.
    identifier, module, qualname : str
        The pattern without its prefix, and the two parts of that.

    Raises
    ------
    IdentifierError
        If `text` is not a type pattern.
    """

    __slots__ = ("identifier", "module", "prefix", "qualname")

    prefix: Literal["", "~", "@"]
    identifier: str
    module: str
    qualname: str

    def __init__(self, text: object) -> None:
        prefix: Literal["", "~", "@"] = EXACT
        identifier = text
        if isinstance(text, str) and text[:1] == SUBCLASS:
            prefix, identifier = SUBCLASS, text[1:]
        elif isinstance(text, str) and text[:1] == ABSTRACT:
            prefix, identifier = ABSTRACT, text[1:]
        try:
            self.module, self.qualname = split_identifier(identifier)
        except IdentifierError:
            raise IdentifierError(
                text,
                "a type pattern of the form 'module:qualname', '~module:qualname' "
                "(subclasses too) or '@module:qualname' (abstract base class)",
            ) from None
        self.prefix = prefix
        self.identifier = f"{self.module}:{self.qualname}"

    def __str__(self) -> str:
        return self.prefix + self.identifier

    def __repr__(self) -> str:
        return f"TypePattern({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypePattern) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def names(self, cls: type) -> bool:
        """Whether an exact or subclass pattern means `cls`; imports nothing.

        Parameters
        ----------
        cls : type
            The class asked about.

        Returns
        -------
        bool
            True if `cls` (for a subclass pattern, a class on its MRO) has the pattern's
            module and qualname, or is the object that the pattern names in a module that
            is imported already.
        """
        classes = (cls,) if self.prefix == EXACT else _mro_of(cls)
        if any(
            _qualname_of(each) == self.qualname and _module_of(each) == self.module
            for each in classes
        ):
            return True
        resembles = any(self._resembles(each, known=False) for each in classes)
        named = loaded_object(self.module, self.qualname, hooks=resembles)
        return named is not None and any(each is named for each in classes)

    def _resembles(self, cls: type, known: bool) -> bool:
        """Whether it could be an alias of `cls`: see `may_alias`."""
        if self.module.partition(".")[0] == _module_of(cls).partition(".")[0]:
            return True
        last = self.qualname.rpartition(".")[2]
        return not known and last == _qualname_of(cls).rpartition(".")[2]

    def may_alias(self, cls: type, known: bool) -> bool:
        """Whether importing the pattern's module later may show that it names `cls`.

        A public alias stands in the package that defines the class; one that stands
        elsewhere keeps the name, and is looked for only where the class is not `known`
        under another one.
        """
        if self.prefix == ABSTRACT:
            # It was imported to be asked; half of it, if that was in the middle of its import.
            return self.module in sys.modules and is_awaited(self.module)
        classes = (cls,) if self.prefix == EXACT else _mro_of(cls)
        return is_awaited(self.module) and any(self._resembles(each, known) for each in classes)


def nearest(name: object, names: Iterable[str], similarity: float = 0.6) -> list[str]:
    """Return the `names` that resemble `name` most, at most three.

    Parameters
    ----------
    name : object
        What was found.
    names : iterable of str
        What it may have been meant to be.
    similarity : float, optional
        From 0 (nothing in common) to 1 (the same), as `difflib` measures it.
    """
    from difflib import get_close_matches

    return get_close_matches(str(name), list(names), n=3, cutoff=similarity)
