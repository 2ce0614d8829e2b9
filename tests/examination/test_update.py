"""Updating a file, without the command line; tests of `update` see the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.examination.update import update_file
from tests.cli.test_update import BLEND, BLUR, HEAD, INIT, TOOLS, text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    package = tmp_path / "paint_oil"
    package.mkdir()
    (package / "__init__.py").write_text(text(INIT))
    (package / "tools.py").write_text(text(TOOLS))
    (package / "backend.toml").write_text(text(HEAD))
    return package / "backend.toml"


def test_a_check_writes_nothing(file: Path) -> None:
    """The result has the text that would be written."""
    update = update_file(str(file), check=True)
    assert (update.faults, update.is_current, update.written) == ([], False, False)
    assert update.text == text(HEAD, BLEND, BLUR)
    assert update.added == ("paintlib.filters:blend", "paintlib.filters:blur")
    assert '+[functions."paintlib.filters:blur"]\n' in update.diff
    assert file.read_text() == text(HEAD)


def test_what_is_written_is_current(file: Path) -> None:
    """A second update finds no difference."""
    assert update_file(str(file)).written
    assert file.read_text() == text(HEAD, BLEND, BLUR)
    again = update_file(str(file))
    assert (again.is_current, again.written, again.diff) == (True, False, "")


def test_a_fault_leaves_the_file_as_it_is(file: Path) -> None:
    """The fault has its line."""
    before = text(HEAD).replace("paint_oil:backend", "paint_oil:backand")
    file.write_text(before)
    update = update_file(str(file))
    assert [(each.line, each.remedy) for each in update.findings] == [
        (8, "Did you mean 'backend'?")
    ]
    assert not update.is_current
    assert file.read_text() == before


def test_variants_are_found_by_their_names(file: Path) -> None:
    """D17: those of the code are written; other functions keep theirs."""
    own = 'variants = [{requires = "numpy", function = "paint_oil.tools:ask"}]\n'
    named = text(HEAD).replace(
        'modules = ["paint_oil.tools"]', 'modules = ["paint_oil.tools"]\nvariants_of = "torch"'
    )
    file.write_text(named + text(BLEND) + own)
    tools = file.with_name("tools.py")
    tools.write_text(f"{tools.read_text()}\ndef blur_v_1p12_and_above(x):\n    return x\n")
    assert update_file(file).written
    new = '{requires = "torch>=1.12", function = "paint_oil.tools:blur_v_1p12_and_above"}'
    after = f"{text(BLEND)}{own}\n{text(BLUR).lstrip()}variants = [{new}]\n"
    assert file.read_text() == named + after
    assert update_file(file).is_current


def test_a_path_may_be_an_object(file: Path) -> None:
    """It works as for `open`."""
    update = update_file(file)
    assert (update.faults, update.written, update.subject) == ([], True, str(file))
    assert file.read_text() == text(HEAD, BLEND, BLUR)
    assert "as in pyproject.toml" not in repr(update)  # the content of the file
