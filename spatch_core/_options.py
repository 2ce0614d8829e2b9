"""`BackendOptions`: options for a block, for a decorated function, or for the process.

One object of options may be entered in several threads and tasks at once, and within itself. Its
list of tokens needs no lock: each thread removes only the tokens that it has added.

A library caches the states of plain options: those that say nothing but names, by which their
objects are made again quickly, and whose states find the scopes of blocks. `BackendOptions._forget`
empties the cache when the backends have changed, and when `MAX_OPTIONS` combinations are known.
"""

from __future__ import annotations

from ._state import NAMES, DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextvars import Token
    from typing import Any, ClassVar, NoReturn, TypeVar

    from typing_extensions import Self  # for type checkers; `typing` of 3.10 lacks it

    from ._explain import Trace
    from ._hooked import Call, Hook
    from ._state import Class, Scope, Tables

    F = TypeVar("F", bound=Callable[..., Any])
    Kind = type
    readable = property
else:

    class Kind(type):
        """The class of options classes: errors say what to write instead of what has no effect."""

        @property
        def __signature__(cls) -> object:
            from inspect import Signature, signature

            own = signature(cls.__init__)
            options = [*own.parameters.values()][1:-1]  # without `self` and `unknown`
            return own.replace(parameters=options, return_annotation=Signature.empty)

        def __setattr__(cls, name: str, value: object) -> None:
            # Methods may be replaced: by a test, for example.
            if not name.startswith("_") and not callable(getattr(cls, name, None)):
                refuse_setting(cls, name, value)
            super().__setattr__(name, value)

        def __enter__(cls) -> NoReturn:
            name = cls.__name__
            raise TypeError(
                f"`with {name}:` gives no options; write `with {name}(prioritize=...):`"
            )

        def __exit__(cls, *error: object) -> None:
            """Python looks it up before it enters the block."""

    class readable(property):  # noqa: N801  # used as `property` is
        """A property; the error for setting it says what to write instead."""

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __set__(self, instance: object, value: object) -> None:
            refuse_setting(type(instance), self.name, value)


POLICIES = ("default", "warn", "raise", "convert")
"""The fallback policies."""

MAX_OPTIONS = 256
"""How many combinations of plain options are cached before all are forgotten."""


