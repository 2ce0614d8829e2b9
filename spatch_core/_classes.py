"""Classes and functions: their identifiers, and whether something keeps them alive.

Nothing here runs code of a class or of its metaclass.
"""

from __future__ import annotations

import sys
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Read through the descriptors of `type`, because a metaclass may override attribute access.
_get_module = type.__dict__["__module__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
mro_of = type.__dict__["__mro__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9  # of CPython's Py_TPFLAGS_HEAPTYPE: made at run time, so that it may go
_dict_of = type.__dict__["__dict__"].__get__
_Module = type(sys)
_module_dict_of: Any = vars(_Module)["__dict__"].__get__


def module_of(cls: type) -> str:
    """Return the name of a class's module; empty for a class that has none, or no string."""
    try:
        module = _get_module(cls)
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def type_identifier(cls: type) -> str:
    """``"module:qualname"`` of a class, whatever its metaclass does."""
    return f"{module_of(cls)}:{qualname_of(cls)}"


def is_importable(cls: type) -> bool:
    """Whether `cls` is found under its own module and qualname, and so lives on by itself.

    Runs no code but this module's: it is asked in the middle of a garbage collection.
    """
    if not _flags_of(cls) & _HEAP_TYPE:
        return True
    return _is_found(cls, module_of(cls), qualname_of(cls))


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
