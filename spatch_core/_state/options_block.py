"""Options in force: in a block, which is entered and left, or in the whole process.

One object of options may be entered in several threads and tasks at once, and within itself. All of
them share its list of tokens. The list needs no lock: appending and removing an item are atomic,
and each thread removes only the tokens that it has added.
"""

from __future__ import annotations

from _weakref import ref  # weakref itself imports much more
from types import GenericAlias, MethodType

from .options_view import OptionsView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextvars import ContextVar, Token
    from typing import Any, ClassVar, Generic

    from typing_extensions import Self, TypeVar  # type checkers have these, `typing` of 3.10 not

    from .options_owner import Owner
    from .scope import Scope, Tables
    from .state import DispatchState


class Block(OptionsView):
    """The part of `BackendOptions` that enters and leaves blocks, and changes the default.

    Attributes
    ----------
    _own : DispatchState
        The state that the options describe.
    _entered : list
        The tokens of blocks that are still to be left.
    _last : tuple of weakref.ref, or None
        For options that are not plain, which `Scope.inner` does not cache: the last scope around
        such a block, and the scope of the block. The references are weak, so that options which a
        program keeps do not keep alive the classes of other options.
    """

    __slots__ = ("_entered", "_last", "_own")

    if TYPE_CHECKING:
        _owner: ClassVar[Owner]
        _own: DispatchState
        _entered: list[Token[Tables]]
        _last: tuple[ref[Scope], ref[Scope]] | None
    else:
        __class_getitem__ = classmethod(GenericAlias)  # for annotations that are evaluated

    def _state(self) -> DispatchState:
        """Return the state in force here with the options added."""
        return self._scope().state

    def _scope(self) -> Scope:
        """Return a scope of that state."""
        keeper, own = self._owner.keeper, self._own
        outer: Scope = keeper.get()[0]
        if own.is_plain:
            return keeper.inside(outer, own)
        last = self._last
        if last is not None and last[0]() is outer:
            scope = last[1]()
            if scope is not None:
                return scope
        scope = keeper.inside(outer, own)
        self._last = ref(outer), ref(scope)
        return scope

    def _enter(self) -> Any:
        """Enter a block whose scope is not cached in the outer one."""
        self._entered.append(self._owner.keeper.set(self._scope().tables))
        trace = self._own.trace
        return self if trace is None else trace

    def _leave_any(self) -> None:
        """Leave the block that was entered last in this context.

        One object may be entered in several threads and tasks at once. A token fits only
        the context that made it, and refuses every other without effect.
        """
        for token in self._entered[::-1]:
            try:
                self._owner.keeper.variable.reset(token)
            except (ValueError, RuntimeError):
                continue
            self._entered.remove(token)
            return
        raise RuntimeError("this block of backend options was not entered in this context")

    @classmethod
    def _bind(cls, owner: Owner, module: str) -> type[Self]:
        """Make the subclass for one library.

        Parameters
        ----------
        owner : Owner
            The library.
        module : str
            The module that publishes them.
        """
        variable = owner.keeper.variable
        fields = {"_owner": owner, "_prioritized": {}, "_plain": {}, "_values": {}}
        # `help` does not look for the docstring in base classes.
        doc = cls.__doc__ and cls.__doc__.replace("<PREFIX>", variable.name)
        names = {"__slots__": (), "__doc__": doc, "__module__": module}
        made: Any = type("backend_opts", (cls,), names | fields | block_methods(variable, module))
        return made  # type: ignore[no-any-return]

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
        from .process_default import enable  # a program needs it once

        enable(self._owner.keeper, self._own)

    @classmethod
    def reset_globally(cls) -> None:
        """Take back all options that `enable_globally` has added.

        The environment variables are in force again, in every thread that is not inside a block
        of its own.
        """
        from .process_default import reset  # few programs need it

        reset(cls._owner)

    @classmethod
    def reload(cls) -> None:
        """Discover the backends again, e.g. after one was installed in a running session.

        The environment variables are read again too. Blocks of options stay in force, and modules
        that were imported are not imported again.
        """
        cls._owner.reload()


if TYPE_CHECKING:
    Given_co = TypeVar("Given_co", covariant=True, default=Any)

    class Giving(Block, Generic[Given_co]):
        """A block for which ``with ... as`` gives a `Given_co`."""

        def __enter__(self) -> Given_co: ...

        def __exit__(
            self, kind: object = None, error: object = None, traceback: object = None
        ) -> None: ...

    method_of_either = classmethod
else:
    # `Giving[Given_co]` is `Block` at run time: importing `typing` takes longer than importing a
    # library.
    Given_co = None
    Giving = {Given_co: Block}

    class method_of_either(classmethod):  # noqa: N801  # used as `classmethod` is
        """A class method; called on an object, it gets the object instead of the class."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return MethodType(self.__func__, owner if instance is None else instance)


def block_methods(variable: ContextVar[Tables], module: str) -> dict[str, Any]:
    """Return the methods that make a library's options a context manager.

    They are closures, because looking up the methods of the context variable would take a
    large part of the time.

    Parameters
    ----------
    variable : contextvars.ContextVar
        Holds the tables in force.
    module : str
        The module that publishes the options.
    """
    get, set_, reset = variable.get, variable.set, variable.reset

    def enter(self: Block) -> Any:
        """Put the options in force here; return the trace, or else the options."""
        try:
            scope = get()[0].inner[self._own]
        except KeyError:  # not a cached inner scope
            return self._enter()
        self._entered.append(set_(scope.tables))
        return self

    def leave(
        self: Block, kind: object = None, error: object = None, traceback: object = None
    ) -> None:
        """Restore what was in force before the block."""
        entered: list[Any] = self._entered
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
    return methods
