"""How the code of a wrapper refers to the dispatcher of its library."""

from __future__ import annotations

from _weakref import ref  # weakref itself imports much more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Link:
    """A weak reference to the dispatcher, for the constants of the wrappers' code.

    The garbage collector does not look into code, so a strong reference there would keep the
    library alive for ever. Constants are hashed, which a weak proxy does not allow.

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
                "this is a copy of a function whose library is gone, with its BackendSystem"
            )
        return dispatcher

    def fill(self, index: int, values: tuple[Any, ...]) -> Any:
        """See `Dispatcher.fill`."""
        return self._dispatcher().fill(index, values)

    def deferred(self, *call: Any) -> Any:
        """See `Dispatcher.deferred`."""
        return self._dispatcher().deferred(*call)

    def extract(self, *call: Any) -> Any:
        """See `Dispatcher.extract`."""
        return self._dispatcher().extract(*call)

    def call_default(self, *call: Any) -> Any:
        """See `Dispatcher.call_default`."""
        return self._dispatcher().call_default(*call)

    def leave_shortcuts(self) -> None:
        """See `Dispatcher.leave_shortcuts`; nothing to do without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is not None:
            dispatcher.leave_shortcuts()

    def take_shortcuts(self) -> None:
        """See `Dispatcher.take_shortcuts`; nothing to do without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is not None:
            dispatcher.take_shortcuts()

    def strays(self) -> set[int] | None:
        """See `Dispatcher.strays`; None for all of them, without a dispatcher."""
        dispatcher = self._find()
        return None if dispatcher is None else dispatcher.strays()
