"""Type patterns that can never match."""

from __future__ import annotations

import pytest

from spatch_core._description.parsing import parse_description
from spatch_core._reporting.problems import Source
from spatch_core._type_patterns import TypePattern
from spatch_core.examination.importing import Importer
from spatch_core.examination.type_check import check_pattern, check_reach


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("fractions:Fraction", []),
        ("~numbers:Number", []),
        ("@numbers:Number", []),
        ("collections.abc:Sized", ["error"]),
        ("fractions:Fractoin", ["error"]),
        ("fractoins:Fraction", ["error"]),
        ("math:pi", ["error"]),
        ("typing:List", ["error"]),
        ("builtins:NoneType", ["warning"]),
        ("@fractions:Fraction", []),
        ("@builtins:int", ["note"]),
        ("no_such_package_xyz:T", ["note"]),
    ],
)
def test_what_is_found(pattern: str, found: list[str]) -> None:
    """Types that cannot match are errors; types that cannot be checked are notes."""
    findings = check_pattern(TypePattern(pattern), Importer([]), None)
    assert [each.severity.value for each in findings] == found


@pytest.mark.parametrize(
    ("types", "extra", "is_reported"),
    [
        (["builtins:int"], {}, True),
        (["builtins:bool"], {}, True),
        (["fractions:Fraction"], {}, False),
        (["builtins:int"], {"requires_opt_in": True}, False),
    ],
)
def test_a_backend_that_never_comes_first(
    types: list[str], extra: dict[str, object], is_reported: bool
) -> None:
    """The library's own implementations work with all of its types."""

    def describe(name: str, patterns: list[str], **more: object) -> object:
        fields = {"name": name, "primary_types": patterns, "functions": {}, **more}
        return parse_description(fields, Source())

    backend: object = describe("oil", types, **extra)
    library: object = describe("own", ["~builtins:int"])
    if types == ["builtins:int"]:
        library = describe("own", ["builtins:int"])
    findings = list(check_reach(backend, library, first=False))  # type: ignore[arg-type]
    assert bool(findings) == is_reported
    assert list(check_reach(backend, library, first=True)) == []  # type: ignore[arg-type]
