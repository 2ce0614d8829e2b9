"""The end of a chain: no backend has answered a call with foreign types.

`_resolution.fallback_policy` decides how the call ends; this module tells the user why, with the
reasons that the backends have given in this call.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .._callers_line import warn_caller
from .._classes import type_identifier
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT
from .._reporting.errors import NoImplementationError
from .._reporting.warning_categories import FallbackWarning
from .._resolution.candidate import Candidate
from .._resolution.explanation import Verdict
from .._resolution.fallback_policy import Ending
from .._resolution.resolver import Resolver
from .._state import DispatchState
from .._traces import Outcome, Trace, record
from .considered_backends import Considered, unconverted
from .conversion import Conversion
from .converted_objects import moved, size_of
from .nested_values import Leaves
from .progress import UNCONVERTED, Progress
from .remedies import Remedies
from .round_trip import Unconverted

NOTE = "No backend ran "
"""The first words of notes on exceptions, by which they are recognized."""


class End:
    """Ends calls of one function with the same types that no backend has answered.

    Parameters
    ----------
    resolver : Resolver
        The library's.
    function : Function
        The library's function.
    state : DispatchState
        The state in force.
    types : tuple of type
        The dispatch types.
    ending : Ending
        How the call ends.
    passes : bool, default: False
        Whether the ``NotImplemented`` of a backend is the answer of the call, as for the single
        candidate of an adopted function.
    """

    __slots__ = (
        *("_considered", "_conversions", "_passes", "_remedies", "_resolver"),
        *("ending", "function", "types"),
    )

    def __init__(
        self,
        resolver: Resolver,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        ending: Ending,
        *,
        passes: bool = False,
    ) -> None:
        self._passes = passes
        self._resolver = resolver
        self.function = function
        self.types = types
        self.ending = ending
        self._conversions: dict[str, Conversion] = {}
        self._considered = Considered(resolver, function, state, types).backends
        self._remedies = Remedies(resolver, function, state, types, ending)

    def convert(
        self,
        candidate: Candidate,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        progress: Progress,
        trace: Trace | None,
    ) -> Any:
        """Run the default implementation with arguments that a backend converts.

        Returns
        -------
        object
            The result; `UNCONVERTED` if the arguments cannot be converted.
        """
        conversion = self._conversion(candidate)
        try:
            listener = _Listener(self, candidate.backend, progress, trace)
            return conversion.call(args, kwargs, listener)
        except Unconverted as failure:
            progress.conversions[candidate.backend] = str(failure)
            self._record(trace, candidate.backend, Outcome.DEFERRED, str(failure))
            return UNCONVERTED
        except Exception as error:
            if not isinstance(error, NoImplementationError):
                self.note(error, progress, candidate.backend)
            raise

    def _conversion(self, candidate: Candidate) -> Conversion:
        conversion = self._conversions.get(candidate.backend)
        if conversion is None:
            conversion = Conversion(candidate, self._resolver)
            self._conversions[candidate.backend] = conversion
        return conversion

    def _record(self, trace: Trace | None, backend: str, outcome: Outcome, reason: str) -> None:
        record(trace, self.function, backend, outcome, reason, self.types)

    def before_default(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> None:
        """Warn that the default implementation runs, once for each function and types."""
        types = self._names(self.types)
        if self.ending.warns and self._resolver.warned.add(self.function.identifier, types):
            warn_caller(
                FallbackWarning(
                    self.function.identifier,
                    types,
                    self._names(self.ending.foreign),
                    self._considered(progress),
                    self._size(args, kwargs),
                )
            )

    def answer(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> Any:
        """Return ``NotImplemented`` for a call that no candidate has answered, or raise."""
        if self.ending.is_operator or (self._passes and progress.cause is None):
            return NotImplemented
        raise self.refusal(progress, self._help(args, kwargs)) from progress.cause

    def refusal(
        self, progress: Progress, remedies: tuple[str, ...], converter: str = "", reason: str = ""
    ) -> NoImplementationError:
        """Return the error that says why no backend runs the call.

        Parameters
        ----------
        progress : Progress
            The answers of the candidates in this call.
        remedies : tuple of str
            The remedies.
        converter : str, optional
            The backend that could not convert the result.
        reason : str, optional
            Why it could not.
        """
        considered = self._considered(progress)
        if converter:
            considered = unconverted(considered, converter, reason)
            reason = f"{converter} converts, but {reason}"
        return NoImplementationError(
            self.function.identifier,
            self._names(self.types),
            self._names(self.ending.foreign),
            considered,
            self.ending.policy,
            remedies,
            reason or self.ending.declined,
        )

    def _size(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """Return the bytes of the arguments of foreign types."""
        foreign = self.ending.foreign
        leaves = Leaves((*args, *kwargs.values()), lambda cls: any(cls is each for each in foreign))
        return sum(filter(None, map(size_of, leaves.found.values())))

    def note(self, error: BaseException, progress: Progress, converter: str = "") -> None:
        """Add the reasons to an exception of the default implementation, from Python 3.11 on.

        A failure of this method is ignored, so that the exception propagates.

        Parameters
        ----------
        error : BaseException
            The exception.
        progress : Progress
            The answers of the candidates in this call.
        converter : str, optional
            The backend that converts; the exception may come from its conversions.
        """
        with suppress(Exception):
            self._note(error, progress, converter)

    def _note(self, error: BaseException, progress: Progress, converter: str) -> None:
        add_note: Any = getattr(BaseException, "add_note", None)
        notes = getattr(error, "__notes__", ())
        # The note of a nested call says more.
        if add_note is None or any(type(each) is str and each.startswith(NOTE) for each in notes):
            return
        # The note names the converter itself before the reasons.
        others = [e for e in self._considered(progress) if e.verdict is not Verdict.CONVERTS]
        reasons = ":" * bool(others) + "".join(f"\n  {each}" for each in others)
        what = (
            f"{converter} converts for its default implementation"
            if converter
            else "its default implementation ran, which is not made for "
            f"{', '.join(self._names(self.ending.foreign))}"
        )
        types = ", ".join(self._names(self.types))
        add_note(error, f"{NOTE}{self.function.identifier} for {types}, so {what}{reasons}")

    def _help(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, ...]:
        return self._remedies.sentences(self._conversion, args, kwargs)

    @staticmethod
    def _names(types: tuple[type, ...]) -> tuple[str, ...]:
        return tuple(map(type_identifier, types))


class _Listener:
    """Records the steps of a conversion; a `ConversionListener`."""

    __slots__ = ("_backend", "_end", "_progress", "_trace")

    def __init__(self, end: End, backend: str, progress: Progress, trace: Trace | None) -> None:
        self._end = end
        self._backend = backend
        self._progress = progress
        self._trace = trace

    def called(self) -> None:
        """Record that the default implementation is about to run."""
        reason = f"through the conversions of {self._backend}"
        self._end._record(self._trace, DEFAULT, Outcome.CALLED, reason)

    def converted(self, before: Any, after: Any) -> None:
        """Record that an object was converted."""
        if self._trace is not None:
            self._end._record(self._trace, self._backend, Outcome.CONVERTED, moved(before, after))

    def refusal(self, reason: str) -> NoImplementationError:
        """Return the error for a result that cannot be converted."""
        end = self._end
        return end.refusal(self._progress, end._help((), {}), self._backend, reason)
