"""Shortcuts: exchange a wrapper's code for the code of the default implementation, and back.

While no active backend implements a function, its wrapper runs the code object of the default
implementation, with its globals and default values. A call of the wrapper then is a call of the
default implementation: it has one frame, and costs the same.

The exchange changes ``__code__`` alone. The wrapper has the default values of the default
implementation at all times, because its own code does not use any (see `wrapper`). Therefore a
call gets its arguments as given whenever the code is exchanged: between two instructions, by an
audit hook in the middle of the exchange, or by a finalizer that runs while CPython prepares the
frame of a call.
"""

from __future__ import annotations

import sys
from types import FunctionType

from .._dispatch_arguments import NATURES
from .._locks import is_running
from .wrapper_support import accelerate, slow_down

if sys.version_info < (3, 11):
    from .garbage_collection import is_collecting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

# Without its global lock, CPython may free code that another thread is about to run.
_is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
_IS_ATOMIC = sys.implementation.name == "cpython" and _is_gil_enabled()


class Shortcut:
    """Lets a wrapper run the code of its default implementation.

    Parameters
    ----------
    wrapper : types.FunctionType
        The wrapper.
    default : types.FunctionType
        The default implementation.
    own : types.CodeType
        The code that was generated for the wrapper.

    Notes
    -----
    The code object tells in which of three states the wrapper is:

    ============================== ========== =============== ==========
    code                           `is_taken` `take`          `leave`
    ============================== ========== =============== ==========
    generated for the wrapper      False      exchanges       not called
    of the default implementation  True       changes nothing exchanges
    set by a user, e.g. a profiler False      changes nothing not called
    ============================== ========== =============== ==========
    """

    __slots__ = ("_default", "_frame", "_own", "_taken", "_wrapper")

    @classmethod
    def between(cls, wrapper: FunctionType, default: object, own: CodeType) -> Shortcut | None:
        """Return the shortcut; None if the code of `default` must not run in the wrapper."""
        if (
            not _IS_ATOMIC
            or type(default) is not FunctionType
            # Its globals are of a subclass of dict, which the wrapper does not share.
            or default.__globals__ is not wrapper.__globals__
            # The decorator of a wrapped function may exchange code, too.
            or "__wrapped__" in default.__dict__
        ):
            return None
        return cls(wrapper, default, own)

    def __init__(self, wrapper: FunctionType, default: FunctionType, own: CodeType) -> None:
        self._wrapper = wrapper
        self._default = default
        self._own = own
        # The frame of `take` or `leave` while it exchanges: an audit hook that runs in the middle
        # may come to this object again.
        self._frame: FrameType | None = None
        # The code that `take` gave the wrapper; the default may get other code afterwards.
        self._taken: CodeType | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the wrapper runs the code of the default implementation."""
        return self._wrapper.__code__ is self._taken

    @property
    def _is_exchanging(self) -> bool:
        """Whether an audit hook that runs in an exchange reads this.

        The frame tells it, and not a flag, which an interrupt could leave set.
        """
        # `is_running` looks at this thread's stack: an exchange of another thread does not count.
        return is_running(self._frame)

    def take(self) -> None:
        """Let the wrapper run the code of the default implementation."""
        wrapper, default = self._wrapper, self._default
        code = default.__code__
        if (
            wrapper.__code__ is not self._own
            or self._is_exchanging
            # The exchange can wait for the end of the collection.
            or (sys.version_info < (3, 11) and is_collecting())
            # A tool that changed the default may have given it another nature.
            or (code.co_flags ^ self._own.co_flags) & NATURES
        ):
            return
        self._frame = sys._getframe()
        # An interrupt may come between any two steps; each one leaves a wrapper that works.
        try:
            slow_down(wrapper)
            # Updated first: the generated code, which still runs, ignores default values.
            if wrapper.__defaults__ is not default.__defaults__:
                wrapper.__defaults__ = default.__defaults__
            if wrapper.__kwdefaults__ is not default.__kwdefaults__:
                wrapper.__kwdefaults__ = default.__kwdefaults__
            self._taken = code
            wrapper.__code__ = code
        finally:
            self._frame = None

    def leave(self) -> None:
        """Let the wrapper run its own code again; only for a shortcut that is taken."""
        if not self._is_exchanging:
            self._frame = sys._getframe()
            try:
                self._wrapper.__code__ = self._own
            finally:
                self._frame = None
            accelerate(self._wrapper)
