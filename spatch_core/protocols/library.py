"""The generic implementation of a library's own protocol: a subclass in, a subclass out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._classes import go_on
from .._convert import is_container, rebuilt
from .._matching import GenericMethod
from .._patterns import bases_of, is_derived, mro_of, type_identifier
from .._wrapper import COROUTINE

if TYPE_CHECKING:
    from ..backend_system import BackendSystem


def library_functions(system: BackendSystem) -> type[Any]:
    """Return the base of a library's own class, which lets subclasses override its functions.

    It has the method of the library's protocol, and nothing else. For a subclass, the method calls
    the function as if there were no protocol, and turns objects of the library's class in the
    result into objects of the subclass, by ``result.as_subclass(cls)``, which the library's class
    defines. The library's class itself does not override: its calls cost no more than without a
    protocol.

    Parameters
    ----------
    system : BackendSystem
        Made with ``protocol=``.

    Returns
    -------
    type
        The same class for each call with this system.

    Raises
    ------
    TypeError
        If the system has no protocol.

    Examples
    --------
    >>> from spatch_core import BackendSystem
    >>> system = BackendSystem(None, "MYLIB", ["~mylib:Array"], protocol="__mylib_function__")
    >>> class Array(library_functions(system)):
    ...     @system.dispatchable("self")
    ...     def twice(self):
    ...         return Array()
    ...     def as_subclass(self, cls):
    ...         return cls()
    >>> class Image(Array):
    ...     pass
    >>> type(Image().twice()).__name__, type(Array().twice()).__name__
    ('Image', 'Array')
    """
    if system.protocol is None:
        raise TypeError(
            f"{system!r} has no protocol: make it with BackendSystem(protocol='__mylib_function__')"
        )
    # Kept by the system, so that the class lives and ends with it.
    known: dict[str, Any] = vars(system)
    if _KEPT not in known:
        made = type("LibraryFunctions", (), {"__slots__": (), "__doc__": _DOC})
        setattr(made, system.protocol, GenericMethod(_make_method(system, made)))
        known.setdefault(_KEPT, made)  # in one step: if two threads make one, the first one stays
    found: type[Any] = known[_KEPT]
    return found


_KEPT = "_library_functions"
_DOC = "The base of a library's own class; see `spatch_core.protocols.library_functions`."


def _make_method(system: BackendSystem, mixin: type) -> Callable[..., Any]:
    dispatcher = system._dispatcher

    def method(
        cls: type,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call the function as without the protocol; return its result as one of the subclass."""
        # Unrelated classes do not mix.
        if not all(issubclass(cls, each) for each in types):
            return NotImplemented
        kwargs = {} if kwargs is None else kwargs
        result = go_on(dispatcher, func, args, kwargs)
        preserve = _preserver(mixin, cls)
        if func.explain.__self__.function.nature & COROUTINE:
            return _awaited(preserve, result, args, kwargs)
        return preserve(result, args, kwargs)

    method.__name__ = method.__qualname__ = str(system.protocol)
    return method


async def _awaited(
    preserve: Callable[..., Any], answer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return preserve(await answer, args, kwargs)


def _preserver(mixin: type, cls: type) -> Callable[..., Any]:
    """Return a function that turns the library's objects in a result into those of a subclass."""
    # The library's own class: the nearest one that has the mixin among its bases.
    base = next(each for each in mro_of(cls) if any(one is mixin for one in bases_of(each)))

    def is_leaf(found: type) -> bool:
        return is_derived(found, base) and not is_derived(found, cls)

    def preserve(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = type(result)
        if found is not base and not is_leaf(found):
            return inside(result, args, kwargs) if is_container(found) else result
        # An argument that is returned, such as `out`, stays the same object.
        for each in args:
            if each is result:
                return result
        if kwargs and any(each is result for each in kwargs.values()):
            return result
        return _as_subclass(result, cls)

    def inside(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # Each object becomes one object of the subclass; arguments stay the same.
        known = {id(each): each for each in (*args, *kwargs.values())}
        seen: list[Any] = []  # keeps the objects alive whose identities are keys

        def change(value: Any) -> Any:
            if id(value) in known or not is_leaf(type(value)):
                return known.get(id(value), value)
            seen.append(value)
            made = known[id(value)] = _as_subclass(value, cls)
            return made

        return rebuilt(result, change, {})

    return preserve


def _as_subclass(result: Any, cls: type) -> Any:
    convert = getattr(result, "as_subclass", None)
    if convert is None:
        raise TypeError(
            f"{type_identifier(type(result))} cannot become {type_identifier(cls)}: define its "
            "method as_subclass(self, cls), which returns an instance of the subclass"
        )
    return convert(cls)
