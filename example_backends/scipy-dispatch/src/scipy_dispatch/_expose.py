"""Building a module of dispatchable functions from a SciPy module and its table."""

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

    The installed SciPy decides which names exist. A name that is not in the table is SciPy's own
    object, unchanged. So is a function that has none of the parameters in the table. Both rules
    keep SciPy releases newer than the table working.

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
        arguments = dispatch_arguments(public, table.dispatched.get(name, ()))
        if arguments:
            decorate = system.dispatchable(
                arguments,
                module=namespace["__name__"],
                qualname=name,
                mutates=written(arguments, table.written),
            )
            public = decorate(public)
        namespace[name] = public
    namespace["__all__"] = list(module.__all__)


def dispatch_arguments(
    function: Callable[..., Any], parameters: Parameters
) -> dict[str, int] | tuple[str, ...] | Callable[..., Iterator[object]]:
    """Turn a table entry into the argument of `BackendSystem.dispatchable`.

    Parameters
    ----------
    function : callable
        SciPy's function.
    parameters : tuple of str or mapping of str to int
        Its entry in the table.

    Returns
    -------
    tuple of str
        The parameters in the entry that `function` has. Empty if it has none of them.
    dict of str to int
        The same with their positions, if the signature of `function` cannot be read.
    callable
        If the entry has a parameter whose items are dispatched on.
    """
    if not parameters:
        return ()
    try:
        order = list(inspect.signature(function).parameters)
    except ValueError:
        order = []
    if isinstance(parameters, dict) and not parameters.keys() <= set(order):
        return parameters
    present = tuple(name for name in parameters if name.lstrip("*") in order)
    if any(name.startswith("*") for name in present):
        return unpacking({name: order.index(name.lstrip("*")) for name in present})
    return present


def written(
    arguments: dict[str, int] | tuple[str, ...] | Callable[..., Iterator[object]],
    names: frozenset[str],
) -> tuple[str, ...]:
    """Return the dispatch arguments into which a function writes.

    Parameters
    ----------
    arguments : tuple of str, dict of str to int, or callable
        What `dispatch_arguments` returns.
    names : frozenset of str
        The parameters that take an array to fill.

    Examples
    --------
    >>> written(("input", "output"), frozenset({"output", "indices"}))
    ('output',)
    """
    if not isinstance(arguments, tuple):
        return ()
    return tuple(name for name in arguments if name in names)


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