class BackendOptions(metaclass=Kind):
    """Choose and trace backends: in a block, in a function, or in the whole process.

    Parameters
    ----------
    prioritize : str or iterable of str, optional
        Backends to try first, in this order, before those that an outer block prioritizes.
        Backends that require opt-in become active by it.
    disable : str or iterable of str, optional
        Backends not to use. The library itself is ``"default"``.
    type : type or str, optional
        Counts as if an object of it had been passed to every call; a primary type of a
        backend. An identifier such as ``"numpy:ndarray"`` is imported; ``"str"`` is Python's own.
    trace : bool, optional
        Whether to record the steps of calls, in a list that ``with ... as trace`` gives. An
        inner trace pauses the outer one.
    fallback : str, optional
        The policy for calls that no backend takes and that have types which are neither the
        library's nor Python's own: ``"default"`` runs the library's own implementation anyway,
        ``"warn"`` does so with a warning, ``"raise"`` raises `NoImplementationError`, and
        ``"convert"`` lets a backend convert the arguments and the result.
    backend : str, optional
        The current backend: prioritized, and also chosen where types say nothing, because all
        dispatch types are Python's own classes or there are none. It replaces the current backend
        of an outer block.
    hook : callable, optional
        Called with a `spatch_core.hooks.Call` for each call in the block, before anything is
        dispatched; its return value is the result. ``call.next(*call.args, **call.kwargs)``
        continues the call. A hook of an inner block comes first.

    Raises
    ------
    ValueError
        `fallback` is not one of these.
    TypeError
        `hook` cannot be called, or is a coroutine function or a generator function; or there is
        no such option.
    UnknownBackendError
        A `ValueError`: no usable backend has a given name.
    UnknownTypeError
        A `ValueError`: `type` is not a primary type of any backend.

    Notes
    -----
    Each library has a subclass of its own, ``system.backend_opts``. Used with ``with``, it adds to
    the options in force around the block. Used as a decorator, it freezes the options in force
    now together with its own; the decorated function can be pickled and runs under the same
    options in another process. Otherwise, its attributes tell which options would be in force in
    a block here and now.

    Before a program starts, the environment variables <PREFIX>_PRIORITIZE, <PREFIX>_BLOCK,
    <PREFIX>_SET_ORDER and <PREFIX>_BACKEND prioritize, block and order backends, and say which
    one is current.

    Examples
    --------
    In a block, with a record of its calls::

        with backend_opts(prioritize="gpu"):
            ...
        with backend_opts(trace=True) as trace:
            ...
        print(trace)

    In a function, wherever it is called; in the whole process; what is active here and now::

        @backend_opts(prioritize="gpu")
        def work(): ...

        backend_opts(disable="gpu").enable_globally()
        backend_opts().backends
    """

    # `_own` is the state that the options describe, `_entered` the list of tokens.
    __slots__ = ("_entered", "_own")

    if TYPE_CHECKING:
        _owner: ClassVar[Any]  # the `Dispatcher`
        # By what is given for `prioritize`, `disable` and `backend`, if it is constant; besides, by
        # the `key` of each state.
        _plain: ClassVar[dict[Any, DispatchState]]
        _own: DispatchState
        _entered: list[Token[Tables]]

        # The trace, or else the options.
        def __enter__(self) -> Any: ...

        def __exit__(
            self, kind: object = None, error: object = None, traceback: object = None
        ) -> None: ...

    else:
        # Only so that setting one says what to write.
        prioritize, disable, hook = (readable() for _ in range(3))

    def __init__(
        self,
        prioritize: str | Iterable[str] | None = (),
        disable: str | Iterable[str] | None = (),
        type: Class | str | None = None,
        trace: bool = False,
        *,
        fallback: str | None = None,
        backend: str | None = None,
        hook: Hook | None = None,
        **unknown: NoReturn,
    ) -> None:
        self._entered = []
        is_plain = type is None and trace is False and fallback is None and hook is None
        if is_plain and not unknown:
            try:
                self._own = self._plain[prioritize, disable, backend]
                return
            except (KeyError, TypeError):  # not in the cache, or not hashable
                pass
        for name in unknown:
            refuse_unknown(self.__class__, name)
        self._own = self._checked(prioritize, disable, type, trace, fallback, backend, hook)

    @classmethod
    def _checked(
        cls,
        prioritize: Any,
        disable: Any,
        type: Any,
        trace: Any,
        fallback: Any,
        backend: Any,
        hook: Any,
    ) -> DispatchState:
        """Return the state of a block of these options; cache it if it is plain."""
        if len(cls._plain) >= MAX_OPTIONS:
            cls._forget()
        # Read before the backends. If the backends change meanwhile, the cache is exchanged, and
        # this outdated state lands in a discarded one.
        plain = cls._plain
        catalog = cls._owner.catalog()
        fields: dict[str, Any] = {}
        if type is not None:
            fields["type"] = checked_type(cls._owner, type)
        if trace is not False:
            if trace is not True:
                raise TypeError(
                    f"trace= takes True or False, not {trace!r}; `with {cls.__name__}(trace=True) "
                    "as trace:` gives the list of events"
                )
            from ._explain import Trace  # imports more than a library needs

            fields["trace"] = Trace()
        if fallback is not None:
            fields["fallback"] = checked_policy(fallback)
        if backend is not None:
            fields["backend"] = checked_backend(cls._owner, backend)
        if hook is not None:
            from ._hooked import checked_hook  # most programs give none

            fields["hook"] = checked_hook(hook)
        names = _checked_names("prioritize", prioritize, catalog)
        own = DispatchState(names, frozenset(_checked_names("disable", disable, catalog)), **fields)
        if not own.is_plain:
            return own
        # The same options give the same object, however they are spelled, because the scopes of
        # inner blocks are found by its identity. Atomic, for two threads that come here at once.
        own = plain.setdefault(own.key, own)
        if fallback is None and _is_constant(prioritize) and _is_constant(disable):
            plain[prioritize, disable, backend] = own
        return own

    @classmethod
    def _forget(cls) -> None:
        """Empty the cache, because the backends have changed."""
        # Exchanged, not cleared: see `_checked`.
        cls._plain = {}

    @classmethod
    def _bind(cls, owner: Any, module: str) -> type[Self]:
        """Make the subclass for one library, whose options `module` publishes."""
        # `enter` and `leave` are closures, because looking up the methods of the context variable
        # would take a large part of the time.
        variable = owner.keeper.variable
        get, set_, reset = variable.get, variable.set, variable.reset

        def enter(self: BackendOptions) -> Any:
            """Put the options in force here; return the trace, or else the options."""
            try:
                scope = get()[0].inner[self._own]
            except KeyError:  # not a cached inner scope
                self._entered.append(set_(self._scope().tables))
                trace = self._own.trace
                return self if trace is None else trace
            self._entered.append(set_(scope.tables))
            return self

        def leave(
            self: BackendOptions,
            kind: object = None,
            error: object = None,
            traceback: object = None,
        ) -> None:
            """Restore what was in force before the block."""
            entered = self._entered
            try:
                (token,) = entered  # usually there is one
                reset(token)
            except (ValueError, RuntimeError, TypeError):
                # Several tokens, or a token of another context.
                self._leave_any()
            else:
                del entered[0]  # still this token: other threads append, and remove only their own

        methods = {"__enter__": enter, "__exit__": leave}
        for name, method in methods.items():  # as `help` and tracebacks show them
            method.__name__, method.__qualname__ = name, f"backend_opts.{name}"
            method.__module__ = module
        fields = {"_owner": owner, "_plain": {}}
        # `help` does not look for the docstring in base classes.
        doc = cls.__doc__ and cls.__doc__.replace("<PREFIX>", variable.name)
        names = {"__slots__": (), "__doc__": doc, "__module__": module}
        made: Any = type("backend_opts", (cls,), names | fields | methods)
        return made  # type: ignore[no-any-return]

    def _leave_any(self) -> None:
        """Leave the block that was entered last in this context."""
        # A token fits only the context that made it, and refuses every other without effect.
        for token in self._entered[::-1]:
            try:
                self._owner.keeper.variable.reset(token)
            except (ValueError, RuntimeError):
                continue
            self._entered.remove(token)
            return
        raise RuntimeError("this block of backend options was not entered in this context")

    def _scope(self) -> Scope:
        """Return a scope of the state in force here with the options added."""
        keeper, own = self._owner.keeper, self._own
        outer: Scope = keeper.get()[0]
        if own.is_plain:
            return keeper.inside(outer, own, outer.state)  # type: ignore[no-any-return]
        return keeper.scope(own.within(outer.state))  # type: ignore[no-any-return]

    def __call__(self, function: F) -> F:
        """Return `function` with the state in force now and these options frozen into it.

        Parameters
        ----------
        function : callable
            A function, a coroutine function or any other callable.

        Returns
        -------
        callable
            A callable that runs `function` under the frozen state, wherever it is called. Traces
            and hooks of its caller see its calls.

        Raises
        ------
        TypeError
            If `function` cannot be called, or is a generator function.
        """
        from ._freezing import freeze

        return freeze(self._owner, self._scope(), function, is_watched=True)

    def freeze(self, function: F) -> F:
        """Return a callable that runs `function` under these options and no others.

        Meant for work that is done later or elsewhere: unlike options as a decorator, it ignores
        the options in force here, and no trace or hook of a caller sees its calls.

        Parameters
        ----------
        function : callable
            A function, a coroutine function or any other callable.

        Returns
        -------
        callable
            A callable that runs `function` under these options, wherever it is called. It can be
            pickled if `function` can.
        """
        from ._freezing import freeze

        state = self._own.within(DispatchState())
        scope = self._owner.keeper.scope(state)
        return freeze(self._owner, scope, function, is_watched=False)

    def enable_globally(self) -> None:
        """Add these options to the process-wide default.

        They hold in every thread that is not inside a block of its own, and has not set a backend
        by a `Switch`. `reset_globally` takes them back.

        Warns
        -----
        GlobalOptionsWarning
            If this call adds to an earlier one, and overrides it where they contradict; or if the
            caller has set a backend, and so does not follow.
        """
        if self is None:
            raise TypeError(
                "enable_globally() needs options; write "
                "`backend_opts(prioritize=...).enable_globally()`"
            )
        keeper, own = self._owner.keeper, self._own
        default: Scope = keeper.default
        if default.is_enabled and own.within(default.state).key != default.state.key:
            _warn(
                "the options of the process were changed before; the new options are added to the "
                "earlier ones and override them where they contradict"
            )
        if keeper.is_own() and keeper.current().backend is not None:
            _warn(
                "this thread or task has set a backend and keeps its own options, so that those of "
                "the process do not hold here; call unset_backend() first, or leave the block"
            )
        # Starts from the present default: another thread may have changed it since the check above.
        keeper.change_default(own.within)

    @classmethod
    def reset_globally(cls) -> None:
        """Take back all options that `enable_globally` has added.

        The environment variables are in force again, in every thread that is not inside a block
        of its own.
        """
        owner = cls._owner
        if owner.keeper.default.is_enabled:
            state = owner.catalog().initial_state()
            owner.keeper.change_default(lambda _: state, is_enabled=False)

    @classmethod
    def reload(cls) -> None:
        """Discover the backends again, e.g. after one was installed in a running session.

        The environment variables are read again too. Blocks of options stay in force, and modules
        that were imported are not imported again.
        """
        cls._owner.system.reload()

    def _state(self) -> DispatchState:
        """Return the state in force here with the options added."""
        state: DispatchState = self._own.within(self._owner.keeper.current())
        return state

    @readable
    def backends(self) -> tuple[str, ...]:
        """Names of the active backends by priority; ``"default"`` is the library."""
        backends, state = self._owner.ensure_loaded(), self._state()
        names = state.ordered(backends.catalog.descriptions)
        active = backends.active(frozenset(names), state)
        return tuple([name for name in names if name in active])

    @readable
    def prioritized(self) -> tuple[str, ...]:
        """Names of the prioritized backends, the foremost first."""
        return self._state().prioritized

    @readable
    def disabled(self) -> tuple[str, ...]:
        """Names of the disabled backends, sorted."""
        return tuple(sorted(self._state().disabled))

    @readable
    def type(self) -> Class | None:
        """The type that counts as if it had been passed, or None."""
        return self._state().type

    @readable
    def trace(self) -> Trace | None:
        """The events recorded so far, or None if nothing is recorded."""
        return self._state().trace

    @readable
    def fallback(self) -> str | None:
        """The fallback policy; None if the policies of the functions and the library apply."""
        return self._state().fallback

    @readable
    def backend(self) -> str | None:
        """The current backend; None if there is none."""
        return self._state().backend

    @readable
    def hooks(self) -> tuple[Callable[[Call], Any], ...]:
        """The hooks that see every call, innermost first."""
        return self._state().hook or ()

    def _is_in_force(self) -> bool:
        """Whether a block of these options is entered here, or would change nothing here."""
        here: DispatchState = self._owner.keeper.current()
        if self._state().key == here.key:
            return True
        # Entered, perhaps in another thread: then what is in force here adds to these options.
        outside = here.within(self._own).replace(earlier=here.earlier)
        return bool(self._entered) and outside.key == here.key

    def __repr__(self) -> str:
        parts = [f"backends={self.backends}", f"prioritized={self.prioritized}"]
        if self.disabled:
            parts.append(f"disabled={self.disabled}")
        parts += [f"{name}={value!r}" for name, value in self._state().others.items()]
        if self.hooks:
            parts.append(f"hooks={self.hooks}")
        name = self.__class__.__name__
        if not self._is_in_force():
            name += ", not in force; use `with`, or `.enable_globally()`:"
        return f"<{name} {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def __reduce__(self) -> Any:
        from ._freezing import reduce_options

        return reduce_options(self._owner, self._own)


