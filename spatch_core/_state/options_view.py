"""The readable side of options: properties, and `repr`, which notebooks show too."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from .hooks import Call
    from .options_owner import Owner
    from .state import Class, DispatchState
    from .trace import Trace


class OptionsView:
    """The readable attributes of `BackendOptions`, and their `repr`."""

    __slots__ = ()

    if TYPE_CHECKING:
        _owner: ClassVar[Owner]

        def _state(self) -> DispatchState: ...

    @property
    def backends(self) -> tuple[str, ...]:
        """Names of the active backends by priority; ``"default"`` is the library."""
        return self._state().active(self._owner.catalog())

    @property
    def prioritized(self) -> tuple[str, ...]:
        """Names of the prioritized backends, the foremost first."""
        return self._state().prioritized

    @property
    def disabled(self) -> tuple[str, ...]:
        """Names of the disabled backends, sorted."""
        return tuple(sorted(self._state().disabled))

    @property
    def type(self) -> Class | None:
        """The type that counts as if it had been passed, or None."""
        return self._state().type

    @property
    def trace(self) -> Trace | None:
        """The events recorded so far, or None if nothing is recorded."""
        return self._state().trace

    @property
    def fallback(self) -> str | None:
        """The fallback policy; None if the policies of the functions and the library apply."""
        return self._state().fallback

    @property
    def backend(self) -> str | None:
        """The current backend; None if there is none."""
        return self._state().backend

    @property
    def hooks(self) -> tuple[Callable[[Call], Any], ...]:
        """The hooks that see every call, innermost first."""
        return self._state().hook or ()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        parts = [f"backends={self.backends}", f"prioritized={self.prioritized}"]
        if self.disabled:
            parts.append(f"disabled={self.disabled}")
        parts += [f"{name}={value!r}" for name, value in self._state().others.items()]
        if self.hooks:
            parts.append(f"hooks={self.hooks}")
        return f"<{type(self).__name__} {', '.join(parts)}>"
