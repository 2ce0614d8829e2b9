"""Converted objects in messages and traces."""

from __future__ import annotations

from typing import Any

from spatch_core._call.converted_objects import moved, name_of, size_of

HERE = __name__


class Sized:
    """It says how many bytes it has."""

    def __init__(self, nbytes: Any) -> None:
        self.nbytes = nbytes


class Breaks:
    """It does not say so."""

    @property
    def nbytes(self) -> int:
        raise RuntimeError


def test_an_object_has_the_size_that_it_tells() -> None:
    assert size_of(Sized(24)) == 24
    assert [*map(size_of, [Sized("24"), Breaks(), 1])] == [None, None, None]


def test_a_move_names_both_types_and_the_first_size() -> None:
    assert name_of(Sized(1)) == f"{HERE}:Sized"
    assert moved(1, 2.0) == "builtins:int to builtins:float"
    assert moved(Sized(8), Sized(16)) == f"{HERE}:Sized to {HERE}:Sized, 8 bytes"
    assert moved(1, Sized(16)) == f"builtins:int to {HERE}:Sized, 16 bytes"
