"""A question to the core about a call, and an answer about one backend in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from .._decide import Verdict
from .._patterns import import_identifier, split_identifier
from .blocking import blocking, variables_set
from .foreign_code import foreign_code, import_failure

if TYPE_CHECKING:
    from .._explain import ExplainedBackend, Explanation
    from ..backend_system import BackendSystem


@dataclass(frozen=True, slots=True)
class GivenType:
    """A type given by its identifier."""

    identifier: str  # as the user gave it
    type: type  # the type itself, or a stand-in with the same module and qualname
    note: str = ""  # about the stand-in; empty for the type itself


def given_type(identifier: str) -> GivenType:
    """Import a type; if its module cannot be imported, create a stand-in.

    Raises
    ------
    ValueError
        If the identifier names no type.
    """
    module, qualname = split_identifier(identifier)
    failure = import_failure(module)
    if failure:
        note = (
            f"{failure}, so a class of the same name stands in for {identifier}: without its "
            "base classes, and without other names for it"
        )
        return GivenType(identifier, _stand_in(module, qualname), note)
    try:
        with foreign_code():
            found = import_identifier(identifier)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a third party's attribute hook
        raise ValueError(str(error)) from None
    if not isinstance(found, type):
        raise ValueError(f"{identifier} is not a type, but {found!r}")
    return GivenType(identifier, found)


@cache
def _stand_in(module: str, qualname: str) -> type:
    """Return a class with this module and qualname, the same one each time."""
    name = qualname.rpartition(".")[2]
    return type(name, (), {"__module__": module, "__qualname__": qualname})


@dataclass(frozen=True, slots=True)
class Options:
    """Arguments of ``backend_opts``."""

    prioritize: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    type: GivenType | None = None
    fallback: str | None = None  # the policy
    backend: str | None = None  # the current backend

    def __str__(self) -> str:
        """Return the call of ``backend_opts`` as code; empty without options."""
        given = [
            f"{key}={names[0]!r}" if len(names) == 1 else f"{key}={list(names)!r}"
            for key, names in (("prioritize", self.prioritize), ("disable", self.disable))
            if names
        ]
        if self.type is not None:
            given.append(f"type={self.type.identifier.replace(':', '.')}")
        if self.fallback is not None:
            given.append(f"fallback={self.fallback!r}")
        if self.backend is not None:
            given.append(f"backend={self.backend!r}")
        return f"backend_opts({', '.join(given)})" if given else ""

    def as_json(self) -> dict[str, Any]:
        """Return the options as ``explain --json`` prints them."""
        return {
            "prioritize": list(self.prioritize),
            "disable": list(self.disable),
            "type": self.type and self.type.identifier,
            "fallback": self.fallback,
            "backend": self.backend,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A call of a function with arguments of given types."""

    system: BackendSystem
    function: str  # its identifier
    types: tuple[GivenType, ...]  # of the dispatch arguments
    options: Options = Options()  # in force around the call

    def ask(self, variables: Mapping[str, str] | None = None) -> Explanation:
        """Return the explanation of the core, under the options and with environment variables.

        Raises
        ------
        ValueError, TypeError
            If an option names a backend or a type that does not exist.
        """
        options = self.options
        types = [each.type for each in self.types]
        assumed = None if options.type is None else options.type.type
        with (
            environment(self.system, variables or {}),
            foreign_code(self.system),
            self.system.backend_opts(
                options.prioritize,
                options.disable,
                assumed,
                fallback=options.fallback,
                backend=options.backend,
            ),
        ):
            return self.system.explain_types(self.function, types)


class Attempt(str, Enum):
    """The outcome of an attempt to make a backend run."""

    RUNS = "runs"
    ASKED = "its should_run decides"
    WOULD = "would run"
    CANNOT = "cannot run"
    UNREAD = "is not read"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to make a backend run."""

    question: Question  # with the options and types under which the backend runs
    variables: Mapping[str, str]  # environment variables to set
    outcome: Attempt  # `RUNS`, or `ASKED` if the arguments decide
    text: str  # the remedy in words

    def as_json(self) -> dict[str, Any]:
        """Return the fields as ``explain --json`` prints them."""
        return {
            **self.question.options.as_json(),
            "types": [each.identifier for each in self.question.types],
            "environment": dict(self.variables),
            "outcome": self.outcome.value,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a backend does not run in a call, and the ways to make it run."""

    backend: str
    outcome: Attempt  # `RUNS` or `ASKED` as things are, `WOULD` with any remedy, or `CANNOT`
    reason: str = ""  # why it does not run; empty if it does
    remedies: Sequence[Remedy] = ()  # the simplest first
    obstacles: Sequence[str] = ()  # changes that no option or variable can make

    def as_json(self) -> dict[str, Any]:
        """Return the fields as ``explain --json`` prints them."""
        return {
            "backend": self.backend,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "remedies": [each.as_json() for each in self.remedies],
            "obstacles": list(self.obstacles),
        }


def attempt_of(explanation: Explanation, backend: str) -> Attempt | None:
    """Return whether the backend runs or is asked first; None if another backend goes first."""
    if explanation.selected == backend:
        return Attempt.RUNS
    return Attempt.ASKED if contenders(explanation)[:1] == [backend] else None


def contenders(explanation: Explanation) -> list[str]:
    """Return the backends that run, convert or are asked, in order."""
    verdicts = (Verdict.RUNS, Verdict.ASKED, Verdict.CONVERTS)
    return [each.backend for each in explanation.backends if each.verdict in verdicts]


def explained(explanation: Explanation, backend: str) -> ExplainedBackend:
    """Return the verdict about one backend."""
    found = [each for each in explanation.backends if each.backend == backend]
    # A backend may have two verdicts: as an implementation, and at last as a conversion.
    converting = (Verdict.CONVERTS, Verdict.CANNOT_CONVERT)
    return next((each for each in found if each.verdict in converting), found[0])


@contextmanager
def environment(system: BackendSystem, variables: Mapping[str, str]) -> Iterator[None]:
    """Let a library see environment variables as if the process had started with them.

    The system discovers its backends again at the start and at the end.
    """
    if not variables:
        yield
        return
    try:
        with variables_set(variables):
            _reload(system)
            yield
    finally:
        _reload(system)


def _reload(system: BackendSystem) -> None:
    with foreign_code(system), blocking(system):
        system.reload()
