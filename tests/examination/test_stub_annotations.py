"""Annotations in the names of a stub, without evaluating any text."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pytest

from spatch_core.examination.stub_annotations import Annotations
from spatch_core.examination.stub_names import StubNames

if TYPE_CHECKING:
    from decimal import Decimal  # noqa: F401 -- an annotation names it

T = TypeVar("T")
Bound = TypeVar("Bound", bound=int)


def function() -> None: ...


def read(annotation: object, **more: Any) -> str:
    return Annotations(function, StubNames(), {"fractions:Fraction"}).text(annotation, **more)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int, "_builtins.int"),
        (list[Fraction], "_builtins.list[_fractions.Fraction]"),
        (int | None, "_builtins.int | None"),
        (T, "_T"),
        (Bound, "_Any"),
        (Any, "_Any"),
        (Literal["a b", 1], "_typing.Literal['a b', 1]"),
        ("Decimal | None", "_decimal.Decimal | None"),
        ("dict[str, 'Decimal']", "_builtins.dict[_builtins.str, _decimal.Decimal]"),
        ("tuple[int, ...]", "_builtins.tuple[_builtins.int, ...]"),
        ("T", "_T"),
        ("Literal['in']", "_typing.Literal['in']"),
        ("missing.Name", "_Any"),
        ("[", "_Any"),
        ("print('run')", "_Any"),
        ("Literal[print('run')]", "_Any"),
        ("int if 1 else str", "_Any"),
    ],
)
def test_annotations_are_repeated_or_any(
    annotation: object, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read(annotation) == text
    assert capsys.readouterr().out == ""


def test_a_type_of_the_library_gives_way() -> None:
    """So does a type variable of a dispatched parameter."""
    assert read("tuple[Fraction, int]", instead="B") == "_builtins.tuple[B, _builtins.int]"
    assert read("list[T]", instead="B", variables={T}) == "_builtins.list[B]"
    assert read("list[T]", instead="B") == "_builtins.list[_T]"
