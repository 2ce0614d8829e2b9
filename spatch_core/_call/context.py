"""The context of a call, which ``should_run`` and implementations may take as first argument."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .context_call_next import Rest
    from .progress import Continued

    Extract = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...]]


class SharedPart:
    """The part of a context that all calls of a function with the same types share.

    Contexts refer to it: setting one attribute takes less time than setting five.

    Parameters
    ----------
    types : tuple of type
        The dispatch types.
    name : str
        The backend's name.
    prioritized : bool
        Whether it is prioritized.
    function : str
        Identifier of the library's function.
    extract : callable
        Takes ``_args`` and ``_kwargs`` of a context; returns the dispatch arguments.
    rest : Rest or None
        The rest of the chain; None if the context belongs to no running call.
    """

    __slots__ = ("extract", "function", "name", "prioritized", "rest", "types")

    def __init__(
        self,
        types: tuple[type, ...],
        name: str,
        prioritized: bool,
        function: str,
        extract: Extract,
        rest: Rest | None = None,
    ) -> None:
        self.types = types
        self.name = name
        self.prioritized = prioritized
        self.function = function
        self.extract = extract
        self.rest = rest


class DispatchContext:
    """The context of one call for one backend.

    Parameters
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

    __slots__ = ("_args", "_continued", "_dispatch_args", "_known", "_kwargs", "_prepared")

    if TYPE_CHECKING:
        _args: tuple[Any, ...]
        _continued: Continued
        _dispatch_args: tuple[Any, ...]
        _known: SharedPart
        _kwargs: Mapping[str, Any]
        _prepared: Any

    def __init__(
        self,
        types: tuple[type, ...],
        dispatch_args: tuple[Any, ...],
        name: str,
        prioritized: bool,
        function: str,
    ) -> None:
        self._known = SharedPart(types, name, prioritized, function, _all)
        self._args = dispatch_args
        self._kwargs = {}

    @property
    def types(self) -> tuple[type, ...]:
        """The dispatch types."""
        return self._known.types

    @property
    def dispatch_args(self) -> tuple[Any, ...]:
        """The dispatch arguments that were given and are not None."""
        try:
            return self._dispatch_args
        except AttributeError:
            # Cached: a finder of the library may have to find them, which takes time.
            self._dispatch_args = self._known.extract(self._args, self._kwargs)
            return self._dispatch_args

    @property
    def name(self) -> str:
        """The backend's name."""
        return self._known.name

    @property
    def prioritized(self) -> bool:
        """Whether the backend is prioritized, or was asked for by `invoke`."""
        return self._known.prioritized

    @property
    def function(self) -> str:
        """Identifier of the library's function."""
        return self._known.function

    @property
    def prepared(self) -> Any:
        """For the backend: the value that its `should_run` has set for the implementation.

        None until it is set; `invoke` with ``force=True`` calls no `should_run`.
        """
        return getattr(self, "_prepared", None)

    @prepared.setter
    def prepared(self, value: Any) -> None:
        self._prepared = value

    def call_next(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call what would run if this backend had deferred, and return its result.

        It calls the remaining candidates, down to the library's own implementation; this backend
        is not called again. With arguments of other types, the candidates are those for these
        types, without the ones that were considered before.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the library's function, without a context.

        Raises
        ------
        RuntimeError
            If this is not the context of a call, because it was pickled or made by hand.
        BackendDeferredError
            In a call by ``invoke(backend=...)``, which names no other backend.
        """
        rest = self._known.rest
        if rest is None:
            raise RuntimeError(
                "call_next() needs the context of a running call. This one was made by hand, "
                "copied or unpickled. Use the context that was passed to the implementation"
            )
        return rest.call(self, args, kwargs)

    def __repr__(self) -> str:
        return (
            f"DispatchContext(name={self.name!r}, function={self.function!r}, "
            f"types={self.types!r}, prioritized={self.prioritized!r})"
        )

    def __reduce__(self) -> Any:
        known = self._known
        return DispatchContext, (
            known.types,
            self.dispatch_args,
            known.name,
            known.prioritized,
            known.function,
        )


# Pickles use this public path. Set after the class body: set inside, CPython 3.13 would drop the
# line number of the class, and `inspect` would show another class of that module.
DispatchContext.__module__ = __name__.rpartition("._call.")[0] + ".backend_system"


class CallContext(DispatchContext):
    """The context of a running call.

    It has no `__init__`, which halves the time of making one. Its makers set ``_known``, ``_args``
    and ``_kwargs``.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(self) -> None: ...

    else:
        __init__ = object.__init__


def _all(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    return args
