"""Implementations that a backend has registered, and the identifiers of functions."""

from __future__ import annotations

from .._patterns import split_identifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


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
        return identifier_of(self.function)

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
        elif getattr(should_run, "__name__", None) in ("_", "<lambda>"):
            self.should_run = f"{self.identifier}.{self._keep(should_run)}"
        else:
            self.should_run = identifier_of(should_run)

    def _keep(self, should_run: Callable[..., Any]) -> str:
        """Make `should_run` an attribute of the implementation; return the attribute's name."""
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
        return name


def place_of(function: Callable[..., Any]) -> str:
    """Return where a function is defined, if it is a Python function."""
    code = getattr(function, "__code__", None)
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"


def identifier_of(function: str | Callable[..., Any]) -> str:
    """Return the identifier of a function, which need not be importable yet."""
    # The public identifier of a dispatchable may differ from its own module and qualname.
    record = getattr(getattr(function, "explain", None), "__self__", None)
    if isinstance(function, str):
        identifier = function
    elif record is not None and getattr(record, "wrapper", None) is function:
        identifier = record.identifier
    else:
        module = getattr(function, "__module__", None)
        qualname = getattr(function, "__qualname__", None)
        if module is None or qualname is None:
            raise TypeError(f"{function!r} has no name that an identifier could use")
        identifier = f"{module}:{qualname}"
    split_identifier(identifier)
    return identifier


def check_arguments(
    given: Any, should_run: Any, uses_context: Any, namespace: Mapping[str, Any]
) -> None:
    """Raise if the arguments of `implements` are wrong, or its parentheses are missing.

    In ``@backend.implements`` without parentheses, the argument is the implementation. It then
    comes from the module that calls `implements`, and is not dispatchable.

    Parameters
    ----------
    given, should_run, uses_context : object
        The arguments of `implements`.
    namespace : mapping
        The globals of the module that calls `implements`.

    Raises
    ------
    TypeError
        If an argument is wrong.
    """
    if not isinstance(given, str):
        is_own = getattr(given, "__module__", None) == namespace.get("__name__")
        is_own = is_own and not hasattr(given, "explain")
        if is_own or isinstance(given, type) or not callable(given):
            raise TypeError(
                f"implements takes a library's function or its identifier, not {given!r}: write "
                '@backend.implements("library.module:function"), with parentheses'
            )
    if not isinstance(should_run, str) and not callable(should_run) and should_run is not None:
        raise TypeError(f"should_run takes a function or its identifier, not {should_run!r}")
    if not isinstance(uses_context, bool):
        raise TypeError(f"uses_context takes True or False, not {uses_context!r}")
