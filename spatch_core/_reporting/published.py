"""Pickles of the values that users receive: they name `spatch_core.types`, which stays."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_TYPES = __name__.rpartition("._")[0] + ".types"


def published(value: object, *arguments: Any, **fields: Any) -> tuple[Any, ...]:
    """Return what ``__reduce__`` of a class in `spatch_core.types` returns.

    Parameters
    ----------
    value : object
        The object to pickle; it may be of a subclass that a user has defined.
    *arguments, **fields
        The arguments of its class that make it again. Those of its subclass are kept too.
    """
    # By name, because this is the lowest module, and that is the highest.
    types: Any = import_module(_TYPES)
    cls = type(value)
    base: Any = next(each for each in cls.__mro__ if getattr(types, each.__name__, None) is each)
    if base is cls:
        return types.restore, (base.__name__, arguments, fields)
    known = getattr(base, "__dataclass_fields__", fields)
    attributes = {name: each for name, each in fields.items() if name not in known}
    own = {name: each for name, each in fields.items() if name in known}
    attributes |= getattr(value, "__dict__", {})
    return types.restore, (base.__name__, arguments, own, cls, attributes)


class Published:
    """A dataclass in `spatch_core.types`, pickled by the names of its fields."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        from dataclasses import fields  # imported already: this is a dataclass

        names = [each.name for each in fields(self)]  # type: ignore[arg-type]  # of a subclass
        return published(self, **{name: _plain(getattr(self, name)) for name in names})


def _plain(value: Any) -> Any:
    """Return a mapping as a dictionary; a mapping proxy cannot be pickled."""
    return dict(value) if isinstance(value, Mapping) else value
