"""Hooks: each sees a call, innermost first, before the candidates; the calls as they see them.

With two hooks, the inner ``a`` and the outer ``b``, a call runs:

=========================  ========================================
callable                   the hooks in force meanwhile
=========================  ========================================
``a(call)``                ``b``
``b(call)``, by ``next``   none
candidates, by ``next``    ``a`` and ``b``: the state of the call
=========================  ========================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ._call import Run, are_same
from ._freezing import await_in, call_in, kind_of
from ._patterns import callable_identifier
from ._wrapper import COROUTINE, given, nature_of

if TYPE_CHECKING:
    from ._decide import Decision, Step
    from ._state import Scope, Stages, StateKeeper, Tables

Hook: TypeAlias = Callable[["Call"], Any]


class Call:
    """A call of a library's function, as a hook sees it.

    Attributes
    ----------
    args : tuple
        The positional arguments.
    kwargs : dict
        The keyword arguments.

    Notes
    -----
    It is the only argument of a hook, which returns the result of the call. A hook that only
    watches returns ``call.next(*call.args, **call.kwargs)``.
    """

    __slots__ = (
        *("_after", "_arguments", "_decision", "_found", "_has_gone_on", "_place"),
        *("_scope", "args", "kwargs"),
    )

    def __init__(
        self,
        scope: Scope,
        decision: Decision,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
        place: int = 0,
    ) -> None:
        self.args = args
        self.kwargs = {**kwargs}  # the hook may change it
        self._scope = scope  # has the state of the call, but for the ``type`` of `invoke`
        self._decision = decision
        self._arguments = args, kwargs
        self._found = found  # the dispatch arguments, if they were extracted
        self._place = place  # of the hook among the stages
        self._has_gone_on = False
        # Set by `next`: the call of the next hook, or the run of the candidates.
        self._after: Call | Run | None = None

    @property
    def function(self) -> str:
        """Identifier of the library's function, ``"module:qualname"``."""
        return self._decision.function.identifier

    @property
    def callable(self) -> Callable[..., Any]:
        """The library's function; calling it in the hook starts a new call."""
        wrapper: Callable[..., Any] = self._decision.function.wrapper
        return wrapper

    @property
    def types(self) -> tuple[type, ...]:
        """The dispatch types."""
        return self._decision.types

    @property
    def backend(self) -> str | None:
        """The backend that answered or raised; None before `next`, and if all have deferred.

        ``"default"`` is the library's own implementation. For a coroutine function it is final
        when the result of `next` has been awaited.
        """
        run = self._run
        return None if run is None else run.backend

    @property
    def deferred(self) -> dict[str, str]:
        """The backends that have deferred since `next`, each with its reason.

        A backend that said `IF_NEEDED` has not deferred.
        """
        run = self._run
        return {} if run is None else {**run.reasons}

    @property
    def _run(self) -> Run | None:
        """The run of the candidates; None before `next`."""
        return self._after._run if isinstance(self._after, Call) else self._after

    def next(self, /, *args: Any, **kwargs: Any) -> Any:
        """Continue the call with these arguments: with the next hook, then with the backends.

        The implementation runs under the options of the call, including this hook, so the hook
        sees the calls that the implementation makes. If the arguments have other types, the
        backends are chosen anew.

        Parameters
        ----------
        *args, **kwargs
            All arguments; ``*call.args, **call.kwargs`` for those of the call.

        Returns
        -------
        object
            The result. For a coroutine function it can be awaited, for a generator function it is
            an iterator, for an asynchronous generator function an asynchronous iterator.
        """
        self._has_gone_on = True
        function, decision, found = self._decision.function, self._decision, self._found
        # The adopted ones' callers give the types.
        if not are_same(args, kwargs, *self._arguments) and not function.is_adopted:
            found = function.values(args, kwargs)
            decision = decision.for_types(map(type, given(found)))
        place = self._place + 1
        if place < len(_stages_of(decision.backends.keeper, self._scope)):
            inner = Call(self._scope, decision, args, kwargs, found, place)
            self._after = inner
            return inner._ask()
        # A finder runs once in a call; other dispatch arguments are extracted where needed.
        found = found if function.parameters is None else None
        run = self._after = Run(decision, args, function.without_like(kwargs), found)
        return self._in_scope(self._scope.tables, run.call)

    def _ask(self) -> Any:
        """Call the hook, in the scope of the hooks outside of it."""
        hook, tables = _stages_of(self._decision.backends.keeper, self._scope)[self._place]
        result = self._in_scope(tables, hook, self)
        if result is NotImplemented and not self._has_gone_on:
            return self.next(*self.args, **self.kwargs)
        return result

    def _in_scope(self, tables: Tables, function: Callable[..., Any], *args: Any) -> Any:
        """Return the result of a function that is called in a scope, and is awaited there, too."""
        decision = self._decision
        keeper = decision.backends.keeper
        result = call_in(keeper, tables, function, *args)
        # The steps of a generator run under the state of its consumer.
        if decision.function.nature & COROUTINE and result is not NotImplemented:
            return await_in(keeper, tables, lambda: result)
        return result

    def __repr__(self) -> str:
        return f"<Call of {self.function}>"

    def __reduce__(self) -> Any:
        raise TypeError(f"a call of {self.function} cannot be pickled: it belongs to its process")


def _stages_of(keeper: StateKeeper, scope: Scope) -> Stages:
    """Return the hooks of a scope, innermost first, each with the tables that it runs under.

    A hook runs without itself and without the hooks inside it; outer hooks stay active.
    """
    stages = scope.stages
    if stages is None:
        hooks = scope.state.hook or ()
        found = []
        for place, hook in enumerate(hooks, 1):
            state = scope.state.replace(hook=hooks[place:] or None)
            found.append((hook, keeper.scope(state).tables))
        # Two threads may come here at once; their stages are equivalent.
        stages = scope.stages = tuple(found)
    return stages


def names_before(candidates: Iterable[Step], backend: str) -> list[str]:
    """Return the backends that a call asks before one, which answers or converts."""
    names = [*dict.fromkeys(each.backend for each in candidates if each.conversions is None)]
    # Without those that convert: they come last, and depend on the fallback policy.
    return names[: names.index(backend)] if backend in names else names


def checked_hook(hook: Any) -> tuple[Hook]:
    """Return a hook of a user in the form that a dispatch state holds, a tuple."""
    if not callable(hook) or isinstance(hook, type):
        hint = f"; did you mean {hook.__name__}(...)?" if isinstance(hook, type) else ""
        raise TypeError(
            f"hook= takes a callable, which is called with each call, not {hook!r}{hint}"
        )
    nature = nature_of(hook)
    if nature:
        raise TypeError(
            f"hook= takes a plain function, and {callable_identifier(hook)} is {kind_of(nature)}. "
            "To await the result of call.next(...), let the hook return a coroutine that does so"
        )
    return (hook,)
