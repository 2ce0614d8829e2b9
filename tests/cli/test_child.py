"""Processes that import what others wrote."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from spatch_core.cli import _child


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the others go on behind it."""
    module = """
        import time

        def perform(task):
            if task["number"] == 1:
                time.sleep(600)
            return {"done": task["number"]}
        """
    (tmp_path / "slow_worker.py").write_text(textwrap.dedent(module), encoding="utf-8")
    monkeypatch.setattr(_child, "_LIMIT", 2)

    answers = _child.ask(
        "slow_worker", [{"number": number} for number in range(3)], [str(tmp_path)], "waiting"
    )

    assert list(answers) == [
        {"done": 0},
        {"ended": "it was not done after 2 seconds"},
        {"done": 2},
    ]
