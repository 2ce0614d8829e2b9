"""The categories of warnings. Each carries its data; its text is made from the data.

Users find them in `spatch_core.exceptions`; pickles and warning filters name that module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .problems import Problem

_PUBLIC = __name__.rpartition("._")[0] + ".exceptions"


class SpatchCoreWarning(UserWarning):
    """Base class of every warning that this package issues."""

    __module__ = _PUBLIC


class BackendSkippedWarning(SpatchCoreWarning):
    """A backend, or part of it, is not used.

    Attributes
    ----------
    problems : tuple of Problem
        Every fault of this backend.
    """

    __module__ = _PUBLIC

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        text = str(self.problems[0])
        more = len(self.problems) - 1
        if more:
            text += f" ({more} more fault{'s' * (more > 1)}: see the library's system.problems)"
        return text


class EnvironmentVariableWarning(SpatchCoreWarning):
    """An environment variable is malformed, or a name in it looks like a misspelling.

    Attributes
    ----------
    problem : Problem
        The fault; its ``key`` is the name of the variable.
    """

    __module__ = _PUBLIC

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem)

    def __str__(self) -> str:
        return str(self.problem)


class DuplicateFunctionWarning(SpatchCoreWarning):
    """Two functions of a library have the same identifier; the later one replaces the earlier.

    Attributes
    ----------
    identifier : str
        The identifier of both.
    earlier, later : str
        Where they are defined, as ``"file:line"`` if known.
    """

    __module__ = _PUBLIC

    def __init__(self, identifier: str, earlier: str, later: str) -> None:
        super().__init__(identifier, earlier, later)
        self.identifier = identifier
        self.earlier = earlier
        self.later = later

    def __str__(self) -> str:
        return (
            f"two functions are dispatchable as {self.identifier!r}, and backends reach only the "
            f"later one: {self.earlier} and {self.later}. Give one of them another identifier, "
            "with dispatchable(identifier=...)"
        )


class GlobalOptionsWarning(SpatchCoreWarning):
    """``enable_globally`` overrides an earlier ``enable_globally``."""

    __module__ = _PUBLIC


class FallbackWarning(SpatchCoreWarning):
    """The default implementation runs for foreign types, because no backend took the call.

    Attributes
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of str
        Identifiers of the dispatch types.
    foreign : tuple of str
        The foreign types among them: neither Python's own classes nor the library's.
    backends : tuple of ExplainedBackend
        Every backend that was considered, with the reason why it did not run.
    size : int
        The bytes of the arguments of foreign types that have ``nbytes``.
    """

    __module__ = _PUBLIC

    def __init__(
        self,
        function: str,
        types: Iterable[str],
        foreign: Iterable[str],
        backends: Iterable[Any],
        size: int = 0,
    ) -> None:
        self.function = function
        self.types = tuple(types)
        self.foreign = tuple(foreign)
        self.backends = tuple(backends)
        self.size = size
        super().__init__(function, self.types, self.foreign, self.backends, size)

    def __str__(self) -> str:
        size = f" ({self.size} bytes)" if self.size else ""
        types = "" if self.types == self.foreign else f" for {', '.join(self.types)}"
        head = (
            f"{self.function} runs the library's own implementation{types}, "
            f"which is not made for {', '.join(self.foreign)}{size}: no backend runs it"
        )
        return "\n".join([head, *(f"  {each}" for each in self.backends)])
