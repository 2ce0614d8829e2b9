"""No crash, whatever a user does: each attack of `attacks.py` in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ATTACKS = Path(__file__).with_name("attacks.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the attacks are forked from one process")
def test_nothing_ends_the_process() -> None:
    """Copies, storages, addresses, other layouts, threads: results or errors, never a signal."""
    command = [sys.executable, str(ATTACKS), "npy"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    outcomes = json.loads(found.stdout)
    assert len(outcomes) > 35
    assert {name: words for name, (status, words) in outcomes.items() if status} == {}
