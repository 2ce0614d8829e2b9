"""What wrappers refer to: their dispatcher, the tables in force, and the optional C extension.

They are one module, because each further module adds 0.1 ms to the import of every library.
"""

from __future__ import annotations

from _weakref import ref  # weakref itself imports much more
from os import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType
    from typing import Any

prepare: Callable[..., None]
"""Attach the data for calls through C to a wrapper's code object; see the extension."""
accelerate: Callable[[FunctionType], None]
"""Let calls of a wrapper go through C from now on."""
slow_down: Callable[[FunctionType], None]
"""Let calls of a wrapper run its Python code from now on."""

protect_exit: Callable[[type], None]
"""Give a class of options an ``__exit__`` that no signal handler can keep from running."""


def _do_nothing(*_: object) -> None:
    """Replace each of the four functions where there is no extension."""


try:
    if environ.get("SPATCH_CORE_PURE", "").strip().lower() not in ("", "0", "no", "false", "off"):
        raise ImportError("SPATCH_CORE_PURE asks for pure Python")
    from ._accelerator import accelerate, prepare, protect_exit, slow_down
except ImportError:  # it was not built, or not for this version of Python
    accelerated = False
    prepare = accelerate = slow_down = protect_exit = _do_nothing
else:
    accelerated = True


class Link:
    """A weak reference to the dispatcher, for the constants of the wrappers' code.

    The garbage collector does not look into code, so a strong reference there would keep the
    library alive for ever. A weak proxy would not do: constants must be hashable.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher, which lives as long as its functions.
    """

    __slots__ = ("_find",)

    def __init__(self, dispatcher: Any) -> None:
        self._find = ref(dispatcher)

    def _dispatcher(self) -> Any:
        dispatcher = self._find()
        if dispatcher is None:
            raise ReferenceError(
                "this function is a copy, and the BackendSystem of the original was freed"
            )
        return dispatcher

    def wrapper(self, index: int) -> Any:
        """Return a decorated function by its place in the tables."""
        return self._dispatcher().records[index - 1].wrapper

    def wrapper_of(self, function: Any) -> Any:
        """Return the decorated function of a `Function`."""
        dispatcher = self._dispatcher()
        record = dispatcher.by_identifier.get(function.identifier)
        if record is None or record.function is not function:
            # Another function has taken its identity.
            record = next(each for each in dispatcher.records if each.function is function)
        return record.wrapper

    def fill(self, index: int, values: tuple[Any, ...]) -> Any:
        """See `Dispatcher.fill`."""
        return self._dispatcher().fill(index, values)

    # Not by ``*call``, for which CPython would use the C stack: the recursion may be deep.
    def deferred(
        self,
        index: int,
        called: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """See `Results.deferred`."""
        return self._dispatcher().results.deferred(index, called, args, kwargs, values)

    def failed(
        self,
        index: int,
        called: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        error: Exception,
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """See `Results.failed`; None without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is None:
            return None
        return dispatcher.results.failed(index, called, args, kwargs, error, values)

    def extract(self, *call: Any) -> Any:
        """See `Dispatcher.extract`."""
        return self._dispatcher().extract(*call)

    def check(self, *answer: Any) -> Any:
        """See `Results.check`."""
        return self._dispatcher().results.check(*answer)

    def leave_shortcuts(self) -> None:
        """See `Shortcuts.leave_all`; nothing to do without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is not None:
            dispatcher.shortcuts.leave_all()

    def take_shortcuts(self) -> None:
        """See `Shortcuts.take_all`; nothing to do without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is not None:
            dispatcher.shortcuts.take_all()

    def on_new_state(self, state: Any) -> None:
        """See `Shortcuts.on_new_state`; nothing to do without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is not None:
            dispatcher.shortcuts.on_new_state(state)

    def strays(self) -> set[int] | None:
        """See `Dispatcher.strays`; None for all of them, without a dispatcher."""
        dispatcher = self._find()
        return None if dispatcher is None else dispatcher.strays()
