"""Why something cannot be imported."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from spatch_core.examination.findings import Finding, Severity
from spatch_core.examination.importing import Importer, is_module_installed
from spatch_core.examination.packages import Requirements


def test_an_object_is_loaded_once() -> None:
    importer = Importer([])
    assert importer.load("fractions:Fraction", is_needed=True) is Fraction
    missing = importer.load("fractions:Fractoin", is_needed=True)
    assert isinstance(missing, Finding)
    assert (missing.message, missing.remedy) == (
        "'fractions' has no 'Fractoin'",
        "Did you mean 'Fraction'?",
    )
    assert importer.load("fractions:Fractoin", is_needed=True) is missing


@pytest.mark.parametrize(
    ("module", "is_needed", "severity", "is_absent"),
    [
        ("no_such_package_xyz", True, Severity.WARNING, True),
        ("no_such_package_xyz", False, Severity.NOTE, False),
        ("xml.dmo", False, Severity.ERROR, True),
        ("easel_says_why", True, Severity.WARNING, False),
        ("easel_lacks_gpu", False, Severity.NOTE, False),
        ("easel_lacks_gpu", True, Severity.ERROR, False),
        ("easel_has_a_bug", False, Severity.ERROR, False),
    ],
)
def test_how_bad_a_failure_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    is_needed: bool,
    severity: Severity,
    is_absent: bool,
) -> None:
    """The severity depends on whether the backend can have work here."""
    for name, line in (
        ("says_why", "raise ImportError('install easel with pip')"),
        ("lacks_gpu", "raise OSError('libcuda.so')"),
        ("has_a_bug", "1 / 0"),
    ):
        (tmp_path / f"easel_{name}.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    finding = Importer([]).try_module(module, is_needed)
    assert finding is not None
    assert (finding.severity, finding.is_absent) == (severity, is_absent)


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        ("backend.implements('easel.blur')", "'easel.blur' is not an identifier"),
        ("backend.implements('easel:blur')(lambda image: image)", "<lambda>' is not an identifier"),
        ("backend.implements('easel:blur', should_run='ask')(blur)", "'ask' is not an identifier"),
        ("backend.set_should_run(blur)", "is not registered"),
        ("BackendImplementation('a b')", "'a b' is not a backend name"),
    ],
)
def test_a_mistake_of_a_registration_is_at_the_line_of_its_author(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str, expected: str
) -> None:
    """F14: the message has no line of this package, which only found the mistake."""
    file = tmp_path / "easel_registers.py"
    file.write_text(
        "from spatch_core import BackendImplementation\n"
        "backend = BackendImplementation('gpu')\n"
        "def blur(image): ...\n"
        f"\n{mistake}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    finding = Importer([]).try_module("easel_registers", is_needed=True)
    assert finding is not None
    assert expected in finding.message
    assert finding.message.endswith(f" ({file}:5)")


def test_the_line_of_the_failure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "easel_deep.py").write_text("def f():\n    1 / 0\nf()\n")
    monkeypatch.syspath_prepend(tmp_path)
    finding = Importer([]).try_module("easel_deep", is_needed=True)
    assert finding is not None
    assert finding.message == (
        "importing easel_deep failed with ZeroDivisionError: division by zero "
        f"({tmp_path / 'easel_deep.py'}:2)"
    )


def test_the_remedy_is_what_the_distribution_requires() -> None:
    importer = Importer([], Requirements("oil", ["no-such-package-xyz; extra == 'gpu'"]))
    finding = importer.try_module("no_such_package_xyz.sub", is_needed=True)
    assert finding is not None
    assert finding.remedy == "Install it, as 'pip install oil[gpu]' does"


def test_foreign_packages_are_not_meant() -> None:
    """Only the backend's own and other installed packages are suggested."""
    assert Importer(["paintbrush"]).packages_like("paintbrsh") == ["paintbrush"]
    assert Importer([], foreign=["paintbrush"]).packages_like("paintbrsh") == []
    assert Importer([]).identifiers_like("fractoins", "Fraction")[0] == ["fractions:Fraction"]


def test_a_package_is_installed_or_not() -> None:
    assert is_module_installed("fractions")
    assert not is_module_installed("no_such_package_xyz")
    assert not is_module_installed("")
