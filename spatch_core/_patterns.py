"""Identifiers and backend names, classes, and the type patterns that name classes.

Only `import_identifier` imports the module that an identifier names.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Literal, TypeGuard

DEFAULT: Final = "default"
"""The name of the library itself in the priority order."""
GENERATED: Final = "<dispatch of "
"""The prefix of generated code's file names; the globals of such code may be the library's."""


# Names


def shown(backend: str, default_name: str) -> str:
    """Return the name of a backend that users see; the library may have a name of its own."""
    return default_name if backend == DEFAULT else backend


def is_backend_name(text: object) -> TypeGuard[str]:
    r"""Whether `text` follows the grammar of backend names, ``[\w.-]+``."""
    return (
        isinstance(text, str)
        and text != ""
        and all(character.isalnum() or character in "_.-" for character in text)
    )


def is_dotted_name(text: str) -> bool:
    """Whether `text` consists of Python names joined by dots, as a qualname does."""
    if text.isidentifier():
        return True
    for part in text.split("."):  # noqa: SIM110  # a generator takes three times as long
        if not part.isidentifier() and part != "<locals>":
            return False
    return True


def is_identifier(text: object) -> TypeGuard[str]:
    """Whether `text` has the form ``"module:qualname"``."""
    if not isinstance(text, str):
        return False
    module, separator, qualname = text.partition(":")
    if separator == "" or not is_dotted_name(qualname):
        return False
    # In code, the module may have a name such as "<test>", which no import finds.
    is_bracketed = module[:1] == "<" and module[-1:] == ">"
    return is_dotted_name(module[1:-1] if is_bracketed else module)


def is_type_pattern(text: object) -> TypeGuard[str]:
    """Whether `text` is a type pattern; if not, `TypePattern` raises an error that says why."""
    return isinstance(text, str) and is_identifier(text[1:] if text[:1] in ("~", "@") else text)


def split_identifier(text: object) -> tuple[str, str]:
    """Split ``"module:qualname"`` into its two parts; raises `IdentifierError`.

    >>> split_identifier("dask.array:Array.sum")
    ('dask.array', 'Array.sum')
    """
    if is_identifier(text):
        module, _, qualname = text.partition(":")
        return module, qualname
    from .exceptions import IdentifierError  # imported only to raise

    raise IdentifierError(text, "an identifier of the form 'module:qualname'")


# The objects that identifiers name


def import_identifier(identifier: str) -> object:
    """Import the module of an identifier and look up its qualname.

    Raises `ImportError` if the module has no such attribute, and anything that the module raises.
    """
    module, qualname = split_identifier(identifier)
    # Deferred, because importing a library does not get here.
    from importlib import import_module

    found: object = import_module(module)
    for part in qualname.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            from ._errors import either, nearest

            hint = nearest(part, dir(found))
            meant = f"; did you mean {either(hint)}?" if hint else ""
            raise ImportError(f"{identifier!r} does not exist: {error}{meant}") from error
    return found


def loaded_object(module: str, qualname: str, hooks: bool = True) -> object:
    """Return the object that an identifier names if its module is imported, else None.

    Nothing is imported, except by a module's own ``__getattr__``, which is called if `hooks`.
    """
    found: object = sys.modules.get(module)
    if found is None:
        return None
    try:
        if not hooks and qualname.partition(".")[0] not in vars(found):
            return None
        for part in qualname.split("."):
            found = getattr(found, part)
    except Exception:  # noqa: BLE001  # whatever it raises
        # A failing `__getattr__` of a module or class counts as a missing attribute.
        return None
    return found


def is_initializing(module: object) -> bool:
    """Whether a module is in the middle of being imported."""
    try:
        return getattr(getattr(module, "__spec__", None), "_initializing", False) is True
    except Exception:  # noqa: BLE001  # whatever it raises
        # A stand-in for a missing module may raise from attribute access.
        return False


def is_awaited(name: str) -> bool:
    """Whether a module is not imported, or not completely."""
    module = sys.modules.get(name)
    return module is None or is_initializing(module)


# Classes. A metaclass may raise from `==` and `hash`, and an object may import a module when
# `isinstance` asks for its `__class__`; neither is asked here.

# The descriptors of `type` are called directly, past a metaclass's own attribute access.
mro_of = type.__dict__["__mro__"].__get__
bases_of = type.__dict__["__bases__"].__get__
dict_of = type.__dict__["__dict__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
_HEAP_TYPE = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE: made at run time, so it can be collected
# Modules of Python's own classes, and of abstract classes some of which have no abstract method.
_GENERAL_MODULES = frozenset({"abc", "builtins", "collections.abc", "io", "numbers", "typing"})


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
    """Whether `value` is a class."""
    return is_derived(type(value), type)


def module_of(cls: type) -> str:
    """Return the name of a class's module; empty if ``__module__`` is missing or not a string."""
    module: object = getattr(cls, "__module__", None)
    return module if isinstance(module, str) else ""


