"""Chains of methods that decide (``fit``), and of methods that follow (``predict``).

A method that decides dispatches like any other function; once it has returned, its instance
remembers the backend that has run it. A method that follows is run by that backend alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._dispatch_arguments import COROUTINE
from .._errors import NoImplementationError
from .._patterns import DEFAULT, shown, type_identifier
from .._resolution.explanation import ExplainedBackend, Verdict
from .candidate_chain import Chain
from .entry_chain import EntryChain
from .estimators import is_own, memory_of, types_beside, why_not
from .invoked_backend import Invoked
from .progress import Progress
from .table_entries import as_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._signature.method_memory import Memory


class Remembering(EntryChain):
    """The chain of a method that decides, or that follows."""

    __slots__ = ("_whys",)

    _whys: dict[tuple[object, ...], str | None]

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        start: int = 0,
        found: tuple[Any, ...] | None = None,
        progress: Progress | None = None,
        again: Sequence[int] = (),
    ) -> Any:
        """Call the candidates, or the backend that the instance remembers."""
        if start:
            # The rest of a call: its first part has checked the memory, and will fill it.
            return super().run(args, kwargs, start, found, progress, again)
        memory = memory_of(self.function)
        if memory.follows:
            kept = memory.recall(args, kwargs)
            if kept is not None:
                types = types_beside(memory.instance(args, kwargs), self.types)
                chain = self._followed(memory, kept, types)
                if chain is not None:
                    if progress is not None:
                        progress.backend = kept.partition(" ")[0]
                    return chain.run(args, kwargs, found=found)
        if progress is None:
            progress = Progress(self.said)
        if not memory.decides or self.function.nature & COROUTINE:
            answer = super().run(args, kwargs, 0, found, progress, again)
            if not memory.decides or answer is NotImplemented:
                return answer
            return self._awaited(answer, args, kwargs, progress)
        # `undecided` forgets the old backend meanwhile, and restores it if the call fails.
        with memory.undecided(args, kwargs):
            result = super().run(args, kwargs, 0, found, progress, again)
            if result is not NotImplemented:
                memory.keep(args, kwargs, self._answered(progress))
        return result

    async def _awaited(
        self, answer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        memory = memory_of(self.function)
        with memory.undecided(args, kwargs):
            result = await answer
            if result is not NotImplemented:
                memory.keep(args, kwargs, self._answered(progress))
        return result

    def _answered(self, progress: Progress) -> str:
        """Return the backend to remember: the default if a backend has converted for it.

        Overriding types are not remembered (an empty string): they take part in the next call by
        themselves.
        """
        name = progress.backend or DEFAULT
        if name == DEFAULT:
            foreign = () if self.end is None else self.end.ending.foreign
            return " ".join((name, *map(type_identifier, foreign)))
        named = [each for each in self.candidates if each.backend == name]
        if any(each.propagates for each in named):
            return ""
        converts = any(each.conversions is not None for each in named)
        return DEFAULT if converts and (len(named) == 1 or name in progress.reasons) else name

    def _followed(self, memory: Memory, kept: str, types: tuple[type, ...]) -> Chain | None:
        """Return the chain of the remembered backend; None if it does not implement the function.

        `kept` is the memory of the instance, `types` are the dispatch types beside its own.

        Raises
        ------
        NoImplementationError
            If the types of the call are not those of the backend.
        UnknownBackendError
            If there is no such backend any more.
        """
        assert self.caller is not None
        resolver = self.caller.resolver
        key = kept, *map(id, types)  # `self.types` keeps these classes alive
        try:
            why = self._whys[key]
        except (AttributeError, KeyError):
            why = why_not(resolver, self.function, self.state, types, kept)
            self._whys = {key: why}  # a cache of one: most instances remember the same
        if why is None:
            return None
        name = kept.partition(" ")[0]
        if why:
            raise self._refusal(memory, name, why)
        if name == DEFAULT:
            own = [each for each in self.candidates if is_own(each)]
            return Chain(*(self.function, self.types, own, self.state, self.caller, self.end))
        first = resolver.invoked(self.function, name, self.state)
        others = [each for each in self.candidates if each.backend != name]
        called = self.function, self.types
        chain = Followed(*called, [first], self.state)
        chain.rest = Remembering(*called, [first, *others], self.state, self.caller, self.end)
        return chain

    def _refusal(self, memory: Memory, name: str, why: str) -> NoImplementationError:
        types = tuple(map(type_identifier, self.types))
        named = shown(name, self.function.default_name)
        return NoImplementationError(
            self.function.identifier,
            types,
            types,
            (ExplainedBackend(name, Verdict.NO_MATCH, why, self.function.default_name),),
            "" if self.end is None else self.end.ending.policy,
            (f"call {memory.method} again with arguments of these types",),
            f"{named} has run {memory.method}, and {why}",
        )

    def target(self) -> Callable[..., Any]:
        """Return the entry of a table: the chain, because each call looks at its instance."""
        return as_function(self, self.function)


class Followed(Invoked):
    """The chain of the backend that an instance remembers, which may not defer.

    Attributes
    ----------
    rest : Remembering
        The chain for `call_next`: the backend's own candidate, and the others.
    """

    __slots__ = ("rest",)

    rest: Remembering

    def call_next(
        self, place: int, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        """Call the candidates that would follow if nothing were remembered."""
        return self.rest.call_next(1, args, kwargs, progress)


class Deciding(Invoked):
    """The chain of the single backend that `invoke` names, for a method that decides."""

    __slots__ = ()

    def run(self, args: Any, kwargs: Any, *more: Any, **others: Any) -> Any:
        """Call the backend, and remember it."""
        memory, (candidate,) = memory_of(self.function), self.candidates
        if self.function.nature & COROUTINE:
            answer = super().run(args, kwargs, *more, **others)
            return self._awaited(answer, args, kwargs, candidate.backend)
        with memory.undecided(args, kwargs):
            result = super().run(args, kwargs, *more, **others)
            if result is not NotImplemented:
                memory.keep(args, kwargs, candidate.backend)
        return result

    async def _awaited(self, answer: Any, args: Any, kwargs: Any, backend: str) -> Any:
        memory = memory_of(self.function)
        with memory.undecided(args, kwargs):
            result = await answer
            memory.keep(args, kwargs, backend)
        return result
