"""Instances remember which backend ran a method, such as ``fit``, so that others follow it.

Imported only for functions with ``decides=`` or ``follows=``.
"""

from __future__ import annotations

from contextlib import contextmanager

from .._patterns import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any


class Memory:
    """Keeps the backend that ran a method in an attribute of the instance, so that copies have it.

    Parameters
    ----------
    method : str
        The method that decides, such as ``"fit"``.
    parameter : str
        The parameter that takes the instance.
    decides : bool
        Whether the backend that runs this method is remembered.
    follows : bool
        Whether the remembered backend runs this method.
    """

    __slots__ = ("attribute", "decides", "follows", "method", "parameter")

    def __init__(self, method: str, parameter: str, *, decides: bool, follows: bool) -> None:
        self.method = method
        self.attribute = f"_{method}_backend"
        self.parameter = parameter
        self.decides = decides
        self.follows = follows

    def instance(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the instance of a call; None if it is missing, so that the call will fail."""
        return args[0] if args else kwargs.get(self.parameter)

    def recall(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """Return the remembered backend, as given to `keep`; None if the method has not run."""
        name = getattr(self.instance(args, kwargs), self.attribute, None)
        return name if type(name) is str and name else None

    @contextmanager
    def undecided(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[None]:
        """Forget the backend while a method that decides runs; restore it if no other is kept."""
        instance, before = self.instance(args, kwargs), self.recall(args, kwargs)
        if before is not None:
            setattr(instance, self.attribute, None)
        try:
            yield
        finally:
            if before is not None and not self._is_decided(instance):
                setattr(instance, self.attribute, before)

    def _is_decided(self, instance: Any) -> bool:
        return getattr(instance, self.attribute, None) is not None

    def keep(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], backend: str) -> None:
        """Remember the backend that has run the method, inside `undecided`.

        If the default implementation has called another method that decides, as `fit_transform`
        calls `fit`, the decision of that method stands.

        Parameters
        ----------
        args, kwargs
            The arguments of the call.
        backend : str
            Its name; for the default implementation, followed by the identifiers of the foreign
            types of the call, separated by spaces.

        Raises
        ------
        TypeError
            If the attribute cannot be set on the instance.
        """
        instance = self.instance(args, kwargs)
        if backend.partition(" ")[0] == DEFAULT and self._is_decided(instance):
            return
        try:
            setattr(instance, self.attribute, backend)
        except (AttributeError, TypeError) as error:
            raise TypeError(
                f"{type(instance).__qualname__} cannot remember that {backend!r} has run "
                f"{self.method}: let its instances have an attribute {self.attribute!r}, for "
                "example in __slots__"
            ) from error


def make_memory(
    default: Callable[..., Any], identifier: str, *, decides: bool | str, follows: str | None
) -> Memory:
    """Return the memory of a method.

    Parameters
    ----------
    default : callable
        The default implementation.
    identifier : str
        The function's identifier, for the messages.
    decides : bool or str
        Whether it decides; the name of another method if it decides in the place of that one.
    follows : str or None
        The method that it follows.

    Raises
    ------
    TypeError
        If it is not a method, or is a generator function.
    ValueError
        If it follows one method and decides for another.
    """
    from inspect import isasyncgenfunction, isgeneratorfunction, signature

    if isgeneratorfunction(default) or isasyncgenfunction(default):
        raise TypeError(f"{identifier} is a generator function, which neither decides nor follows")
    try:
        parameters = [*signature(default).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    if not parameters or parameters[0].kind not in (
        parameters[0].POSITIONAL_ONLY,
        parameters[0].POSITIONAL_OR_KEYWORD,
    ):
        raise TypeError(
            f"{identifier} has no parameter for an instance, which remembers the backend: "
            "decides= and follows= are for methods"
        )
    method = decides if isinstance(decides, str) else getattr(default, "__name__", "")
    if decides and follows is not None and follows != method:
        raise ValueError(
            f"{identifier} follows {follows!r} and decides for {method!r}: give decides={follows!r}"
        )
    name = method if decides else str(follows)
    return Memory(name, parameters[0].name, decides=bool(decides), follows=follows is not None)
