"""A switch: sets the current backend of a library, without a block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from .._options import checked_backend
from .._patterns import DEFAULT, shown
from .._state import DispatchState, initial_state, remembered
from ..backend_system import BackendSystem
from .stacks import has_alone, options_of, stack_of, switched

if TYPE_CHECKING:
    from .._options import BackendOptions
    from .._state import Scope

__all__ = ["Switch"]


class Switch:
    """Sets the current backend of a library, here and now or for the whole process.

    It has no state of its own: it changes the dispatch state, as options do. A backend that is set
    in a block of options is set until the block ends; in a thread or an asyncio task, until the
    thread or the task ends. Other threads and tasks do not see it.

    Parameters
    ----------
    system : BackendSystem
        The library's system.

    Raises
    ------
    TypeError
        If `system` is no `BackendSystem`.

    Notes
    -----
    Iterating yields the backends that are set: the current one first, then those to which
    `previous_backend` goes back. The last 32 are remembered.

    Examples
    --------
    A library publishes the methods:

    >>> from spatch_core import BackendSystem
    >>> class Jax:
    ...     name = "jax"
    ...     primary_types = ["jax:Array"]
    >>> system = BackendSystem(None, "MYLIB", backends=[Jax], default_name="numpy")
    >>> switch = Switch(system)
    >>> set_backend, get_backend = switch.set_backend, switch.get_backend
    >>> set_backend("jax")
    >>> get_backend()
    'jax'
    >>> switch.previous_backend()
    'numpy'
    """

    __slots__ = ("_get", "_options", "_owner", "_system")

    def __init__(self, system: BackendSystem) -> None:
        if not isinstance(system, BackendSystem):
            raise TypeError(f"Switch() takes the BackendSystem of a library, not {system!r}")
        self._system = system
        self._owner = system._dispatcher
        self._options = system.backend_opts
        self._get = self._owner.keeper.get

    def set_backend(self, name: str, *, globally: bool = False) -> None:
        """Make a backend the current one.

        Parameters
        ----------
        name : str
            Its name, or the library's own name for its own implementations.
        globally : bool, optional
            Whether it also becomes the current backend of the process-wide default, which threads
            follow that have set nothing themselves. ``unset_backend(globally=True)`` undoes both.

        Raises
        ------
        UnknownBackendError
            A `ValueError`: there is no such backend. Nothing has changed.
        TypeError
            If `name` is not one name.
        """
        keeper = self._owner.keeper
        # `_plain` has the states of options under tuples, and those of switches under names.
        try:
            own = self._options._plain[name]
        except (KeyError, TypeError):  # given for the first time, or not hashable
            own = None
        if own is None:  # outside the handler, so that an error has no KeyError as its context
            own = self._checked(name)
        outer: Scope = self._get()[0]
        # Cached among the scopes of blocks, whose keys are options.
        scope = outer.inner.get(own)
        if scope is None:
            state = outer.state
            stack = own.prioritized + remembered(state.backend, state.earlier)
            # Never the scope of the default, which another thread may change.
            scope = keeper.scope(switched(state, stack))
            if scope.state.is_plain:
                outer.keep_inner(own, scope)
        keeper.put(scope)
        # Last: this thread keeps its backend, whatever others make of the default.
        if globally:
            default = keeper.default
            if not (default.is_enabled and has_alone(default.state, own.prioritized[0])):
                keeper.change_default(lambda state: switched(state, own.prioritized))

    def _checked(self, name: str) -> DispatchState:
        """Return the state with this backend alone, the same object for the same name."""
        # Read before the backends: see `check_and_keep`.
        plain = self._options._plain
        own = DispatchState(backend=checked_backend(self._owner, name))
        return plain.setdefault(name, own)

    def get_backend(self) -> str:
        """Return the name of the current backend, or of the library if there is none."""
        name: str | None = self._get()[0].state.backend
        # A backend's name is shown as it is. If none is set, the environment may name one.
        return self._shown(self._state().backend) if name is None or name == DEFAULT else name

    def backend_context(self, name: str, **unknown: NoReturn) -> BackendOptions[Any]:
        """Return options that make a backend the current one: in a block, or for a function.

        Parameters
        ----------
        name : str
            As for `set_backend`.
        **unknown
            None: other arguments are refused, `globally` and `local_threadsafe` among them.

        Returns
        -------
        BackendOptions
            The same as ``backend_opts(backend=name)``.

        Raises
        ------
        UnknownBackendError
            A `ValueError`: there is no such backend.
        TypeError
            If `name` is not one name, or another argument is given.
        """
        if unknown:
            raise TypeError(
                f"backend_context() has no argument {next(iter(unknown))!r}: a context holds in "
                "its own thread or task; write set_backend(name, globally=True) to set a backend "
                "also for threads that have set none"
            )
        return options_of(self._options, name)

    def previous_backend(self) -> str:
        """Go back to the backend that was current before.

        Returns
        -------
        str
            Its name, which `get_backend` gives now.

        Raises
        ------
        RuntimeError
            If no backend was set in this thread or task, or by an enclosing block.
        """
        state, default = self._state(), self._owner.keeper.default.state
        if state.backend is None or not self._owner.keeper.is_own():
            raise RuntimeError(
                "there is no backend to go back to: none was set in this thread or task, or by an "
                "enclosing block"
            )
        # The default may have been set to the same backend meanwhile.
        is_last = stack_of(state) == stack_of(default)
        self._return_to(switched(state, stack_of(default) if is_last else state.earlier, default))
        return self.get_backend()

    def unset_backend(self, *, globally: bool = False) -> None:
        """Go back to the current backend of the process-wide default.

        Parameters
        ----------
        globally : bool, optional
            Whether the process-wide default first goes back to that of the environment.
        """
        state, keeper = self._state(), self._owner.keeper
        if globally:
            initial = initial_state(self._owner.catalog())
            keeper.change_default(lambda state: switched(state, stack_of(initial), initial))
        if keeper.is_own():
            default = keeper.default.state
            self._return_to(switched(state, stack_of(default), default))

    def __iter__(self) -> Iterator[str]:
        return iter([self._shown(each) for each in stack_of(self._state())])

    def __repr__(self) -> str:
        names = ", ".join(self) or "no backend is set"
        return f"<Switch of {self._system._module}: {names}>"

    def __reduce__(self) -> Any:
        return Switch, (self._system,)

    def _state(self) -> DispatchState:
        owner = self._owner
        if owner.loaded is None:
            owner.ensure_loaded()  # the environment may name the current backend
        return owner.keeper.current()

    def _return_to(self, state: DispatchState) -> None:
        keeper = self._owner.keeper
        if state.key == keeper.default.state.key:
            keeper.follow_default()
        else:
            keeper.put(keeper.scope(state))

    def _shown(self, name: str | None) -> str:
        default = self._system.default_name
        return default if name is None else shown(name, default)
