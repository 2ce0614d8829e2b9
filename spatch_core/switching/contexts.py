"""Contexts of the whole process: blocks of options whose backend other threads follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self  # type checkers have it; `typing` of 3.10 lacks it

    from .._state.options import BackendOptions
    from .._state.process_blocks import Held, ProcessBlocks

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["ProcessContext"]


class ProcessContext:
    """A backend that is current in a block, and meanwhile in every thread that has set nothing.

    Made by ``Switch.backend_context(name, globally=True)``. It may be entered several times, also
    by several threads and tasks at once.

    Parameters
    ----------
    blocks : ProcessBlocks
        The library's blocks that hold in the whole process.
    options : BackendOptions
        The options in force in the block.
    """

    __slots__ = ("__weakref__", "_blocks", "_held", "_options")

    def __init__(self, blocks: ProcessBlocks, options: BackendOptions[Any]) -> None:
        self._options = options
        self._blocks = blocks
        # Shared by all threads and tasks that enter. Each removes any item: all have the same
        # backend.
        self._held: list[Held] = []

    def __enter__(self) -> Self:
        options: Any = self._options
        keeper = options._owner.keeper
        before = keeper.get()
        try:
            options.__enter__()
            self._held.append(self._blocks.enter(options._own.backend, self))
            return self
        except BaseException:  # an interrupt, after which `_blocks` restores its own part
            keeper.set(before)
            raise

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        # First, because it raises, and changes nothing, in a context that has not entered.
        self._options.__exit__()
        self._blocks.leave(self._held.pop())

    def __call__(self, function: F) -> F:
        """Return `function` with the backend in force in its calls, and nowhere else."""
        return self._options(function)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._options!r}>"
