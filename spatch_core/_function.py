"""A library's function as the resolver sees it: its identity, and its dispatch arguments."""

from __future__ import annotations

from ._signature import find_parameters
from ._wrapper import Missing, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeAlias

    from ._signature import Parameter

    DispatchArguments: TypeAlias = (
        str | Iterable[str] | Mapping[str, int | None] | Callable[..., Iterable[Any]] | None
    )


class Function:
    """What is dispatched, and on what.

    It knows neither its wrapper nor its dispatcher: tables hold it, and the wrapper's code
    holds the tables.

    Parameters
    ----------
    identifier : str
        ``"module:qualname"``.
    default : callable
        The default implementation.
    dispatch_args : None, str, iterable of str, mapping of str to int, or callable
        See `BackendSystem.dispatchable`.

    Attributes
    ----------
    parameters : tuple of Parameter or None
        Where the dispatch arguments stand; None if a callable finds them.
    """

    __slots__ = ("_finder", "default", "identifier", "parameters")

    def __init__(
        self, identifier: str, default: Callable[..., Any], dispatch_args: DispatchArguments
    ) -> None:
        self.identifier = identifier
        self.default = default
        self._finder: Callable[..., Iterable[Any]] | None = None
        self.parameters: tuple[Parameter, ...] | None = None
        if dispatch_args is None:
            self._finder = _all_arguments
        elif callable(dispatch_args):
            self._finder = dispatch_args
        else:
            self.parameters = find_parameters(default, dispatch_args, identifier)

    @property
    def count(self) -> int:
        """How many parameters there are up to the last dispatch argument."""
        places = [each.position for each in self.parameters or () if each.position is not None]
        return max(places, default=-1) + 1

    @property
    def runs_no_code(self) -> bool:
        """Whether its dispatch arguments are found without anybody else's code."""
        return self._finder is None or self._finder is _all_arguments

    def extract(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the dispatch arguments that were given and are not None, in order."""
        if self.parameters is None:
            found = self.find(args, kwargs)
        else:
            found = tuple(
                args[each.position]
                if each.position is not None and each.position < len(args)
                else kwargs.get(each.name, missing)
                if each.name is not None
                else missing
                for each in self.parameters
            )
        return tuple(value for value in found if value is not None and type(value) is not Missing)

    def find(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what the callable finds that was given for ``dispatch_args``."""
        assert self._finder is not None  # only reached where there are no parameters
        return tuple(self._finder(*args, **kwargs))

    def store(
        self, table: dict[Any, Any], key: tuple[type, ...], target: Callable[..., Any]
    ) -> None:
        """Put `target` where the wrapper looks for it."""
        if self.parameters is None:
            table[key] = target
            return
        *first, last = key or (Missing,)
        for cls in first:
            table = table.setdefault(cls, {})
        table[last] = target


def _all_arguments(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return (*args, *kwargs.values())