def type_identifier(cls: type) -> str:
    """Return ``"module:qualname"`` of a class.

    >>> type_identifier(int)
    'builtins:int'
    """
    return f"{module_of(cls)}:{qualname_of(cls)}"


def callable_identifier(function: Any) -> str:
    """Return the identifier of a function; for another object, the identifier of its class."""
    while type(function).__module__ == "functools" and hasattr(function, "func"):
        function = function.func  # of a partial
    for each in (function, type(function)):
        module, name = (getattr(each, key, None) for key in ("__module__", "__qualname__"))
        if type(module) is str and type(name) is str:
            return f"{module}:{name}"
    return type(function).__name__


def defined(cls: type, name: str) -> object:
    """Return the attribute of the first class on the MRO that defines it, else None."""
    for each in mro_of(cls):
        namespace = dict_of(each)
        if name in namespace:
            return namespace[name]
    return None


_identity_hash = defined(type, "__hash__")
_identity_eq = defined(type, "__eq__")


def is_hashable_by_identity(cls: type) -> bool:
    """Whether `cls` can be a key of a dictionary: its metaclass compares by identity."""
    metaclass = type(cls)
    return metaclass is type or (
        defined(metaclass, "__hash__") is _identity_hash
        and defined(metaclass, "__eq__") is _identity_eq
    )


def is_importable(cls: type) -> bool:
    """Whether `cls` is found under its own identifier, so that its module keeps it alive.

    A local class is not: it is collected with the last reference to it.
    """
    is_static = not cls.__flags__ & _HEAP_TYPE
    return is_static or loaded_object(module_of(cls), qualname_of(cls), hooks=False) is cls


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
    return (
        bool(getattr(cls, "__abstractmethods__", ()))
        and module.partition(".")[0] in sys.stdlib_module_names
    )


# Type patterns

EXACT: Final = ""
SUBCLASS: Final = "~"
ABSTRACT: Final = "@"


class TypePattern:
    """A type pattern: the classes that a backend supports.

    =========  ==============  ====================================================
    pattern    kind            matches
    =========  ==============  ====================================================
    ``m:Q``    exact           the class ``Q`` of module ``m``, also under an alias
    ``~m:Q``   subclass        the same, and its subclasses
    ``@m:Q``   abstract        subclasses of the abstract base class ``Q``
    =========  ==============  ====================================================

    Parameters
    ----------
    text : str
        The pattern. Parsing it does not import its module.

    Attributes
    ----------
    prefix : str
        ``""``, ``"~"`` or ``"@"``.
    identifier, module, qualname : str
        The pattern without its prefix, and the two parts of the identifier.

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
        if not is_type_pattern(text):
            from .exceptions import IdentifierError  # imported only to raise

            raise IdentifierError(
                text,
                "a type pattern of the form 'module:qualname', '~module:qualname' "
                "(subclasses too) or '@module:qualname' (abstract base class)",
            )
        self.prefix = EXACT
        if text.startswith(SUBCLASS):
            self.prefix = SUBCLASS
        elif text.startswith(ABSTRACT):
            self.prefix = ABSTRACT
        self.identifier = text[len(self.prefix) :]
        self.module, _, self.qualname = self.identifier.partition(":")

    def __str__(self) -> str:
        return self.prefix + self.identifier

    def __repr__(self) -> str:
        return f"TypePattern({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypePattern) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        return TypePattern, (str(self),)

    def distance(self, cls: type) -> int | None:
        """Return the position on the MRO of `cls` of the class that the pattern names, or None.

        The pattern must not be abstract. It names a class of its module and qualname, or the object
        that it leads to in a module that is imported already. Nothing is imported.

        >>> TypePattern("~builtins:int").distance(bool), TypePattern("builtins:int").distance(bool)
        (1, None)
        """
        classes = self._classes(cls)
        for position, each in enumerate(classes):
            if qualname_of(each) == self.qualname and module_of(each) == self.module:
                return position
        if self.module not in sys.modules:
            return None
        # A module's own `__getattr__` may be slow or import much. It is called only if it could
        # return this class.
        named = loaded_object(self.module, self.qualname, hooks=self.resembles(cls))
        if named is not None:
            for position, each in enumerate(classes):
                if each is named:
                    return position
        return None

    def _classes(self, cls: type) -> tuple[type, ...]:
        """Return the classes of which an exact or subclass pattern may name one."""
        return (cls,) if self.prefix == EXACT else mro_of(cls)

    def resembles(self, cls: type, by_name: bool = True) -> bool:
        """Whether the pattern could be an alias of a class on the MRO of `cls`.

        A public alias is assumed to be in the package that defines the class, or, if it may be
        `by_name`, to have the class's name.
        """
        package = self.module.partition(".")[0]
        last = self.qualname.rpartition(".")[2]
        return any(
            module_of(each).partition(".")[0] == package
            or (by_name and qualname_of(each).rpartition(".")[2] == last)
            for each in self._classes(cls)
        )
