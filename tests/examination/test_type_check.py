"""Type patterns that can never match."""

from __future__ import annotations

import pytest

from spatch_core.examination.importing import Importer
from spatch_core.examination.type_check import check_pattern
from spatch_core.types import TypePattern


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
