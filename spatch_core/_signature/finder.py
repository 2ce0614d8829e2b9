"""Finders for dispatch arguments inside lists (``inside=``) and for ``like=``.

Imported only for functions with ``inside=`` or ``like=``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .traits import Traits


class Elements(tuple):  # type: ignore[type-arg]  # noqa: SLOT001  # tuples have no slots
    """Dispatch arguments, one of each type.

    A list of a thousand arrays then has a short key in the table.

    Attributes
    ----------
    every : list
        All dispatch arguments.
    """

    every: list[Any]


class Finder:
    """Finds the dispatch arguments of a function that dispatches on elements or on ``like``.

    Parameters
    ----------
    parameters : iterable of Parameter
        The dispatch arguments.
    inside : iterable of str
        The names of the dispatch arguments whose elements decide.
    like : str or None
        The name of the argument that is used only for its type.
    """

    __slots__ = ("_inside", "_like", "_parameters")

    def __init__(self, parameters: Iterable[Any], inside: Iterable[str], like: str | None) -> None:
        self._parameters = tuple(parameters)
        self._inside = frozenset(inside)
        self._like = like

    @property
    def runs_no_code(self) -> bool:
        """Whether calls may go to the default implementation as they are."""
        return self._like is None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the dispatch arguments of a call."""
        values: list[Any] = []
        like = self._like
        if like is not None and kwargs.get(like) is not None:
            values.append(kwargs[like])
        for each in self._parameters:
            if each.position is not None and each.position < len(args):
                value = args[each.position]
            elif each.name is not None and each.name in kwargs:
                value = kwargs[each.name]
            else:
                continue
            if each.label in self._inside:
                values += elements(value)
            else:
                values.append(value)
        if not self._inside:
            return values
        # By identity: a metaclass may define == and hash.
        found = Elements({id(type(each)): each for each in values}.values())
        found.every = values
        return found


def named_finder(
    find_parameters: Callable[[Any], tuple[Any, ...]],
    dispatch_args: Any,
    traits: Traits,
    identifier: str,
) -> Finder:
    """Return the finder of a function with ``like=`` or ``inside=``.

    Parameters
    ----------
    find_parameters : callable
        Returns the places of named arguments in the function's signature.
    dispatch_args : None, str, iterable of str, or mapping of str to int
        See `BackendSystem.dispatchable`.
    traits : Traits
        Holds the values of ``like=`` and ``inside=``.
    identifier : str
        The function's identifier, for the messages.

    Raises
    ------
    TypeError
        If the dispatch arguments do not fit ``like=`` or ``inside=``.
    """
    if callable(dispatch_args):
        raise TypeError(
            f"{identifier}: like= and inside= name arguments, so the dispatch arguments must be "
            "names too, not a callable that finds them"
        )
    names: Any = traits.inside if dispatch_args is None else dispatch_args
    parameters = find_parameters(names)
    known = [each.label for each in parameters]
    for name in traits.inside:
        if name not in known:
            raise TypeError(
                f"{identifier}: inside= names {name!r}, which is not a dispatch argument; the "
                f"dispatch arguments are {', '.join(map(str, known)) or 'none'}"
            )
    if traits.like is not None:
        (place,) = find_parameters(traits.like)
        if place.position is not None:
            raise TypeError(
                f"{identifier}: like={traits.like!r} is left out of the call, so it must be passed "
                "by keyword only: write it after * in the signature"
            )
    return Finder(parameters, traits.inside, traits.like)


def elements(value: Any) -> list[Any]:
    """Return the elements of nested lists, tuples and slices in order; any other value as one.

    >>> elements([1, (2, [3], ())]), elements("ab"), elements((slice(1, None), 2))
    ([1, 2, 3], ['ab'], [1, None, None, 2])
    """
    cls = type(value)
    if cls is not list and cls is not tuple and cls is not slice:
        return [value]
    # Without recursion, because lists may be nested more deeply than the stack allows.
    found: list[Any] = []
    seen = {id(value)}  # a list may contain itself
    pending = [_items(value) if cls is slice else iter(value)]
    while pending:
        for item in pending[-1]:
            cls = type(item)
            if cls is not list and cls is not tuple and cls is not slice:
                found.append(item)
            elif id(item) not in seen:
                seen.add(id(item))
                pending.append(_items(item))
                break
        else:
            pending.pop()
    return found


def _items(container: Any) -> Iterator[Any]:
    if type(container) is slice:
        return iter((container.start, container.stop, container.step))
    return iter(container)
