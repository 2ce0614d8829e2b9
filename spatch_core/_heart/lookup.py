"""Looks up adopted functions in the tables in force, and attributes of modules."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CALL = "__call__"
"""The method of a ufunc that a plain call of it names."""


class Lookup:
    """Looks up adopted functions.

    Parameters
    ----------
    variable : contextvars.ContextVar
        Holds the tables in force.
    indices : dict
        Indices in the tables by the keys of functions.
    fill : callable
        Called with the key and the types where a table has no entry.

    Attributes
    ----------
    find : callable
        Takes a key and a tuple of types; returns a callable, or None.
    find_ufunc : callable
        Takes a ufunc, the name of its method, the positional arguments in a tuple and the others
        in a dictionary; returns a callable, or None.
    """

    __slots__ = ("find", "find_ufunc")

    def __init__(
        self, variable: Any, indices: dict[Any, int], fill: Callable[[Any, Any], Any], /
    ) -> None:
        tables, type_of, call = variable.get, type, CALL

        def find(key: Any, types: tuple[type, ...], /) -> Any:
            try:
                return tables()[indices[key]][types]
            except Exception:  # noqa: BLE001  # no entry, or a metaclass failed: `fill` decides
                pass
            return fill(key, types)

        def find_ufunc(
            ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], /
        ) -> Any:
            if kwargs or method != call:
                return find(*call_of_ufunc(ufunc, method, inputs, kwargs))
            try:
                if len(inputs) == 2:
                    # The usual case: `map` and `tuple` would take twice as long.
                    one, other = inputs
                    return tables()[indices[ufunc]][type_of(one), type_of(other)]
                return tables()[indices[ufunc]][tuple(map(type_of, inputs))]
            except Exception:  # noqa: BLE001  # as above
                pass
            return fill(ufunc, tuple(map(type_of, inputs)))

        self.find = find
        self.find_ufunc = find_ufunc


def call_of_ufunc(
    ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], /
) -> tuple[Any, tuple[type, ...]]:
    """Return the key of a ufunc or of one of its methods, and the types of a call.

    The types are those of the positional arguments except indices, of ``out=`` and of ``where=``.
    """
    key = ufunc
    if method != CALL:
        key = ufunc, method
        if method in ("at", "reduceat"):
            inputs = (*inputs[:1], *inputs[2:])
    types = tuple(map(type, inputs))
    if kwargs:
        out = kwargs.get("out", ())
        types += tuple(map(type, out if isinstance(out, tuple) else (out,)))
        if "where" in kwargs:
            types += (type(kwargs["where"]),)
    return key, types


def attribute_getter(
    variable: Any,
    values: dict[str | None, dict[str, Any]],
    find: Callable[[str], Any],
    module: str,
    /,
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module, which follows the current backend.

    Parameters
    ----------
    variable : contextvars.ContextVar
        Holds the tables in force.
    values : dict
        Cached values, by the name of the current backend or None, and that of the attribute.
    find : callable
        Returns the value of a name that is not cached, or raises.
    module : str
        The module's name.
    """
    tables = variable.get

    def __getattr__(name: str, /) -> Any:  # noqa: N807  # of a module
        try:
            return values[tables()[0].state.backend][name]
        except KeyError:
            pass
        return find(name)  # outside the handler, so that an error has no KeyError as its context

    __getattr__.__module__, __getattr__.__qualname__ = module, __getattr__.__name__
    return __getattr__
