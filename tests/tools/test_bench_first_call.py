"""The measurement of the first call where many backends implement all functions."""

from __future__ import annotations

import sys

import pytest

from bench import first_call


def test_each_path_has_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each program asserts that it has found all backends."""
    arguments = ["--backends=2", "--functions=3", "--rounds=1", "--documented"]
    monkeypatch.setattr(sys, "argv", ["first_call.py", *arguments])
    first_call.main()
    _, *lines = capsys.readouterr().out.splitlines()
    assert [each.split()[0] for each in lines] in (["pure"], ["pure", "accelerated"])
    assert all(" ms " in each for each in lines)
