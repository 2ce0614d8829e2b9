"""Why something cannot be imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.examination.importing import Importer


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
    """F10: the message has no line of this package, which only found the mistake."""
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
