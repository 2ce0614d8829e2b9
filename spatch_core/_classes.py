"""Classes and functions: their identifiers, and whether their modules keep them alive.

Invariant: nothing here runs code of a class, of its metaclass or of its module, because a
metaclass may raise from attribute access, ``==`` and ``hash``, and because `is_importable`
and `is_found` are called in the middle of a garbage collection.
"""

from __future__ import annotations

import sys
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The descriptors of `type` are called directly, past a metaclass's own attribute access.
_get_module = type.__dict__["__module__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
mro_of = type.__dict__["__mro__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE: made at run time, so it can be collected
_dict_of = type.__dict__["__dict__"].__get__
_Module = type(sys)
_module_dict_of: Any = vars(_Module)["__dict__"].__get__


def module_of(cls: type) -> str:
    """Return the name of a class's module; empty if it has none, or one that is no string."""
    try:
        module = _get_module(cls)
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def type_identifier(cls: type) -> str:
    """Return ``"module:qualname"`` of a class.

    >>> type_identifier(int)
    'builtins:int'
    """
    return f"{module_of(cls)}:{qualname_of(cls)}"


def is_importable(cls: type) -> bool:
    """Whether `cls` is found under its own identifier, so that its module keeps it alive.

    A local class is not: it is collected with the last reference to it.
    """
    if not _flags_of(cls) & _HEAP_TYPE:
        return True
    return _is_found(cls, module_of(cls), qualname_of(cls))


def is_found(function: object, identifier: str) -> bool:
    """Whether an identifier names `function`, so that its module keeps it alive."""
    module, _, qualname = identifier.partition(":")
    return _is_found(function, module, qualname)


def namespace_of(function: object) -> dict[str, Any] | None:
    """Return the globals of a function without a closure, else None."""
    if type(function) is not FunctionType or function.__closure__:
        return None
    return function.__globals__


def is_of_module(namespace: dict[str, Any] | None) -> bool:
    """Whether globals are those of an imported module."""
    if namespace is None:
        return False
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
    # `type`, because `isinstance` reads `__class__`, which may run code.
    if type(found) is staticmethod or type(found) is classmethod:
        found = found.__func__
    return found is wanted


def is_hashable_by_identity(cls: type) -> bool:
    """Whether `cls` can be a key of a dictionary: its metaclass compares by identity."""
    metaclass = type(cls)
    return metaclass.__hash__ is type.__hash__ and metaclass.__eq__ is type.__eq__
