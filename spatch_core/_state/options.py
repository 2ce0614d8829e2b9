"""`BackendOptions`: what is in force in a block, in a decorated function, or globally.

Caches of a library's options, cleared by `BackendOptions.forget`, because the backends have
changed, and when `MAX_OPTIONS` combinations are known:

============  =====================================================  =======================
cache         key                                                    value
============  =====================================================  =======================
_prioritized  ``prioritize``, a string or a tuple, with no others    the options' state
_plain        ``prioritize`` and ``disable``, strings or tuples;     the options' state
              besides, the names and the set of names they mean
============  =====================================================  =======================
"""

from __future__ import annotations

from .block import Block, block_methods
from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ClassVar, Generic, Literal, TypeVar, overload

    from .owner import Owner
    from .state import Class
    from .trace import Trace

    F = TypeVar("F", bound=Callable[..., Any])
    Self = TypeVar("Self", bound="BackendOptions")
    Given_co = TypeVar("Given_co", covariant=True)

_NOTHING = ()


class BackendOptions(Block):
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
        Whether to record what runs, in a list that ``with ... as trace`` gives. An inner
        trace pauses the outer one.

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

    __slots__ = ()

    _prioritized: ClassVar[dict[Any, DispatchState]]
    _plain: ClassVar[dict[Any, DispatchState]]

    if TYPE_CHECKING:
        # What ``with`` gives depends on `trace`, so the type of the object does.
        @overload
        def __new__(
            cls: type[Self],
            prioritize: str | Iterable[str] = ...,
            disable: str | Iterable[str] = ...,
            type: Class | None = ...,
            trace: Literal[False] = ...,
        ) -> Self: ...
        @overload
        def __new__(
            cls,
            prioritize: str | Iterable[str],
            disable: str | Iterable[str],
            type: Class | None,
            trace: Literal[True],
        ) -> BackendOptionsGiving[Trace]: ...
        @overload
        def __new__(
            cls,
            prioritize: str | Iterable[str] = ...,
            disable: str | Iterable[str] = ...,
            type: Class | None = ...,
            *,
            trace: Literal[True],
        ) -> BackendOptionsGiving[Trace]: ...
        @overload
        def __new__(
            cls,
            prioritize: str | Iterable[str] = ...,
            disable: str | Iterable[str] = ...,
            type: Class | None = ...,
            trace: bool = ...,
        ) -> BackendOptionsGiving[Any]: ...
        def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...

        def __enter__(self: Self) -> Self: ...

        def __exit__(
            self, kind: object = None, error: object = None, traceback: object = None
        ) -> None: ...

    else:

        def __init__(
            self,
            prioritize: str | Iterable[str] = (),
            disable: str | Iterable[str] = (),
            type: Class | None = None,
            trace: bool = False,
        ) -> None:
            self._entered = []
            if type is None and not trace:
                try:
                    if disable is _NOTHING:
                        self._own = self._prioritized[prioritize]
                    else:
                        self._own = self._plain[prioritize, disable]
                except (KeyError, TypeError):  # seen for the first time, or not hashable
                    pass
                else:
                    return
            self._last = None
            self._own = self._check(prioritize, disable, type, trace)

    @classmethod
    def _check(
        cls,
        prioritize: str | Iterable[str],
        disable: str | Iterable[str],
        type: Class | None,
        trace: bool,
    ) -> DispatchState:
        """Return the state that these options describe, if they are those of a backend."""
        from .checked import MAX_OPTIONS, check, is_constant  # a library needs it later

        if len(cls._plain) >= MAX_OPTIONS:
            cls.forget()
        # Read before the backends: if these are replaced meanwhile, the caches are, too.
        plain, prioritized = cls._plain, cls._prioritized
        own = check(cls._owner, plain, prioritize, disable, type, trace)
        if own.is_plain and is_constant(prioritize) and is_constant(disable):
            plain[prioritize, disable] = own
            if disable == ():
                prioritized[prioritize] = own
        return own

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
                "__doc__": cls.__doc__,  # which `help` does not look for in base classes
                "__module__": module,
                "_owner": owner,
                "_prioritized": {},
                "_plain": {},
                **block_methods(owner.keeper.variable),
            },
        )

    @classmethod
    def forget(cls) -> None:
        """Check names again, because the backends have changed."""
        # Exchanged, not cleared: see `_check`.
        cls._prioritized, cls._plain = {}, {}

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
        from .frozen import freeze

        return freeze(self._owner, self._scope(), function)

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
        from .frozen import freeze

        own = cls._check(prioritize, disable, type, trace=False)
        scope = cls._owner.keeper.scope(own.within(DispatchState()))
        return freeze(cls._owner, scope, function)

    def enable_globally(self) -> None:
        """Add these options to the process-wide default.

        Every thread that is not inside a block of its own follows.

        Warns
        -----
        GlobalOptionsWarning
            If an earlier call is in force, which this one overrides where they contradict.
        """
        keeper = self._owner.keeper
        outer = keeper.default.state
        if keeper.enabled_globally and self._own.within(outer).key != outer.key:
            from .._warning import warn_caller
            from ..exceptions import GlobalOptionsWarning

            warn_caller(
                GlobalOptionsWarning(
                    "enable_globally() was called before; the new options are added to the "
                    "earlier ones and override them where they contradict"
                )
            )
        # Not the state found above: another thread may have added to it.
        keeper.enable(self._own)

    @property
    def backends(self) -> tuple[str, ...]:
        """Names of the active backends by priority; ``"default"`` is the library."""
        return self._state().active(self._owner.catalog())

    @property
    def prioritized(self) -> tuple[str, ...]:
        """Names of the prioritized backends, first one first."""
        return self._state().prioritized

    @property
    def disabled(self) -> tuple[str, ...]:
        """Names of the disabled backends, sorted."""
        return tuple(sorted(self._state().disabled))

    @property
    def type(self) -> Class | None:
        """The type that counts as if it had been passed, or None."""
        return self._state().type

    @property
    def trace(self) -> Trace | None:
        """The events recorded so far, or None where nothing is recorded."""
        return self._state().trace

    def __reduce__(self) -> Any:
        from .pickles import options_of

        options = options_of(self._own)
        if self._own.trace is not None:
            options["trace"] = True  # each process has a trace of its own
        return self._owner.restore, ("options", {"options": options})

    def __repr__(self) -> str:
        parts = [f"backends={self.backends}", f"prioritized={self.prioritized}"]
        if self.disabled:
            parts.append(f"disabled={self.disabled}")
        if self.type is not None:
            parts.append(f"type={self.type!r}")
        return f"<{type(self).__name__} {', '.join(parts)}>"


if TYPE_CHECKING:

    class BackendOptionsGiving(BackendOptions, Generic[Given_co]):
        """Options of which ``with ... as`` gives something else than the options."""

        def __enter__(self) -> Given_co: ...  # type: ignore[override]  # that is its purpose
