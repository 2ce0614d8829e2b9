"""The timeline of a record."""

from __future__ import annotations

from spatch_core.report.timeline import MOST, lay_out
from tests.report.conftest import recorded


def test_bars_are_where_the_calls_were() -> None:
    """Positions are in percent of the run, sorted by start."""
    found = lay_out([recorded("b", 3.0, 5.0), recorded("a", 1.0, 2.0)])
    assert found is not None
    assert [(each.label, each.start, each.width) for each in found.bars] == [
        ("fa → oila, 3 calls", "0.00%", "25.00%"),
        ("fb → oilb, 3 calls", "50.00%", "50.00%"),
    ]
    assert [each.color for each in found.bars] == [0, 1]
    assert [text for _, text in found.ticks] == ["1 s", "2 s", "3 s", "4 s", "5 s"]
    assert found.bars[0].text == "lib:fa(m:Ta) → oila, 3 calls, 1 s to 2 s"


def test_short_calls_can_be_seen() -> None:
    """No bar extends beyond the end, even if all calls take no time."""
    found = lay_out([recorded("", 0.0, 100.0), recorded("", 100.0, 100.0)])
    assert found is not None
    assert [(each.start, each.width) for each in found.bars] == [
        ("0.00%", "100.00%"),
        ("99.60%", "0.40%"),
    ]
    assert lay_out([recorded("", 1.0, 1.0)]) is not None


def test_the_first_choices_are_drawn() -> None:
    found = lay_out([recorded("x" * 300, float(each), each + 1.0) for each in range(MOST + 5)])
    assert found is not None
    assert len(found.bars) == MOST
    assert found.left_out == 5
    assert len(found.bars[0].label) == 44


def test_a_record_without_times_has_none() -> None:
    assert lay_out([]) is None
    assert lay_out([recorded("", None, None)]) is None
