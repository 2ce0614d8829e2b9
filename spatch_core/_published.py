"""Pickles of the values that users receive: they name `spatch_core.types`, which stays."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_TYPES = __name__.rpartition(".")[0] + ".types"


def published(value: object, *arguments: Any, **fields: Any) -> tuple[Any, ...]:
    """Return what ``__reduce__`` of a class in `spatch_core.types` returns.

    Parameters
    ----------
    value : object
        The object to pickle.
    *arguments, **fields
        The arguments of its class that make it again.
    """
    # By name, because this is the lowest module, and that is the highest.
    return import_module(_TYPES).restore, (type(value).__name__, arguments, fields)


class Published:
    """A dataclass in `spatch_core.types`, pickled by the names of its fields."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        fields: Mapping[str, Any] = vars(type(self))["__dataclass_fields__"]
        return published(self, **{name: _plain(getattr(self, name)) for name in fields})


def _plain(value: Any) -> Any:
    """Return a mapping as a dictionary; a mapping proxy cannot be pickled."""
    return dict(value) if isinstance(value, Mapping) else value
