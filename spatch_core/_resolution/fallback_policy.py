"""The fallback policy: how a call with foreign types ends if no backend takes it.

A *foreign type* is a dispatch type that is neither one of Python's own classes nor known to the
library. The policy of the block counts, else that of the function, else that of the
library. It applies to calls with foreign types alone:

==========  ====================================================================================
policy      ending
==========  ====================================================================================
"default"   the default implementation runs; an exception of it gets the reasons as a note
"warn"      the same, with one warning for each function and types
"raise"     `NoImplementationError`
"convert"   the same, after the conversions of backends
==========  ====================================================================================

No policy applies to a compositional function: the functions that it calls have their own. An
operator with foreign operands that would be refused returns ``NotImplemented``, so that Python
asks the other operand.
"""

from __future__ import annotations

from typing import NamedTuple

from .._classes import type_identifier
from .._dispatch_arguments import Function
from .._state import DispatchState

_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
OPERATORS = frozenset(
    f"__{prefix}{name}__"
    for prefix, names in (
        ("", (*_BINARY, "lt", "le", "eq", "ne", "gt", "ge")),
        ("r", _BINARY),
        ("i", _BINARY),
    )
    for name in names
)
"""Methods whose ``NotImplemented`` lets Python ask the other operand."""

_MOST_WARNED = 1000


class Ending(NamedTuple):
    """How calls with foreign types end if no backend takes them.

    Parameters
    ----------
    policy : str
        The fallback policy in force.
    foreign : tuple of type
        The foreign types.
    is_operator : bool
        Whether the function is an operator.
    """

    policy: str
    foreign: tuple[type, ...]
    is_operator: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the default implementation does not run with the arguments of the call."""
        return self.policy in ("raise", "convert")

    @property
    def converts(self) -> bool:
        """Whether backends may convert the arguments and the result."""
        return self.policy == "convert" and not self.is_operator

    @property
    def warns(self) -> bool:
        """Whether a warning may precede the default implementation."""
        return self.policy == "warn" and not self.is_operator

    @property
    def declined(self) -> str:
        """Why no policy lets the default implementation run; empty if one does."""
        return ""

    @property
    def reason(self) -> str:
        """Why the default implementation does not just run, in words."""
        names = ", ".join(map(type_identifier, self.foreign))
        if self.is_operator:
            return f"fallback={self.policy!r}: an operator returns NotImplemented to Python"
        return f"fallback={self.policy!r}, and the library's own types do not include {names}"


class FirmEnding(Ending):
    """An ending in which the default implementation never gets the call's own arguments."""

    @property
    def refuses(self) -> bool:
        """Whether the default implementation does not run with the arguments of the call."""
        return True

    @property
    def warns(self) -> bool:
        """Whether a warning may precede the default implementation."""
        return False


class AdoptedEnding(FirmEnding):
    """How calls of an adopted function end if no backend takes them.

    `is_operator` is true if ``NotImplemented`` lets other types answer.
    """

    @property
    def declined(self) -> str:
        """Why no policy lets the default implementation run."""
        return "no backend runs it" + " or converts" * self.converts

    @property
    def reason(self) -> str:
        """Why the default implementation does not just run, in words."""
        return "the library does not own the function, and only lets backends answer"


class Warned:
    """The functions and types that the policy "warn" has warned about."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[str, ...]], None] = {}

    def add(self, function: str, types: tuple[str, ...]) -> bool:
        """Add a function and the names of types; return whether they are new."""
        key = function, types
        # Without a lock: at worst, two threads both warn.
        if key in self._known:
            return False
        # Bounded: a program may make classes without end.
        if len(self._known) >= _MOST_WARNED:
            self._known.clear()
        self._known[key] = None
        return True


def policy_of(function: Function, state: DispatchState, library: str) -> str | None:
    """Return the fallback policy of calls of a function; None if it is compositional.

    Parameters
    ----------
    function : Function
        The library's function.
    state : DispatchState
        The state in force.
    library : str
        The policy of the library.
    """
    traits = function.traits
    if traits is None:
        return state.fallback or library
    if traits.compositional:
        return None
    return state.fallback or traits.fallback or library


def is_operator(function: Function) -> bool:
    """Whether a function is an operator, by its own name or that of its identifier."""
    name = function.identifier.rpartition(":")[2].rpartition(".")[2]
    # With `identifier=`, Python still calls the method by its own name.
    return name in OPERATORS or getattr(function.default, "__name__", None) in OPERATORS
