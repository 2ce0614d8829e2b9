"""For backend authors: register implementations next to their code."""

from __future__ import annotations

import sys

from ._errors import IdentifierError
from ._implementation.if_needed import IF_NEEDED, IfNeeded
from ._implementation.registered_function import (
    RegisteredFunction,
    check_arguments,
    identifier_of,
    place_of,
)
from ._patterns import DEFAULT, is_backend_name

__all__ = ["IF_NEEDED", "BackendImplementation", "IfNeeded", "RegisteredFunction", "warn_caller"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


class BackendImplementation:
    """Collects a backend's implementations; ``spatch-core update`` writes its description.

    Parameters
    ----------
    backend_name : str
        The backend's name.

    Attributes
    ----------
    name : str
        The backend's name.
    functions : dict of str to RegisteredFunction
        The implementations by identifier of the library's function.

    Examples
    --------
    >>> backend = BackendImplementation("gpu")
    >>> @backend.implements("mylib:blur")
    ... def blur(image, sigma):
    ...     return image
    >>> @backend.set_should_run(blur)
    ... def _(context, image, sigma):
    ...     return sigma > 1 or "sigma is too small to be worth it"
    >>> sorted(backend.functions)
    ['mylib:blur']
    """

    def __init__(self, backend_name: str) -> None:
        if not is_backend_name(backend_name) or backend_name == DEFAULT:
            raise IdentifierError(
                backend_name, "a backend name (letters, digits, '_', '.', '-'; not 'default')"
            )
        self.name = backend_name
        self.functions: dict[str, RegisteredFunction] = {}

    def implements(
        self,
        api_identity: str | Callable[..., Any],
        *,
        should_run: str | Callable[..., Any] | None = None,
        uses_context: bool = False,
    ) -> Callable[[F], F]:
        """Register the decorated function as the implementation of a library's function.

        Parameters
        ----------
        api_identity : str or callable
            The library's function, or its identifier ``"module:qualname"``.
        should_run : str or callable, optional
            The function that decides whether the implementation runs, or its identifier. A
            lambda or a function called ``_`` becomes an attribute of the implementation.
        uses_context : bool, optional
            Whether the implementation takes a `DispatchContext` first.

        Returns
        -------
        callable
            A decorator that returns the function unchanged.

        Raises
        ------
        IdentifierError
            If an identifier is malformed, as that of a lambda is.
        TypeError
            If a callable has no name at all, if an argument is of a wrong type, or if
            ``@backend.implements`` was written without parentheses.
        ValueError
            If the backend implements the function already.
        """
        is_usual = isinstance(api_identity, str) and should_run is None
        if not is_usual or not isinstance(uses_context, bool):
            namespace = sys._getframe(1).f_globals
            check_arguments(api_identity, should_run, uses_context, namespace)
        identifier = identifier_of(api_identity)

        def register(implementation: F) -> F:
            if isinstance(implementation, str):
                raise TypeError(
                    f"only a function can implement {identifier}, not the text {implementation!r}"
                )
            identifier_of(implementation)
            present = self.functions.get(identifier)
            if present is not None and not present.is_replaced_by(implementation):
                raise ValueError(
                    f"backend {self.name!r} implements {identifier} already, with "
                    f"{present.identifier}{place_of(present.function)}"
                )
            entry = RegisteredFunction(implementation, uses_context)
            if should_run is not None:
                entry.set_should_run(should_run)
            self.functions[identifier] = entry
            return implementation

        return register

    def set_should_run(self, backend_func: str | Callable[..., Any]) -> Callable[[F], F]:
        """Register the decorated function as the ``should_run`` of an implementation.

        Parameters
        ----------
        backend_func : str or callable
            An implementation registered with `implements`, for one function or several, or its
            identifier.

        Returns
        -------
        callable
            A decorator that returns the function unchanged.

        Raises
        ------
        ValueError
            If `backend_func` was not registered, as in ``@backend.set_should_run`` without
            parentheses.
        """
        entries = [
            entry
            for entry in self.functions.values()
            if entry.function is backend_func or entry.identifier == backend_func
        ]
        if not entries:
            raise ValueError(
                f"{backend_func!r} is not registered with backend {self.name!r}; decorate it "
                "with implements(...) first"
            )

        def register(should_run: F) -> F:
            for entry in entries:
                entry.set_should_run(should_run)
            return should_run

        return register


def warn_caller(message: str, category: type[Warning] = UserWarning, *packages: str) -> None:
    """Warn at the line of the user, who called the library's function.

    Parameters
    ----------
    message : str
        The text of the warning.
    category : type, optional
        The class of the warning.
    *packages : str
        Further packages whose lines are not the user's, such as the library. The backend that
        warns and spatch-core need not be named.

    Examples
    --------
    >>> def sharpen(image, size=None):
    ...     warn_caller("size is ignored", UserWarning, "mylib")
    """
    from ._callers_line import warn_user

    warn_user(message, category, packages, sys._getframe(1))
