"""Hooks: callables that see every call in the scope of a block."""

from __future__ import annotations

from ._parameters import ASYNC_GENERATOR, COROUTINE, nature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from ._state import Scope, Stages, StateKeeper

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

    __slots__ = ("_after", "_found", "_has_gone_on", "_hooked", "_place", "args", "kwargs")

    if TYPE_CHECKING:
        args: tuple[Any, ...]
        kwargs: dict[str, Any]
        _hooked: Any
        _place: int  # of the hook among the stages
        # The dispatch arguments that the library's finder found, and the arguments of that call.
        _found: tuple[tuple[Any, ...] | None, tuple[Any, ...], dict[str, Any]] | None
        _has_gone_on: bool
        # Set by `next`: the call of the next hook, the progress of the chain, or a backend's name.
        _after: Any

        def __init__(self) -> None: ...

    else:
        # The caller sets all attributes, which takes half the time of an `__init__` in Python.
        __init__ = object.__init__

    @property
    def function(self) -> str:
        """Identifier of the library's function, ``"module:qualname"``."""
        identifier: str = self._hooked.function.identifier
        return identifier

    @property
    def callable(self) -> Callable[..., Any]:
        """The library's function; calling it in the hook starts a new call."""
        wrapper: Callable[..., Any] = self._hooked.record.wrapper
        return wrapper

    @property
    def types(self) -> tuple[type, ...]:
        """The dispatch types."""
        types: tuple[type, ...] = self._hooked.types
        return types

    @property
    def backend(self) -> str | None:
        """The backend that answered or raised; None before `next`, and if all have deferred.

        ``"default"`` is the library's own implementation. For a coroutine function it is final
        when the result of `next` has been awaited.
        """
        after = self._outcome()
        found: str | None = getattr(after, "backend", after)
        return found

    @property
    def deferred(self) -> dict[str, str]:
        """The backends that have deferred since `next`, each with its reason.

        A backend that said `IF_NEEDED` has not deferred.
        """
        return {**getattr(self._outcome(), "reasons", {})}

    def _outcome(self) -> Any:
        """Return the progress of the chain, or the name of a backend that was called directly."""
        after: Any = self
        while type(after) is Call:
            after = after._after
        return after

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
        return self._hooked.go_on(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<Call of {self.function}>"

    def __reduce__(self) -> Any:
        raise TypeError(f"a call of {self.function} cannot be pickled: it belongs to its process")


def checked_hook(given: Any) -> tuple[Hook]:
    """Return a hook given by a user in the form that a dispatch state holds, a tuple.

    Raises
    ------
    TypeError
        If it cannot be called, or is a class, a coroutine function or a generator function.
    """
    if not callable(given) or isinstance(given, type):
        hint = f"; did you mean {given.__name__}(...)?" if isinstance(given, type) else ""
        raise TypeError(
            f"hook= takes a callable, which is called with each call, not {given!r}{hint}"
        )
    nature = nature_of(given) or nature_of(type(given).__call__)
    if nature:
        kind = "an asynchronous generator function" if nature & ASYNC_GENERATOR else ""
        kind = kind or ("a coroutine function" if nature & COROUTINE else "a generator function")
        raise TypeError(
            f"hook= takes a plain function, and {hook_name(given)} is {kind}. To await the "
            "result of call.next(...), let the hook return a coroutine that does so"
        )
    return (given,)


def hook_name(hook: Any) -> str:
    """Return the identifier of a function; for another object, the identifier of its class."""
    while type(hook).__module__ == "functools" and hasattr(hook, "func"):
        hook = hook.func  # of a partial
    for each in (hook, type(hook)):
        module, name = (getattr(each, key, None) for key in ("__module__", "__qualname__"))
        if type(module) is str and type(name) is str:
            return f"{module}:{name}"
    return type(hook).__name__


def stages_of(keeper: StateKeeper, scope: Scope) -> Stages:
    """Return the hooks of a scope, innermost first, each with the tables that it runs under.

    A hook runs without itself and without the hooks inside it; outer hooks stay active.
    """
    stages = scope.stages
    if stages is None:
        hooks: tuple[Hook, ...] = scope.state.hook or ()
        found = []
        for place, hook in enumerate(hooks, 1):
            state = scope.state.replace(hook=hooks[place:] or None)
            found.append((hook, keeper.scope(state).tables))
        # Two threads may come here at once; their stages are equivalent.
        stages = scope.stages = tuple(found)
    return stages
