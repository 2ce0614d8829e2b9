"""Adopted functions: the library does not own them, and nothing takes their place.

They are called by others, such as NumPy, which give the types of a call; these are never
extracted from the arguments.
"""

from __future__ import annotations

from .._dispatch_arguments import PLAIN, Function
from .._identifiers import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .._parameters import Parameter
    from .._signature.traits import Traits


class AdoptedFunction(Function):
    """A function that the library does not own.

    It has no dispatch arguments, and its default implementation, the function itself, runs only
    with arguments that a backend has converted: with any others it might ask the tables again.

    Parameters
    ----------
    identifier : str
        The identity that the library gives it.
    function : callable
        The function.
    protocol : Protocol, optional
        The protocol whose classes may answer calls besides the backends of the library.
    mutated : iterable of Parameter, optional
        The places of the arguments into which it writes.
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
    """A protocol by which other libraries' functions come to the system.

    By default nothing else may answer.
    """

    __slots__ = ()

    def is_overriding(self, cls: type) -> bool:
        """Whether a class has the protocol itself."""
        return False

    def is_served(self, cls: type) -> bool:
        """Whether a class has it from this system."""
        return True

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether one of these classes has it, and not from this system."""
        return any(self.is_overriding(cls) and not self.is_served(cls) for cls in types)
