"""The round trip: converted arguments, and the way back."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._call.nested_values import Leaves
from spatch_core._call.round_trip import RoundTrip, Unconverted, converted


class Own:
    """The library's type."""


class Foreign:
    """The backend's type."""


class Told:
    """What has been converted."""

    def __init__(self) -> None:
        self.moves: list[tuple[Any, Any]] = []

    def called(self) -> None:
        raise AssertionError

    def converted(self, before: Any, after: Any) -> None:
        self.moves.append((before, after))

    def refusal(self, reason: str) -> Exception:
        raise AssertionError


def is_foreign(cls: type) -> bool:
    return cls is Foreign


def is_library(cls: type) -> bool:
    return cls is Own


def convert(*roots: Any) -> tuple[RoundTrip, dict[int, Any]]:
    leaves = Leaves(roots, is_foreign, is_library)
    made = {key: Own() for key in leaves.found}
    back = {**leaves.noted, **{id(made[key]): value for key, value in leaves.found.items()}}
    return RoundTrip(leaves, {**made}, back), made


def test_leaves_are_exchanged_and_come_back() -> None:
    value, own = Foreign(), Own()
    items = [value, own]
    trip, made = convert(items)
    told = Told()
    new = made[id(value)]
    assert trip.there(items) == [new, own]
    assert trip.back(new, is_library, pytest.fail, told) is value
    assert trip.back(own, is_library, pytest.fail, told) is own
    assert trip.back([new, 1], is_library, pytest.fail, told) == [value, 1]
    assert told.moves == []


def test_new_objects_of_the_library_are_converted() -> None:
    trip, _ = convert(Foreign())
    own, told = Own(), Told()
    result = trip.back((own, own), is_library, lambda _: Foreign(), told)
    assert result[0] is result[1]
    assert told.moves == [(own, result[0])]


def test_what_was_written_is_copied_into_the_callers_objects() -> None:
    value = Foreign()
    items = [value]
    trip, made = convert(items)
    there, told = trip.there(items), Told()
    there.append(1)
    copied: list[tuple[Any, Any]] = []

    def copy_into(original: Any, written: Any) -> None:
        copied.append((original, written))

    written = Leaves([items], is_foreign)
    trip.write_back(written, is_library, pytest.fail, copy_into, told)
    assert copied == [(value, made[id(value)])]
    assert items == [value, 1]
    assert told.moves == [(made[id(value)], value)]


def declines(value: Any) -> Any:
    raise NotImplementedError("not this one")


def declines_in_silence(value: Any) -> Any:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("conversion", "reason"),
    [
        (declines, "^not this one$"),
        (declines_in_silence, "to_default raised NotImplementedError for builtins:int"),
        (lambda value: None, "to_default returned None for builtins:int"),
    ],
    ids=["reason", "no reason", "None"],
)
def test_a_backend_may_decline_to_convert(conversion: Any, reason: str) -> None:
    with pytest.raises(Unconverted, match=reason):
        converted(conversion, "to_default", 1)
