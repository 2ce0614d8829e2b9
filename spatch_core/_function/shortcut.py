"""Lets a function that no backend implements run as if it were not dispatchable at all."""

from __future__ import annotations

import os
import sys
from _thread import RLock
from itertools import repeat
from types import FunctionType

from .acceleration import accelerate, slow_down

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

# Elsewhere other threads may see one of the values exchanged and the others not yet.
_is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
_IS_ATOMIC = sys.implementation.name == "cpython" and _is_gil_enabled()

_SUSPENDS = 0x20 | 0x80 | 0x200
"""`inspect`'s flags of generators, coroutines and asynchronous generators."""

exchanging = RLock()
"""Held by whoever decides that shortcuts are taken or left."""

if hasattr(os, "register_at_fork"):
    # As `threading` does.
    os.register_at_fork(after_in_child=exchanging._at_fork_reinit)  # type: ignore[attr-defined]


class Shortcut:
    """Exchanges the code of a wrapper for that of the default implementation, and back.

    While there is nothing to decide, the wrapper runs the very code of the default
    implementation, with its globals and its default values: calling one is calling the
    other, at the same price.

    Parameters
    ----------
    wrapper : types.FunctionType
        The wrapper.
    default : types.FunctionType
        The default implementation.
    """

    __slots__ = ("_default", "_own", "_taken", "_wrapper")

    @classmethod
    def between(cls, wrapper: FunctionType, default: object) -> Shortcut | None:
        """Return the shortcut; None if the code of `default` may not run in the wrapper."""
        if (
            not _IS_ATOMIC
            or type(default) is not FunctionType
            or default.__code__.co_freevars
            # They are of a kind that wrappers do not share.
            or default.__globals__ is not wrapper.__globals__
            # Whoever asks what kind of function it is gets the same answer at all times.
            or default.__code__.co_flags & _SUSPENDS
            # What wraps another function may exchange its own code too.
            or "__wrapped__" in default.__dict__
        ):
            return None
        return cls(wrapper, default)

    def __init__(self, wrapper: FunctionType, default: FunctionType) -> None:
        self._wrapper = wrapper
        self._default = default
        self._own = wrapper.__code__, wrapper.__defaults__, wrapper.__kwdefaults__
        self._taken: CodeType | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the wrapper runs the code of the default implementation."""
        return self._wrapper.__code__ is self._taken

    def take(self) -> None:
        """Let the wrapper be the default implementation."""
        if self._wrapper.__code__ is not self._own[0]:
            return  # somebody else has exchanged it, and it is a copy that was called
        slow_down(self._wrapper)
        default = self._default
        self._taken = default.__code__
        # An audit hook may run in between, and call it. Then default values count as given,
        # but the default implementation never sees the placeholders.
        names = "__kwdefaults__", "__defaults__", "__code__"
        _set_at_once(
            self._wrapper, names, (default.__kwdefaults__, default.__defaults__, self._taken)
        )

    def leave(self) -> None:
        """Let the wrapper dispatch again."""
        _set_at_once(self._wrapper, ("__code__", "__defaults__", "__kwdefaults__"), self._own)
        accelerate(self._wrapper)


def _set_at_once(wrapper: object, names: tuple[str, ...], values: tuple[object, ...]) -> None:
    """Set attributes without giving way to another thread: all is done in one call of C."""
    any(map(setattr, repeat(wrapper), names, values))
