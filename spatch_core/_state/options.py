"""`BackendOptions`: options for a block, for a decorated function, or for the process."""

from __future__ import annotations

from .options_block import Given_co, Giving, method_of_either

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ClassVar, Literal, TypedDict, TypeVar, overload

    from typing_extensions import Unpack  # type checkers have it; `typing` of 3.10 lacks it

    from .hooks import Hook
    from .state import Class, DispatchState
    from .trace import Trace

    F = TypeVar("F", bound=Callable[..., Any])

    class LaterOptions(TypedDict, total=False):
        """Keyword-only options, for the overloads."""

        fallback: str | None
        backend: str | None
        hook: Hook | None


_NOTHING = ()


class BackendOptions(Giving[Given_co]):
    """Choose and trace backends: in a block, in a function, or in the whole process.

    Parameters
    ----------
    prioritize : str or iterable of str, optional
        Backends to try first, in this order, before those that an outer block prioritizes.
        Backends that require opt-in become active by it.
    disable : str or iterable of str, optional
        Backends not to use. The library itself, ``"default"``, cannot be disabled.
    type : type or str, optional
        Counts as if an object of it had been passed to every call; a primary type of a
        backend. An identifier such as ``"numpy:ndarray"`` is imported.
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
        `hook` cannot be called, or is a coroutine function or a generator function.
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

    __slots__ = ()

    if TYPE_CHECKING:
        _prioritized: ClassVar[dict[Any, DispatchState]]
        _plain: ClassVar[dict[Any, DispatchState]]
        _values: ClassVar[dict[str, dict[str | None, dict[str, Any]]]]

        # The result of ``with ... as`` depends on `trace`, and so does the type of the object.
        @overload
        def __new__(
            cls,
            prioritize: str | Iterable[str] | None = ...,
            disable: str | Iterable[str] | None = ...,
            type: Class | str | None = ...,
            trace: Literal[False] = ...,
            **later: Unpack[LaterOptions],
        ) -> BackendOptions[BackendOptions]: ...
        @overload
        def __new__(
            cls,
            prioritize: str | Iterable[str] | None,
            disable: str | Iterable[str] | None,
            type: Class | str | None,
            trace: Literal[True],
            **later: Unpack[LaterOptions],
        ) -> BackendOptions[Trace]: ...
        @overload
        def __new__(
            cls,
            prioritize: str | Iterable[str] | None = ...,
            disable: str | Iterable[str] | None = ...,
            type: Class | str | None = ...,
            *,
            trace: Literal[True],
            **later: Unpack[LaterOptions],
        ) -> BackendOptions[Trace]: ...
        @overload
        def __new__(
            cls,
            prioritize: str | Iterable[str] | None = ...,
            disable: str | Iterable[str] | None = ...,
            type: Class | str | None = ...,
            trace: bool = ...,
            **later: Unpack[LaterOptions],
        ) -> BackendOptions[Any]: ...
        def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...

    else:

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
        ) -> None:
            self._entered = []
            if type is None and not trace and fallback is None and hook is None:
                try:
                    if backend is not None:
                        self._own = self._plain[prioritize, disable, backend]
                    elif disable is _NOTHING:
                        self._own = self._prioritized[prioritize]
                    else:
                        self._own = self._plain[prioritize, disable]
                except (KeyError, TypeError):  # not in the cache, or not hashable
                    pass
                else:
                    return
            self._last = None
            from .option_checks import check_and_keep  # importing a library does not need it

            others = {"type": type, "fallback": fallback, "backend": backend, "hook": hook}
            others["trace"] = trace or None
            self._own = check_and_keep(self, prioritize, disable, others)

    @classmethod
    def _forget(cls) -> None:
        """Empty the caches, because the backends have changed."""
        # Exchanged, not cleared: see `check_and_keep`.
        cls._prioritized, cls._plain = {}, {}
        for values in [*cls._values.values()]:  # other threads may add modules
            values.clear()  # drops the inner tables; a thread may still fill a dropped one

    def __call__(self, function: F) -> F:
        """Return `function` with the state in force now and these options frozen into it.

        Parameters
        ----------
        function : callable
            A function, a coroutine function or any other callable.

        Returns
        -------
        callable
            A callable that runs `function` under the frozen state, wherever it is called.

        Raises
        ------
        TypeError
            If `function` cannot be called, or is a generator function.
        """
        from .freezing import freeze

        return freeze(self._owner, self._scope(), function)

    @method_of_either
    def freeze(
        cls,  # noqa: N805  # an object or the class
        function: F,
        prioritize: str | Iterable[str] | None = (),
        disable: str | Iterable[str] | None = (),
        type: Class | str | None = None,
        fallback: str | None = None,
        backend: str | None = None,
    ) -> F:
        """Return a callable that runs `function` under these options and no others.

        Meant for work that is done later or elsewhere: unlike options as a decorator, it ignores
        the options in force here. ``backend_opts.freeze(function, ...)`` freezes the given options;
        ``backend_opts(...).freeze(function)`` those of the object, including its trace.

        Parameters
        ----------
        function : callable
            A function, a coroutine function or any other callable.
        prioritize, disable, type, fallback, backend
            As for a block; on an object, as for a block inside one of its options.

        Returns
        -------
        callable
            A callable that runs `function` under these options, wherever it is called. It can be
            pickled if `function` can.
        """
        from .freezing import freeze_alone

        others = {"type": type, "fallback": fallback, "backend": backend}
        return freeze_alone(cls, function, prioritize, disable, others)

    def __reduce__(self) -> Any:
        from .pickles import reduce_options

        return reduce_options(self._owner, self._own)
