"""Filling a module with SciPy's functions, opened to backends."""

from __future__ import annotations

import inspect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from spatch_core import BackendSystem

    from ._table import ModuleTable, Parameters


def expose(
    system: BackendSystem, module: ModuleType, table: ModuleTable, namespace: dict[str, Any]
) -> None:
    """Fill a namespace with the public names of a SciPy module, ``__all__`` included.

    The installed SciPy decides which names exist. What is not dispatchable is SciPy's own object,
    unchanged.

    Parameters
    ----------
    system : BackendSystem
        The system through which the functions dispatch.
    module : module
        The module of SciPy.
    table : ModuleTable
        The dispatchable functions and their dispatch parameters.
    namespace : dict
        The globals of the module that mirrors `module`.
    """
    for name in module.__all__:
        public = getattr(module, name)
        if parameters := table.dispatched.get(name):
            decorate = system.dispatchable(
                _dispatch_arguments(public, parameters),
                module=namespace["__name__"],
                qualname=name,
                mutates=tuple(each for each in parameters if each in table.written),
            )
            public = decorate(public)
        namespace[name] = public
    namespace["__all__"] = list(module.__all__)


def _dispatch_arguments(
    function: Callable[..., Any], parameters: Parameters
) -> Parameters | Callable[..., Iterator[object]]:
    """Turn the parameters of a function into the argument of `BackendSystem.dispatchable`."""
    if isinstance(parameters, dict) or not any(name.startswith("*") for name in parameters):
        return parameters
    order = list(inspect.signature(function).parameters)
    return unpacking({name: order.index(name.lstrip("*")) for name in parameters})


def unpacking(positions: dict[str, int]) -> Callable[..., Iterator[object]]:
    """Return a function that extracts dispatch arguments and unpacks the starred ones.

    Parameters
    ----------
    positions : dict of str to int
        The position of every parameter. A leading ``*`` marks a parameter whose value may be a
        tuple of arrays.

    Returns
    -------
    callable
        Takes the arguments of a call and yields the dispatch arguments.

    Examples
    --------
    >>> pick = unpacking({"*system": 0, "w": 1})
    >>> list(pick(("num", "den"), w="frequencies"))
    ['num', 'den', 'frequencies']
    >>> list(pick("an lti object", n=3))
    ['an lti object']
    """
    picks = [
        (name.lstrip("*"), position, name.startswith("*")) for name, position in positions.items()
    ]

    def dispatch_arguments_of_call(*args: object, **kwargs: object) -> Iterator[object]:
        for name, position, is_unpacked in picks:
            value = args[position] if position < len(args) else kwargs.get(name)
            if is_unpacked and isinstance(value, (tuple, list)):
                yield from value
            elif value is not None:
                yield value

    return dispatch_arguments_of_call
