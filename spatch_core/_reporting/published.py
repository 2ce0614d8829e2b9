"""Pickles of values that users receive; they name `spatch_core.types`, which is stable."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_TYPES = __name__.rpartition("._")[0] + ".types"


def published(value: object, *arguments: Any, **fields: Any) -> tuple[Any, ...]:
    """Return the result of ``__reduce__`` for a value of a class in `spatch_core.types`.

    Parameters
    ----------
    value : object
        The object to pickle; its class may be a subclass that a user has defined.
    *arguments, **fields
        The arguments that make it again. The fields of a user's subclass are kept, too.
    """
    # Imported by name, because `types` imports this room.
    types: Any = import_module(_TYPES)
    cls = type(value)
    # The public class; the value's own class may be a user's subclass.
    base: Any = next(each for each in cls.__mro__ if getattr(types, each.__name__, None) is each)
    if base is cls:
        return types.restore, (base.__name__, arguments, fields)
    known = getattr(base, "__dataclass_fields__", fields)
    attributes = {name: each for name, each in fields.items() if name not in known}
    own = {name: each for name, each in fields.items() if name in known}
    attributes |= getattr(value, "__dict__", {})
    return types.restore, (base.__name__, arguments, own, cls, attributes)


class Published:
    """Base of dataclasses in `spatch_core.types`, which are pickled by the names of their fields.

    A later version may then add fields or change their order.
    """

    __slots__ = ()

    def __reduce__(self) -> Any:
        from dataclasses import fields  # imported already: this is a dataclass

        names = [each.name for each in fields(self)]  # type: ignore[arg-type]  # of a subclass
        return published(self, **{name: _plain(getattr(self, name)) for name in names})


def _plain(value: Any) -> Any:
    """Return a mapping as a dictionary; a mapping proxy cannot be pickled."""
    return dict(value) if isinstance(value, Mapping) else value
