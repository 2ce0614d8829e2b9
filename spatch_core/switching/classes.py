"""Makes a description of a class whose methods are the implementations of a backend."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["describe_class"]


def describe_class(cls: type, prefix: str, *, shared: type | None = None) -> dict[str, Any]:
    """Return the functions and the attributes of a description, made of a class.

    For libraries whose backends are classes, as TensorLy's are. The public methods of the class,
    inherited ones too, are implementations; its other public attributes, including classes, are
    values of attributes of the library's module. Properties and other descriptors, which have a
    value only for an instance, are left out.

    Parameters
    ----------
    cls : type
        The class. Methods that take an instance are bound to one, which is made now by calling the
        class.
    prefix : str
        The library's module: the method ``dot`` implements ``<prefix>:dot``.
    shared : type, optional
        The base class of all backends. Attributes that `cls` inherits from it or its bases are left
        out: for these, the library's own function runs, which is best ``compositional``.

    Returns
    -------
    dict
        With the keys ``functions`` and ``attributes``, for a description in code.

    Raises
    ------
    TypeError
        If `cls` or `shared` is no class, `prefix` is no name of a module, or `cls` is no subclass
        of `shared`, or cannot be imported by its name although it has values of attributes.

    Examples
    --------
    >>> from fractions import Fraction
    >>> found = describe_class(Fraction, "mylib", shared=object)
    >>> found["functions"]["mylib:limit_denominator"]["function"](max_denominator=1)
    Fraction(0, 1)
    """
    if not isinstance(cls, type):
        raise TypeError(f"describe_class() takes a class, not {cls!r}")
    if not all(map(str.isidentifier, str(prefix).split("."))):
        raise TypeError(f"describe_class() takes the name of the library's module, not {prefix!r}")
    if shared is not None and not isinstance(shared, type):
        raise TypeError(f"shared= takes a class, not {shared!r}")
    if shared is not None and not issubclass(cls, shared):
        raise TypeError(f"{cls.__qualname__} is no subclass of {shared.__qualname__}")
    functions, attributes = {}, {}
    instance: Any = None
    for name in dir(cls):
        if name.startswith("_") or (shared is not None and _is_inherited(cls, name, shared)):
            continue
        found = getattr(cls, name)
        if not callable(found) and hasattr(found, "__get__"):
            continue
        if isinstance(found, type) or not callable(found):
            attributes[f"{prefix}:{name}"] = f"{_identifier_of(cls)}.{name}"
            continue
        if _takes_instance(cls, name):
            if instance is None:
                instance = cls()
            found = getattr(instance, name)
        functions[f"{prefix}:{name}"] = {"function": found}
    return {"functions": functions, "attributes": attributes}


def _is_inherited(cls: type, name: str, shared: type) -> bool:
    """Whether a class inherits an attribute from the shared base class."""
    found = [base for base in cls.__mro__ if name in vars(base)]
    return not found or issubclass(shared, found[0])


def _takes_instance(cls: type, name: str) -> bool:
    found = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
    return hasattr(found, "__get__") and not isinstance(found, (staticmethod, classmethod))


def _identifier_of(cls: type) -> str:
    """Return the identifier of a class, which must be importable by it."""
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not cls:
        raise TypeError(
            f"{cls!r} has values of attributes, and cannot be imported as "
            f"{cls.__module__}:{cls.__qualname__}"
        )
    return f"{cls.__module__}:{cls.__qualname__}"
