"""The measurement of attributes that follow the current backend."""

from __future__ import annotations

import math
import sys

import pytest

from bench import attributes


def test_they_are_measured_beside_an_empty_function(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each module has the value, two of them by a `__getattr__`; a row for each."""
    monkeypatch.setitem(sys.modules, "following", sys)  # taken back afterwards
    for name in ("NUMBER", "REPEATS", "ROUNDS"):
        monkeypatch.setattr(attributes, name, 1)
    attributes.main()
    assert len(capsys.readouterr().out.splitlines()) == 3
    plain, empty, following = attributes.modules().values()
    assert (plain.value, empty.value, following.value) == (None, None, math.pi)
    assert "value" in vars(plain)
    assert not {"value"} & {*vars(empty), *vars(following)}
