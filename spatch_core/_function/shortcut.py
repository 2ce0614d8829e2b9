"""Exchanges a wrapper's code for that of the default implementation, and back.

While no backend implements a function, its wrapper runs the code object of the default
implementation, with its globals and default values. A call of the wrapper then is a call of the
default implementation: it has one frame, and costs the same.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from itertools import repeat
from types import FunctionType

from .._turns import Turn, is_running
from .acceleration import accelerate, slow_down

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from .wrapper import Generated

# Several attributes change. Only with its global lock does CPython let other threads see none of
# the steps between.
_is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
_IS_ATOMIC = sys.implementation.name == "cpython" and _is_gil_enabled()

_SUSPENDS = 0x20 | 0x80 | 0x200
"""The flags of generators, coroutines and asynchronous generators, as `inspect` has them."""

exchanging = Turn()
"""Held while a thread decides about shortcuts, and takes or leaves them.

Without it, one thread could decide to take a shortcut, another could start a trace and leave all
shortcuts, and the first could then take its own: the trace would miss the calls. A thread may
acquire it twice: audit hooks, signal handlers and finalizers may start a trace while it is held.
"""


class Shortcut:
    """Lets a wrapper run the code of its default implementation.

    Parameters
    ----------
    wrapper : types.FunctionType
        The wrapper.
    default : types.FunctionType
        The default implementation.
    generated : Generated
        Makes the bridge: code for the wrapper that calls the default implementation, and does not
        use the wrapper's default values.

    Notes
    -----
    The wrapper is in one of four states, told by its code object:

    ============================== ========== =============== ==========
    code                           `is_taken` `take`          `leave`
    ============================== ========== =============== ==========
    generated for the wrapper      False      exchanges       not called
    that of the default            True       changes nothing exchanges
    the bridge, in an exchange     False      changes nothing not called
    set by a user, e.g. a profiler False      changes nothing not called
    ============================== ========== =============== ==========

    An exchange sets the bridge, then the default values, then the other code. So a call in the
    middle gets its arguments as given: no code ever runs with the default values of the other.
    """

    __slots__ = ("_default", "_frame", "_generated", "_own", "_taken", "_wrapper")

    @classmethod
    def between(
        cls, wrapper: FunctionType, default: object, generated: Generated
    ) -> Shortcut | None:
        """Return the shortcut; None if the code of `default` must not run in the wrapper."""
        if (
            not _IS_ATOMIC
            or type(default) is not FunctionType
            # CPython exchanges code only for code with as many free variables.
            or default.__code__.co_freevars
            # They are of a subclass of dict, which a wrapper does not share.
            or default.__globals__ is not wrapper.__globals__
            # `inspect.iscoroutinefunction` and the like must give one answer at all times.
            or default.__code__.co_flags & _SUSPENDS
            # A decorator that wraps another function may exchange code too.
            or "__wrapped__" in default.__dict__
        ):
            return None
        return cls(wrapper, default, generated)

    def __init__(self, wrapper: FunctionType, default: FunctionType, generated: Generated) -> None:
        self._wrapper = wrapper
        self._default = default
        self._generated = generated
        self._frame: FrameType | None = None
        self._own = wrapper.__code__, wrapper.__defaults__, wrapper.__kwdefaults__
        # The code that `take` gave the wrapper; the default may get other code afterwards.
        self._taken: CodeType | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the wrapper runs the code of the default implementation."""
        return self._wrapper.__code__ is self._taken

    @property
    def _is_exchanging(self) -> bool:
        """Whether this is asked by an audit hook that runs in an exchange.

        An exchange ends with its frame, also where it was interrupted.
        """
        return is_running(get_ident(), self._frame)

    def take(self) -> None:
        """Let the wrapper run the code of the default implementation."""
        if self._wrapper.__code__ is not self._own[0] or self._is_exchanging:
            return
        slow_down(self._wrapper)
        default = self._default
        self._taken = default.__code__
        self._exchange(self._taken, default.__defaults__, default.__kwdefaults__)

    def leave(self) -> None:
        """Let the wrapper run its own code again; only for a shortcut that is taken."""
        if not self._is_exchanging:
            self._exchange(*self._own)
            accelerate(self._wrapper)

    def _exchange(self, code: CodeType, *defaults: object) -> None:
        """Set the code and the default values.

        The loop is one call of one built-in function (`any` goes on because `setattr` returns
        None), and CPython switches threads only between bytecode instructions. But `setattr` runs
        audit hooks: in them this thread may call the wrapper, and others may run. A hook that
        raises, or is interrupted, would leave the bridge in place, which never dispatches; so the
        wrapper gets its own code back.
        """
        names = "__code__", "__defaults__", "__kwdefaults__", "__code__"
        bridge = self._generated.bridge()
        self._frame = sys._getframe()
        try:
            any(map(setattr, repeat(self._wrapper), names, (bridge, *defaults, code)))
        except BaseException:
            own, *defaults_of_own = self._own
            any(map(setattr, repeat(self._wrapper), names, (bridge, *defaults_of_own, own)))
            raise
        finally:
            self._frame = None
