"""Adopted functions: functions of other libraries, which have tables but no wrapper.

Their callers, such as NumPy through ``__array_function__``, pass the types of a call; these are
never extracted from the arguments.
"""

from __future__ import annotations

from .._dispatch_arguments import PLAIN, Function
from .._patterns import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .._parameters import Parameter
    from .._signature.traits import Traits


class AdoptedFunction(Function):
    """A function that the library does not own.

    It has no dispatch arguments. Its default implementation, the function itself, runs only with
    arguments that a backend has converted: any others might be dispatched again, without end.

    Parameters
    ----------
    identifier : str
        The identity that the library gives it.
    function : callable
        The function.
    protocol : Protocol, optional
        The protocol whose classes may answer calls besides the backends of the library.
    mutated : iterable of Parameter, optional
        The parameters whose arguments it writes into.
    """

    __slots__ = ("_protocol",)

    def __init__(
        self,
        identifier: str,
        function: Callable[..., Any],
        protocol: Protocol | None = None,
        mutated: Iterable[Parameter] = (),
    ) -> None:
        self.identifier = identifier
        self.default = function
        self.default_name = DEFAULT
        self.traits: Traits | None = None
        self.nature = PLAIN
        self.parameters = ()
        self._finder = None
        self._protocol = protocol
        if mutated:
            from .._signature.traits import Traits  # few functions need one

            self.traits = Traits()
            self.traits.mutated = tuple(mutated)

    def counts(self, cls: type) -> bool:
        """Whether a type counts for all backends, because it has the protocol itself."""
        return self._protocol is not None and self._protocol.is_overriding(cls)

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether a type of the call that the library does not serve may answer instead."""
        return self._protocol is not None and self._protocol.others_may_answer(types)


class Protocol:
    """A protocol, such as ``__array_function__``, through which other libraries call the system.

    In this base class, no class has the protocol, so that only backends may answer.
    """

    __slots__ = ()

    def is_overriding(self, cls: type) -> bool:
        """Whether a class has the protocol itself."""
        return False

    def is_served(self, cls: type) -> bool:
        """Whether this system gave the class the protocol."""
        return True

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether one of these classes has the protocol, but not from this system."""
        return any(self.is_overriding(cls) and not self.is_served(cls) for cls in types)
