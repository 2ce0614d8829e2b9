"""What an implementation and its ``should_run`` learn about a call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DispatchContext:
    """What is known about one call for one backend.

    Attributes
    ----------
    types : tuple of type
        The dispatch types: the unique types of the dispatch arguments in order of first
        appearance, and at the end the type that ``backend_opts(type=...)`` adds.
    dispatch_args : tuple
        The dispatch arguments that were given and are not None, in the order in which the
        library names them.
    name : str
        The backend's name.
    prioritized : bool
        Whether the backend is prioritized, or was asked for by `invoke`.
    function : str
        Identifier of the library's function.
    """

    __slots__ = ("dispatch_args", "function", "name", "prioritized", "types")

    def __init__(
        self,
        types: tuple[type, ...],
        dispatch_args: tuple[Any, ...],
        name: str,
        prioritized: bool,
        function: str,
    ) -> None:
        self.types = types
        self.dispatch_args = dispatch_args
        self.name = name
        self.prioritized = prioritized
        self.function = function

    def __repr__(self) -> str:
        return (
            f"DispatchContext(name={self.name!r}, function={self.function!r}, "
            f"types={self.types!r}, prioritized={self.prioritized!r})"
        )