# Called on the class, it says what to write.
BackendOptions.enable_globally.__defaults__ = (None,)


def refuse_unknown(cls: Class, name: str) -> NoReturn:
    """Raise the error for a keyword argument that no option has."""
    from ._errors import nearest  # correct programs do not need it

    close = nearest(name, NAMES)
    hint = f"did you mean {close[0]!r}?" if close else f"its options are {', '.join(NAMES)}"
    raise TypeError(f"{cls.__name__}() has no option {name!r}; {hint}")


def refuse_setting(cls: Class, name: str, value: object) -> NoReturn:
    """Raise the error for setting an attribute of options; say what to write."""
    from ._errors import nearest  # correct programs do not need it

    option = next(iter(nearest(name, NAMES)), None)
    given = f"{cls.__name__}(...)" if option is None else f"{cls.__name__}({option}={value!r})"
    raise AttributeError(
        f"options are not set as attributes: write `with {given}:`, or `{given}.enable_globally()` "
        "for the whole process"
    )


def _warn(text: str) -> None:
    from ._errors import warn_caller  # rarely needed
    from .exceptions import GlobalOptionsWarning

    warn_caller(GlobalOptionsWarning(text))


def _is_constant(names: object) -> bool:
    """Whether `names` are immutable, so that they mean the same backends next time."""
    return names is None or type(names) is str or type(names) is tuple


