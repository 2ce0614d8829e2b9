"""A dispatchable bound to one backend or to one type."""

from __future__ import annotations

from .._options import checked_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .._call.caller import Caller
    from .._state import DispatchState
    from .dispatcher import Record


class Invocation:
    """A dispatchable bound to a backend or to a type; see `Dispatchable.invoke`.

    Parameters
    ----------
    record : Dispatchable
        The function.
    backend : str or None
        The backend whose implementation runs; None if the types of the arguments decide.
    type : type or str or None
        A type, or its identifier, to dispatch on besides the types of the arguments.
    force : bool
        Whether the backend runs without asking its ``should_run``.
    """

    __slots__ = ("_backend", "_force", "_record", "_type")

    def __init__(
        self, record: Record, backend: str | None, type: type | str | None, force: bool
    ) -> None:
        self._record = record
        self._backend = backend
        self._type = type
        self._force = force

    @property
    def nature(self) -> int:
        """The nature of the function; see `nature_of`. Options frozen into this object read it."""
        return self._record.function.nature

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        record = self._record
        caller, state = record.dispatcher.ensure_loaded(), record.dispatcher.keeper.current()
        if self._type is not None:
            state = state.replace(type=checked_type(record.dispatcher, self._type))
        function = record.function
        if "." in getattr(function.default, "__qualname__", ""):
            from .methods import check_instance  # most functions are no methods

            check_instance(function, record.wrapper, args)
        found = function.extract(args, kwargs)
        types = caller.resolver.types(found, state)
        if state.hook is not None:
            return self._call_hooked(caller, state, (types, found, args, kwargs))
        kwargs = function.without_like(kwargs)
        if self._backend is None:
            return caller.call(function, state, types, args, kwargs, found)
        invoked = caller.invoked(function, self._backend, state, types, not self._force)
        return invoked.run(args, kwargs, found=found)

    def _call_hooked(self, caller: Caller, state: DispatchState, call: tuple[Any, ...]) -> Any:
        """Make a call that hooks see."""
        from .hook_entries import hooked_invocation  # most programs have no hooks

        record = self._record

        def route(types: tuple[type, ...]) -> Any:
            if self._backend is None:
                return caller.route(record.function, state, types)
            return caller.invoked(
                record.function, self._backend, state, types, is_asked=not self._force
            )

        return hooked_invocation(record, caller, state, route, call)

    def _options(self) -> dict[str, Any]:
        options = {"backend": self._backend, "type": self._type}
        given = {name: value for name, value in options.items() if value is not None}
        return {**given, "force": True} if self._force else given

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._options().items())
        return f"<{self._record.identifier} invoked with {given}>"

    def __reduce__(self) -> Any:
        content = {"function": self._record.wrapper, "options": self._options()}
        return self._record.dispatcher.restore, ("invocation", content)


def restore_invocation(_: object, content: Mapping[str, Any]) -> Invocation:
    """Make an invocation again that was pickled; see `.._freezing`."""
    from .._freezing import check_names

    check_names(content, ("function", "options"))
    check_names(content["options"], ("backend", "type", "force"))
    invocation: Invocation = content["function"].invoke(**content["options"])
    return invocation
