"""Identifiers in descriptions are imported and looked up; nothing in them is evaluated."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spatch_core import BackendSkippedWarning, ImplementationImportError
from tests.conftest import WritePackage
from tests.library import Foreign, describe, make


@pytest.mark.parametrize(
    "identifier",
    [
        "os:system('touch {file}')",
        "os:system",
        "__import__('os').system:x",
        "os.path:join[0]",
        "os:path.join.__globals__['os']",
        "a b:c",
        ":f",
        "m:",
        "m",
        "m:f:g",
        "m.:f",
        "1m:f",
    ],
)
def test_nothing_in_an_identifier_is_evaluated(identifier: str, tmp_path: Path) -> None:
    """D4, D2: two dotted names with a colon between them, or a fault."""
    file = tmp_path / "touched"
    system, f = make(describe("mine", identifier.format(file=file)))
    if identifier == "os:system":  # an identifier like any other: called with the argument alone
        with pytest.raises(TypeError):
            f(Foreign())
    else:
        with pytest.warns(BackendSkippedWarning, match="function"):
            assert f(Foreign()) == "default"
        assert list(system.backends) == ["default"]
    assert not file.exists()


def test_an_identifier_may_lead_into_a_class(package: WritePackage) -> None:
    """D4: its module is imported when the implementation is first needed, and no earlier."""
    text = "class Outer:\n    class Inner:\n        f = staticmethod(lambda x: 'inner')\n"
    package("identified", {"code.py": text})
    system, f = make(describe("mine", "identified.code:Outer.Inner.f"))
    assert list(system.backends) == ["default", "mine"]
    assert "identified" not in sys.modules
    assert f(Foreign()) == "inner"


@pytest.mark.parametrize(
    ("identifier", "text"),
    [
        ("identified.code:blrr", "no attribute 'blrr'.*did you mean 'blur'"),
        ("identified.code:Outer.blrr", "no attribute 'blrr'"),
        ("identified.code:unlike_any_other", "no attribute 'unlike_any_other'"),
        ("identified.absent:f", "No module named 'identified.absent'"),
        ("identified.failing:f", "this module fails"),
    ],
)
def test_what_cannot_be_found_is_named(package: WritePackage, identifier: str, text: str) -> None:
    """E3: with the nearest name, or with the module's own error."""
    package(
        "identified",
        {
            "code.py": "def blur(x): return 'blur'\nclass Outer: pass\n",
            "failing.py": "raise ValueError('this module fails')\n",
        },
    )
    _, f = make(describe("mine", identifier))
    with pytest.raises(ImplementationImportError, match=text) as caught:
        f(Foreign())
    assert identifier in str(caught.value)
