"""For backend authors: register implementations next to their code."""

from __future__ import annotations

import sys

from ._decide import IF_NEEDED, IfNeeded
from ._patterns import DEFAULT, is_backend_name, split_identifier
from ._wrapper import function_of
from .exceptions import IdentifierError

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
    >>> def is_wide(context, image, sigma):
    ...     return sigma > 1 or "sigma is too small to be worth it"
    >>> @backend.implements("mylib:blur", should_run=is_wide)
    ... def blur(image, sigma):
    ...     return image
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
        if not isinstance(api_identity, str):
            _check_parentheses(api_identity, sys._getframe(1).f_globals.get("__name__"))
        if not isinstance(should_run, str) and not callable(should_run) and should_run is not None:
            raise TypeError(f"should_run takes a function or its identifier, not {should_run!r}")
        if not isinstance(uses_context, bool):
            raise TypeError(f"uses_context takes True or False, not {uses_context!r}")
        identifier = _identifier_of(api_identity)

        def register(implementation: F) -> F:
            if isinstance(implementation, str):
                raise TypeError(
                    f"only a function can implement {identifier}, not the text {implementation!r}"
                )
            _identifier_of(implementation)
            present = self.functions.get(identifier)
            if present is not None and not present.is_replaced_by(implementation):
                code = getattr(present.function, "__code__", None)
                place = "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
                raise ValueError(
                    f"backend {self.name!r} implements {identifier} already, with "
                    f"{present.identifier}{place}"
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


class RegisteredFunction:
    """A registered implementation.

    Parameters
    ----------
    function : callable
        The implementation.
    uses_context : bool
        Whether it takes a `DispatchContext` first.

    Attributes
    ----------
    should_run : str or None
        Identifier of the function that decides whether it runs.
    """

    def __init__(self, function: Callable[..., Any], uses_context: bool) -> None:
        self.function = function
        self.uses_context = uses_context
        self.should_run: str | None = None

    @property
    def identifier(self) -> str:
        """Identifier of the implementation."""
        return _identifier_of(self.function)

    def is_replaced_by(self, function: Callable[..., Any]) -> bool:
        """Whether a function is this one, or the same one after its module was run again."""
        own = self.function
        return function is own or (
            (function.__module__, function.__qualname__) == (own.__module__, own.__qualname__)
        )

    def set_should_run(self, should_run: str | Callable[..., Any]) -> None:
        """Set ``should_run``; without a usable name, it becomes an attribute of the function."""
        if isinstance(should_run, str):
            split_identifier(should_run)
            self.should_run = should_run
            return
        if getattr(should_run, "__name__", None) not in ("_", "<lambda>"):
            self.should_run = _identifier_of(should_run)
            return
        name, number = "_should_run", 1
        while getattr(self.function, name, should_run) is not should_run:
            number += 1
            name = f"_should_run_{number}"
        try:
            setattr(self.function, name, should_run)
        except AttributeError as error:
            raise TypeError(
                f"{self.function!r} cannot keep a should_run that has no name; give it one"
            ) from error
        self.should_run = f"{self.identifier}.{name}"


def _identifier_of(function: str | Callable[..., Any]) -> str:
    """Return the identifier of a function, which need not be importable yet."""
    # The public identifier of a dispatchable may differ from its own module and qualname.
    dispatchable = function_of(function)
    if isinstance(function, str):
        identifier = function
    elif dispatchable is not None:
        identifier = dispatchable.identifier
    else:
        module = getattr(function, "__module__", None)
        qualname = getattr(function, "__qualname__", None)
        if module is None or qualname is None:
            raise TypeError(f"{function!r} has no name that an identifier could use")
        identifier = f"{module}:{qualname}"
    split_identifier(identifier)
    return identifier


def _check_parentheses(given: Any, module: object) -> None:
    """Raise if ``@backend.implements`` was written without parentheses, or given another object.

    Then the argument is the implementation. It comes from the module that calls `implements`, and
    is not dispatchable.
    """
    is_own = getattr(given, "__module__", None) == module and not hasattr(given, "explain")
    if is_own or isinstance(given, type) or not callable(given):
        raise TypeError(
            f"implements takes a library's function or its identifier, not {given!r}: write "
            '@backend.implements("library.module:function"), with parentheses'
        )


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
    from ._errors import warn_caller

    own = str(sys._getframe(1).f_globals.get("__name__")).partition(".")[0]
    warn_caller(category(message), [own, *packages])
