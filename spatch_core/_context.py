"""What a call hands to its candidates, the context, and what they hand back: answers so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ._call import Chain


class IfNeeded:
    """The type of `IF_NEEDED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "IF_NEEDED"

    def __reduce__(self) -> str:
        return "IF_NEEDED"


IfNeeded.__module__ = f"{__package__}.backend_utils"  # the path in pickles
IF_NEEDED = IfNeeded()
"""The answer of a ``should_run`` whose backend runs only if no other one does."""

RETURNED = "it returned NotImplemented"
CONTINUED = "it went on with context.call_next()"
POSTPONED = "it said IF_NEEDED: it runs if no other one does"
UNKNOWN = object()
"""In place of a result: the remaining candidates are still to be tried."""


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
        _continued: Progress
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
        self._known = SharedPart(types, name, prioritized, function, lambda args, kwargs: args)
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
            *(known.types, self.dispatch_args, known.name, known.prioritized, known.function),
        )


# Pickles use this public path. Set after the class body: set inside, CPython 3.13 would drop the
# line number of the class, and `inspect` would show another class of that module.
DispatchContext.__module__ = f"{__package__}.backend_system"


class SharedPart(NamedTuple):
    """The part of a context that all calls with the same decision share.

    Contexts refer to it: setting one attribute takes less time than setting five.
    """

    types: tuple[type, ...]
    name: str
    prioritized: bool
    function: str
    # Takes the ``_args`` and ``_kwargs`` of a context, and returns the dispatch arguments.
    extract: Callable[[Any, Any], tuple[Any, ...]]
    rest: Rest | None = None


def context_of_call(
    known: SharedPart, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> DispatchContext:
    """Return the context of a running call."""
    context = new_context()
    context._known, context._args, context._kwargs = known, args, kwargs
    return context


class CallContext(DispatchContext):
    """The context of a running call. It has no `__init__`, which halves the time of making one."""

    __slots__ = ()

    # Its makers set the attributes.
    __init__ = object.__init__  # pyright: ignore[reportAssignmentType]


new_context: Callable[[], DispatchContext] = CallContext  # pyright: ignore[reportAssignmentType]


class Progress:
    """One call under way: its arguments, and the answers of the candidates so far."""

    __slots__ = (
        *("args", "backend", "cause", "found", "kwargs", "postponed", "reasons", "result"),
        "unconverted",
    )

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        self.args, self.kwargs = args, kwargs
        self.found = found  # the dispatch arguments, None and `missing` among them, if known
        # By backend: why it deferred, and why its conversions could not be used.
        self.reasons: dict[str, str] = {} if reasons is None else {**reasons}
        self.unconverted: dict[str, str] = {}
        self.postponed: list[int] = []  # the places of the candidates that said `IF_NEEDED`
        self.cause: Exception | None = None  # the last one by which an implementation deferred
        # The candidate that was tried last; in the end the one that answered or raised, if any.
        self.backend: str | None = None
        self.result: Any = UNKNOWN  # of a `call_next`, for the context that has made it

    def inner(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Progress:
        """Return the progress of a ``call_next``, which begins with the answers so far."""
        progress = Progress(args, kwargs, None, self.reasons)
        progress.unconverted = {**self.unconverted}
        progress.postponed, progress.cause = [*self.postponed], self.cause
        return progress


class Rest:
    """The rest of a chain after one candidate, for `DispatchContext.call_next`."""

    __slots__ = ("_chain", "_place", "_progress")

    def __init__(self, chain: Chain, place: int, progress: Progress | None = None) -> None:
        self._chain = chain
        self._place = place
        self._progress = progress  # None if the candidate is the first

    def call(self, context: DispatchContext, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the rest. The context keeps its answers, which count if its candidate defers."""
        chain, before = self._chain, self._progress
        progress = Progress(args, kwargs) if before is None else before.inner(args, kwargs)
        progress.reasons[context.name] = CONTINUED
        context._continued = progress
        result = chain.call_next(self._place, progress)
        # Awaitables and iterators can be used only once.
        if not chain.function.nature:
            progress.result = result
        return result


def are_same(call: Progress, other: Progress) -> bool:
    """Whether two calls have the very same arguments."""
    # By identity: arrays are not compared.
    kwargs, by_name = call.kwargs, other.kwargs
    return (
        len(call.args) == len(other.args)
        and all(map(is_, call.args, other.args))
        and kwargs.keys() == by_name.keys()
        and all(kwargs[name] is by_name[name] for name in kwargs)
    )
