"""Parameters and signatures of functions, without importing `inspect`."""

from __future__ import annotations

from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

# Attributes by which the signature of a function may differ from that of its code.
SIGNED = {"__wrapped__", "__signature__"}

# A sanity limit: a wrapper has a variable for each position up to the last dispatch argument.
_MOST_POSITIONS = 64


class Parameter:
    """The place of a dispatch argument in a signature.

    Parameters
    ----------
    name : str or None
        Its name, if it can be passed by keyword.
    position : int or None
        Its position, if it can be passed by position.
    label : str, optional
        The name by which the library names it, also if it cannot be passed by keyword.
    """

    __slots__ = ("label", "name", "position")

    def __init__(self, name: str | None, position: int | None, label: str | None = None) -> None:
        self.name = name
        self.position = position
        self.label = name if label is None else label


def find_parameters(
    default: Callable[..., Any],
    dispatch_args: str | Iterable[str] | Mapping[str, int | None],
    identifier: str,
) -> tuple[Parameter, ...]:
    """Find the places of the dispatch arguments in the signature of `default`.

    Parameters
    ----------
    default : callable
        The default implementation.
    dispatch_args : str, iterable of str, or mapping of str to int or None
        Their names, or their names and positions.
    identifier : str
        The function's identifier, for the messages.

    Raises
    ------
    TypeError
        If there is no such parameter, or the signature is unknown.
    """
    given: Any = dispatch_args
    if isinstance(given, str):
        names: tuple[Any, ...] = (given,)
    elif hasattr(given, "items"):
        places = given.items()
        return tuple([_checked(Parameter(name, position), identifier) for name, position in places])
    else:
        try:
            names = tuple(given)
        except TypeError:
            from ._signature.inspected_signatures import no_names  # imported only to raise

            raise no_names(identifier, given) from None
    if not names:
        return ()  # before reading the signature, which some builtins lack
    found: dict[str, tuple[str | None, int | None]] = {}
    count = first_named = 0
    # `inspect.signature` works for all callables, but is slow to import and to run.
    if type(default) is not FunctionType or not SIGNED.isdisjoint(default.__dict__):
        from ._signature.inspected_signatures import inspected_parameters

        found = inspected_parameters(default, identifier)
        known = tuple(found)
    else:
        code = default.__code__
        count, first_named = code.co_argcount, code.co_posonlyargcount
        known = code.co_varnames[: count + code.co_kwonlyargcount]
    parameters = []
    for label in names:
        if label not in known:
            from ._signature.inspected_signatures import no_parameter  # imported only to raise

            raise no_parameter(identifier, label, known)
        if found:
            parameters.append(Parameter(*found[label], label))
        else:
            place = known.index(label)
            name = label if place >= first_named else None
            parameters.append(Parameter(name, place if place < count else None, label))
    return tuple(parameters)


def _checked(parameter: Parameter, identifier: str) -> Parameter:
    position = parameter.position
    if not isinstance(parameter.name, str) or not (
        position is None or (type(position) is int and 0 <= position < _MOST_POSITIONS)
    ):
        raise TypeError(
            f"{identifier}: dispatch arguments map names to positions from 0, or to None for "
            f"keyword-only ones, not {parameter.name!r} to {position!r}"
        )
    return parameter


class Signature:
    """The signature of a default implementation, for the ``__signature__`` of its wrapper.

    Importing `inspect` and reading signatures would take most of the time of a decoration. This
    object has the layout of `inspect.Signature`, and becomes one as soon as its ``__class__``
    (as by `inspect`) or any other attribute is read.

    Parameters
    ----------
    function : callable
        The default implementation.
    """

    # The slots of `inspect.Signature`: `__class__` can be assigned only between equal layouts.
    __slots__ = ("_parameters", "_return_annotation")

    _parameters: Any
    _return_annotation: Any

    def __init__(self, function: Any) -> None:
        self._parameters = (function,)

    @property  # type: ignore[misc]  # reading it changes it
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        import inspect

        waiting = self._parameters
        # It is a mapping if another thread has stored the content, but not the class yet.
        if type(waiting) is tuple:
            found: Any = inspect.signature(waiting[0])
            self._return_annotation = found._return_annotation
            self._parameters = found._parameters
        # Last, because from here on other threads use the content. `object`'s descriptor is called,
        # because this property hides it.
        object.__dict__["__class__"].__set__(self, inspect.Signature)
        # `isinstance` ignores a `__class__` that is the object's type, as it is from here on.
        return _subclass(inspect.Signature)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def __repr__(self) -> str:
        return repr(self._real())

    def __str__(self) -> str:
        return str(self._real())

    def __eq__(self, other: object) -> bool:
        return bool(self._real() == other)

    def __hash__(self) -> int:
        return hash(self._real())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._real().__reduce_ex__(protocol)

    def _real(self) -> Any:
        """Return this object, which is an `inspect.Signature` from now on."""
        self.__class__  # noqa: B018  # reading it changes the class
        return self


_subclasses: dict[type, type] = {}
"""One subclass for each class given to `_subclass`."""


def _subclass(cls: type) -> type:
    """Return a subclass of `cls` that adds nothing."""
    return _subclasses.get(cls) or _subclasses.setdefault(cls, type("Signature", (cls,), {}))