def _checked_names(option: str, given: Any, catalog: Any) -> tuple[str, ...]:
    """Return the names of usable backends that ``prioritize=`` or ``disable=`` means."""
    names: Any = () if given is None else (given,) if isinstance(given, str) else given
    is_several = hasattr(names, "__iter__") and not isinstance(names, bytes)
    names = tuple(names) if is_several else names
    if not is_several or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"{option}= takes the name of a backend, or several names in a list, not {given!r}"
            + "; above a function, write `@backend_opts(prioritize=...)`" * callable(given)
        )
    is_disabled = option == "disable"
    return tuple(dict.fromkeys(catalog.check_backend(name, is_disabled) for name in names))


def checked_type(owner: Any, given: Class | str) -> Class:
    """Return the class that ``type=`` means; an identifier is imported."""
    found: Any = given
    if issubclass(type(given), str):  # `isinstance` would read `__class__`, which may run code
        import builtins

        from ._patterns import import_identifier  # few programs need it

        found = vars(builtins).get(str(given))
        if not isinstance(found, type):
            found = import_identifier(str(given))
    owner.ensure_loaded().check_type(found)
    return found  # type: ignore[no-any-return]  # `check_type` raises for anything but a class


def checked_policy(fallback: object) -> str:
    """Return a fallback policy; raise if it is none."""
    if isinstance(fallback, str) and fallback in POLICIES:
        return fallback
    raise ValueError(f"fallback= takes one of {', '.join(map(repr, POLICIES))}, not {fallback!r}")


def checked_backend(owner: Any, given: object) -> str:
    """Return the name of the backend that becomes current."""
    if not issubclass(type(given), str):
        raise TypeError(f"the current backend is given by its name, not by {given!r}")
    name: str = owner.catalog().check_backend(given)
    return name
