"""Classes: their identifiers, and whether their modules keep them alive.

Invariant: nothing here runs code of a class, of its metaclass or of its module, because a
metaclass may raise from attribute access, ``==`` and ``hash``, and because `is_importable`
is called in the middle of a garbage collection.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The descriptors of `type` are called directly, past a metaclass's own attribute access.
_get_module = type.__dict__["__module__"].__get__
_get_qualname = type.__dict__["__qualname__"].__get__
mro_of = type.__dict__["__mro__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
_get_abstract_methods = type.__dict__["__abstractmethods__"].__get__
# Modules of Python's own classes, and of abstract classes some of which have no abstract method.
_GENERAL_MODULES = frozenset({"abc", "builtins", "collections.abc", "io", "numbers", "typing"})
_HEAP_TYPE = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE: made at run time, so it can be collected
dict_of = type.__dict__["__dict__"].__get__
bases_of = type.__dict__["__bases__"].__get__
_Module = type(sys)
_module_dict_of: Any = vars(_Module)["__dict__"].__get__


def module_of(cls: type) -> str:
    """Return the name of a class's module; empty if ``__module__`` is missing or not a string."""
    try:
        module = _get_module(cls)
    except AttributeError:
        return ""
    return _text(module) if _is_instance(module, str) else ""


def qualname_of(cls: type) -> str:
    """Return the qualname of a class."""
    return _text(_get_qualname(cls))


def _is_instance(value: object, cls: type) -> bool:
    # `isinstance` reads `__class__` of the value, which may run code.
    return type(value) is cls or is_derived(type(value), cls)


def is_derived(cls: type, other: type) -> bool:
    """Whether `other` is on the MRO of `cls`, whatever their metaclasses say.

    >>> is_derived(bool, int), is_derived(int, bool)
    (True, False)
    """
    # By identity: `in` would ask a metaclass. A loop takes half as long as `any`.
    for each in mro_of(cls):  # noqa: SIM110
        if each is other:
            return True
    return False


def is_class(value: object) -> bool:
    """Whether `value` is a class; runs no code of it."""
    return _is_instance(value, type)


def _text(value: str) -> str:
    """Return `value` as an exact `str`, whose methods run no code of a subclass."""
    return value if type(value) is str else str.__str__(value)


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


def _is_found(wanted: object, module: str, qualname: str) -> bool:
    found: object = sys.modules.get(module)
    for part in qualname.split("."):
        if is_class(found):
            found = dict_of(found).get(part)
        elif _is_instance(found, _Module):
            found = _module_dict_of(found).get(part)
        else:
            return False
    if type(found) is staticmethod or type(found) is classmethod:
        found = found.__func__
    return found is wanted


def is_hashable_by_identity(cls: type) -> bool:
    """Whether `cls` can be a key of a dictionary: its metaclass compares by identity."""
    metaclass = type(cls)
    return metaclass is type or (
        defined(metaclass, "__hash__") is _identity_hash
        and defined(metaclass, "__eq__") is _identity_eq
    )


def defined(cls: type, name: str) -> object:
    """Return the attribute of the first class on the MRO that defines it, else None."""
    for each in mro_of(cls):
        namespace = dict_of(each)
        if name in namespace:
            return namespace[name]
    return None


_identity_hash = defined(type, "__hash__")
_identity_eq = defined(type, "__eq__")


def is_general(cls: type) -> bool:
    """Whether `cls` is too general to say much about its subclasses.

    True for Python's own classes and for the abstract classes of the standard library.

    >>> import collections.abc, fractions
    >>> is_general(float), is_general(collections.abc.Hashable), is_general(fractions.Fraction)
    (True, True, False)
    """
    # The name of the module does not suffice: `ABCMeta("Array", (), {})` makes a class of `abc`.
    if not is_importable(cls):
        return False
    module = module_of(cls)
    if module in _GENERAL_MODULES:
        return True
    try:
        is_abstract = bool(_get_abstract_methods(cls))
    except AttributeError:
        return False
    return is_abstract and module.partition(".")[0] in sys.stdlib_module_names
