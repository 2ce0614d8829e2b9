"""No crash, whatever a user does: the attacks of `attacks.py`, in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ATTACKS = Path(__file__).with_name("attacks.py")
OF_JAX = ("deepcopy", "pickles", "set", "views", "arrays", "dlpack")
"""Some, because JAX compiles each operator: the device's own parts are the same."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the attacks are forked from one process")
@pytest.mark.parametrize(("device", "names"), [("npy", ()), ("jax", OF_JAX)], ids=["npy", "jax"])
def test_nothing_ends_the_process(device: str, names: tuple[str, ...]) -> None:
    """Copies, storages, addresses, other layouts, threads: results or errors, never a signal."""
    if device == "jax":
        pytest.importorskip("jax", reason="JAX is not installed")
    command = [sys.executable, str(ATTACKS), device, *names]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    outcomes = json.loads(found.stdout)
    assert len(outcomes) == (len(names) or 17)
    assert {name: words for name, (status, words) in outcomes.items() if status} == {}
