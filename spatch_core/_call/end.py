"""The end of a chain: no backend has answered a call that has foreign types.

What becomes of the call is decided in `_resolution.ending`; this says why to the user, with the
reasons that the backends have given in this very call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._classes import type_identifier
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT
from .._interrupts import is_interrupt
from .._resolution.ending import Ending
from .._resolution.explaining import explain
from .._resolution.explanation import ExplainedBackend
from .._resolution.resolver import Resolver
from .._state.state import DispatchState
from .._warning import warn_caller
from ..exceptions import FallbackWarning, NoImplementationError
from .course import Course

NOTE = "No backend ran "
"""The start of the notes of exceptions."""


class End:
    """What is said when no backend has answered calls of one function with the same types.

    Parameters
    ----------
    resolver : Resolver
        Of the library.
    function : Function
        The library's function.
    state : DispatchState
        The state in force.
    types : tuple of type
        The dispatch types.
    ending : Ending
        What becomes of the call.
    """

    __slots__ = ("_resolver", "_state", "ending", "function", "types")

    def __init__(
        self,
        resolver: Resolver,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        ending: Ending,
    ) -> None:
        self._resolver = resolver
        self._state = state
        self.function = function
        self.types = types
        self.ending = ending

    @property
    def warns(self) -> bool:
        """Whether a warning may go before the default implementation."""
        return self.ending.warns

    def before_default(self, given: Mapping[str, str]) -> None:
        """Say that the default implementation is about to run, if that is to be said."""
        if self.warns:
            self.warn(given)

    def answer(self, course: Course) -> Any:
        """Return the answer of a call that no candidate has answered, or raise."""
        if self.ending.is_operator:
            return NotImplemented
        raise self.refusal({**course.reasons, **course.conversions}) from course.cause

    def refusal(self, given: Mapping[str, str], reason: str = "") -> NoImplementationError:
        """Return the error that says why no backend runs the call.

        Parameters
        ----------
        given : mapping of str to str
            The reasons of the backends that deferred in this call.
        reason : str, optional
            Why a conversion that was under way did not succeed.
        """
        return NoImplementationError(
            self.function.identifier,
            self._names(self.types),
            self._names(self.ending.foreign),
            self._considered(given),
            self.ending.policy,
            self._remedies(),
            reason,
        )

    def warn(self, given: Mapping[str, str]) -> None:
        """Warn that the default implementation runs; once for each function and types."""
        types = self._names(self.types)
        if self._resolver.warned.add(self.function.identifier, types):
            warn_caller(
                FallbackWarning(
                    self.function.identifier,
                    types,
                    self._names(self.ending.foreign),
                    self._considered(given),
                )
            )

    def note(self, error: BaseException, given: Mapping[str, str]) -> None:
        """Add the reasons to an exception of the default implementation, from Python 3.11 on.

        Whatever fails here, the exception goes on.
        """
        try:
            self._note(error, given)
        except Exception as failure:
            if is_interrupt(failure):
                raise

    def _note(self, error: BaseException, given: Mapping[str, str]) -> None:
        add_note: Any = getattr(BaseException, "add_note", None)
        notes = getattr(error, "__notes__", ())
        # That of a call inside of this one says more.
        if add_note is None or any(type(each) is str and each.startswith(NOTE) for each in notes):
            return
        reasons = "".join(f"\n  {each}" for each in self._considered(given))
        add_note(
            error,
            f"{NOTE}{self.function.identifier} for {', '.join(self._names(self.types))}, so its "
            f"default implementation ran, which is not made for "
            f"{', '.join(self._names(self.ending.foreign))}:{reasons}",
        )

    def _considered(self, given: Mapping[str, str]) -> tuple[ExplainedBackend, ...]:
        explanation = explain(self._resolver, self.function, self._state, self.types, None, given)
        return tuple(each for each in explanation.backends if each.backend != DEFAULT)

    def _remedies(self) -> tuple[str, ...]:
        resolver, state = self._resolver, self._state
        walk = resolver.walk(self.function, state, self.types)
        found = [
            f"with backend_opts(prioritize={name!r}), {name} takes part, which requires opt-in"
            for name in sorted(resolver.implementer_set(self.function))
            if resolver.catalog.descriptions[name].requires_opt_in
            and name not in (*state.prioritized, *state.disabled)
            and walk.matches(name)
        ]
        found.append(
            "with backend_opts(fallback='default'), the library's own implementation runs with "
            "the arguments as they are"
        )
        return tuple(found)

    @staticmethod
    def _names(types: tuple[type, ...]) -> tuple[str, ...]:
        return tuple(map(type_identifier, types))
