"""What users write: ``backend_opts(...)`` as a block, a decorator, a query, or globally."""

from __future__ import annotations

from ..exceptions import GlobalOptionsWarning, warn_caller
from .frozen import freeze
from .state import Changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextvars import ContextVar, Token
    from typing import Any, ClassVar, TypeVar

    from .._discovery.catalog import Catalog
    from .state import Class, DispatchState, Owner, Tables
    from .trace import TraceEvent

    F = TypeVar("F", bound=Callable[..., Any])
    Self = TypeVar("Self", bound="BackendOptions")


_MAX_CHECKED = 256
_NOTHING = ()


class BackendOptions:
    """Options for the calls of a block, of a decorated function, or of the whole process.

    Parameters
    ----------
    prioritize : str or iterable of str, optional
        Backends to try first, in this order, before those that an outer block prioritizes.
        Backends that require opt-in become active by it.
    disable : str or iterable of str, optional
        Backends not to use.
    type : type, optional
        Counts as if an object of it had been passed to every call; a primary type of a
        backend.
    trace : bool, optional
        Whether to record what runs, in `trace`. An inner trace pauses the outer one.

    Raises
    ------
    UnknownBackendError
        A `ValueError`: a name is not that of a usable backend.
    UnknownTypeError
        A `ValueError`: `type` is not a primary type of any backend.

    Notes
    -----
    Each library has a subclass of its own, ``system.backend_opts``. Used with ``with``, it
    adds to what is in force around the block. Used as a decorator, it freezes what is in
    force now together with its own options; the decorated function can be pickled and runs
    under the same options in another process. Without either it tells what is in force:
    ``backend_opts().backends``. A query tells what would be in force in a block with these
    options here and now.
    """

    __slots__ = ("_changes", "_tokens")

    if TYPE_CHECKING:

        def __enter__(self: Self) -> Self: ...

        def __exit__(
            self, kind: object = None, error: object = None, traceback: object = None
        ) -> None: ...

    _owner: ClassVar[Owner]
    # What was checked before: what is only prioritized, and all other plain options.
    _prioritized: ClassVar[dict[Any, Changes]]
    _checked: ClassVar[dict[Any, Changes]]

    def __init__(
        self,
        prioritize: str | Iterable[str] = (),
        disable: str | Iterable[str] = (),
        type: Class | None = None,
        trace: bool = False,
    ) -> None:
        self._tokens: list[Token[Tables]] = []
        if type is None and not trace:
            try:
                if disable is _NOTHING:
                    self._changes = self._prioritized[prioritize]
                else:
                    self._changes = self._checked[prioritize, disable]
            except (KeyError, TypeError):  # seen for the first time, or not hashable
                pass
            else:
                return
        self._changes = self._check(prioritize, disable, type, trace)

    @classmethod
    def _check(
        cls,
        prioritize: str | Iterable[str],
        disable: str | Iterable[str],
        type: Class | None,
        trace: bool,
    ) -> Changes:
        resolver = cls._owner.resolver()
        if type is not None:
            resolver.check_type(type)
        names = _checked_names(prioritize, resolver.catalog)
        disabled = frozenset(_checked_names(disable, resolver.catalog))
        if type is not None or trace:
            return Changes(names, disabled, type, [] if trace else None)
        if len(cls._checked) >= _MAX_CHECKED:
            cls.forget()
            cls._owner.keeper.forget_inner()
        # The same object for the same names, however they are given: it is a key.
        changes = cls._checked.setdefault((names, disabled), Changes(names, disabled))
        if _is_plain(prioritize) and _is_plain(disable):
            cls._checked[prioritize, disable] = changes
            if disable == ():
                cls._prioritized[prioritize] = changes
        return changes

    @classmethod
    def bind(cls, owner: Owner, module: str) -> type[BackendOptions]:
        """Make the options of one library.

        Parameters
        ----------
        owner : BackendSystem
            The library's system.
        module : str
            The module that publishes them.
        """
        return type(
            "backend_opts",
            (cls,),
            {
                "__slots__": (),
                "__module__": module,
                "_owner": owner,
                "_prioritized": {},
                "_checked": {},
                **_block_methods(owner.keeper.variable),
            },
        )

    @classmethod
    def forget(cls) -> None:
        """Check names again, because the backends have changed."""
        cls._prioritized.clear()
        cls._checked.clear()

    def _inner(self) -> DispatchState:
        """Return the state in force here with the options added."""
        keeper = self._owner.keeper
        return keeper.derive(keeper.current(), self._changes)

    def _enter(self) -> None:
        """Enter the block from another state than the last time."""
        keeper, changes = self._owner.keeper, self._changes
        outer = keeper.current()
        inner = keeper.derive(outer, changes)
        if outer.is_plain and inner.is_plain:
            changes.step = outer, inner.tables
        self._tokens.append(keeper.variable.set(inner.tables))

    def _leave(self) -> Token[Tables]:
        """Leave the block that was entered in this context; return its token.

        One object may be entered in several threads and tasks at once. A token fits only
        the context that made it, and refuses every other without effect.
        """
        for token in self._tokens[::-1]:
            try:
                self._owner.keeper.variable.reset(token)
            except (ValueError, RuntimeError):
                continue
            return token
        raise RuntimeError("this block of backend options was not entered in this context")

    def __call__(self, function: F) -> F:
        """Return `function` with the state in force now and these options frozen into it.

        Parameters
        ----------
        function : callable
            A function, a coroutine function or any other callable.

        Returns
        -------
        callable
            The same, under the frozen state whatever is in force where it is called.

        Raises
        ------
        TypeError
            For a generator function, which would have to leave the state at every step.
        """
        return freeze(self._owner, self._inner(), function)

    @classmethod
    def freeze(
        cls,
        function: F,
        prioritize: str | Iterable[str] = (),
        disable: str | Iterable[str] = (),
        type: Class | None = None,
    ) -> F:
        """Return `function` so that it runs under these options and no others.

        For what is done later, or elsewhere: unlike options as a decorator it adds nothing of
        what is in force here, and records nothing.

        Parameters
        ----------
        function : callable
            A function, a coroutine function or any other callable.
        prioritize, disable, type
            As for a block.

        Returns
        -------
        callable
            The same, under these options whatever is in force where it is called. It can be
            pickled if `function` can.

        Raises
        ------
        TypeError
            For a generator function, which would have to leave the state at every step.
        """
        changes = cls._check(prioritize, disable, type, trace=False)
        names = tuple(name for name in changes.prioritize if name not in changes.disable)
        state = cls._owner.keeper.find(names, changes.disable, type)
        return freeze(cls._owner, state, function)

    def enable_globally(self) -> None:
        """Add these options to the process-wide default.

        Every thread that is not inside a block of its own follows.

        Warns
        -----
        GlobalOptionsWarning
            If an earlier call is in force, which this one overrides where they contradict.
        """
        keeper = self._owner.keeper
        state = keeper.derive(keeper.default, self._changes)
        if keeper.enabled_globally and not state.says_as_much_as(keeper.default):
            warn_caller(
                GlobalOptionsWarning(
                    "enable_globally() was called before; the new options are added to the "
                    "earlier ones and override them where they contradict"
                )
            )
        keeper.enabled_globally = True
        keeper.set_default(state)

    @property
    def backends(self) -> tuple[str, ...]:
        """Names of the active backends by priority; ``"default"`` is the library."""
        return self._inner().active(self._owner.resolver().catalog)

    @property
    def prioritized(self) -> tuple[str, ...]:
        """Names of the prioritized backends, first one first."""
        return self._inner().prioritized

    @property
    def disabled(self) -> tuple[str, ...]:
        """Names of the disabled backends, sorted."""
        return tuple(sorted(self._inner().disabled))

    @property
    def type(self) -> Class | None:
        """The type that counts as if it had been passed, or None."""
        return self._inner().type

    @property
    def trace(self) -> list[TraceEvent] | None:
        """The events recorded so far, or None where nothing is recorded."""
        own = self._changes.trace
        return self._inner().trace if own is None else own

    def __reduce__(self) -> Any:
        changes = self._changes
        options = changes.prioritize, tuple(sorted(changes.disable)), changes.type
        return type(self)._restore, (self._owner, *options, changes.trace is not None)

    @staticmethod
    def _restore(owner: Any, *options: Any) -> BackendOptions:
        restored: BackendOptions = owner.backend_opts(*options)
        return restored

    def __repr__(self) -> str:
        parts = [f"backends={self.backends}", f"prioritized={self.prioritized}"]
        if self.disabled:
            parts.append(f"disabled={self.disabled}")
        if self.type is not None:
            parts.append(f"type={self.type!r}")
        return f"<{type(self).__name__} {', '.join(parts)}>"


def _block_methods(variable: ContextVar[Tables]) -> dict[str, Any]:
    """Return what makes a library's options a context manager.

    They are closures, because looking the context variable's methods up would take as long as
    much of what is done.
    """
    get, set_, reset = variable.get, variable.set, variable.reset

    def enter(self: BackendOptions) -> BackendOptions:
        outer, inner = self._changes.step
        if get()[0] is outer:
            self._tokens.append(set_(inner))
        else:
            self._enter()
        return self

    def leave(
        self: BackendOptions, kind: object = None, error: object = None, traceback: object = None
    ) -> None:
        tokens = self._tokens
        try:
            (token,) = tokens  # usually there is one
            reset(token)
        except (ValueError, RuntimeError):
            tokens.remove(self._leave())
        else:
            del tokens[0]  # others only add to the end, and remove what is theirs

    return {"__enter__": enter, "__exit__": leave}


def _is_plain(names: object) -> bool:
    """Whether the same `names` will mean the same backends next time."""
    return type(names) is str or type(names) is tuple


def _checked_names(names: str | Iterable[str], catalog: Catalog) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    for name in names:
        catalog.check_backend(name)
    return names
