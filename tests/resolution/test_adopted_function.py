"""What is known of a function that the library does not own."""

from __future__ import annotations

from spatch_core._parameters import Parameter
from spatch_core._resolution.adopted_function import AdoptedFunction, Protocol


class Having(Protocol):
    """A protocol that `int` has from the system, and `str` has itself."""

    def is_overriding(self, cls: type) -> bool:
        return cls in (int, str)

    def is_served(self, cls: type) -> bool:
        return cls is int


def test_without_a_protocol_only_backends_answer() -> None:
    """T2: no type counts more than M7 says."""
    function = AdoptedFunction("lib:f", len)
    assert not function.counts(int)
    assert not function.others_may_answer((int,))
    assert (function.default, function.parameters, function.extract((1,), {})) == (len, (), ())
    own = Protocol()
    assert (own.is_overriding(int), own.is_served(int)) == (False, True)


def test_types_that_have_the_protocol_may_answer() -> None:
    """T7: unless they have it from this system."""
    function = AdoptedFunction("lib:f", len, Having())
    assert [function.counts(cls) for cls in (int, str, bytes)] == [True, True, False]
    assert not function.others_may_answer((int, bytes))
    assert function.others_may_answer((int, str))


def test_arguments_that_are_written_into() -> None:
    """T8: their places are known without the signature."""
    place = Parameter("out", None)
    assert AdoptedFunction("lib:f", len).traits is None
    traits = AdoptedFunction("lib:f", len, None, [place]).traits
    assert traits is not None
    assert traits.mutated == (place,)
