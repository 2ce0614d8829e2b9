"""Cells of a real kernel, and what is set in them: rule W5."""

from __future__ import annotations

from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python

pytestmark = pytest.mark.slow

LIBRARY = """
from spatch_core import BackendSystem
from spatch_core.switching import Switch

jax = {"name": "jax", "primary_types": ["jax:Array"]}
switch = Switch(BackendSystem(None, "CELLLIB", backends=[jax], default_name="numpy"))
set_backend, get_backend = switch.set_backend, switch.get_backend


async def set_later(name):
    set_backend(name)
"""
CELLS = {
    "from celllib import *": None,
    "set_backend('jax')": None,
    "get_backend()": "'jax'",
    "switch.unset_backend()": None,
    # A cell that awaits something is a task of its own.
    "await set_later('jax'); get_backend()": "'jax'",
    "get_backend() ": "'numpy'",
    "await set_later('jax'); set_backend('jax', globally=True)": None,
    "get_backend()  ": "'jax'",
    "with switch.backend_context('numpy'):\n    1 / 0": "ZeroDivisionError",
    "get_backend()   ": "'jax'",
    "set_backend('jx')": "UnknownBackendError",
    "switch": "<Switch of celllib: jax>",
}
PROGRAM = """
from jupyter_client.manager import start_new_kernel


def shown(message):
    content = message["content"]
    if message["msg_type"] == "error":
        return content["ename"]
    return content["data"]["text/plain"] if message["msg_type"] == "execute_result" else None


manager, client = start_new_kernel(kernel_name="python3")
try:
    for cell, expected in {cells}.items():
        messages = []
        client.execute_interactive(cell, output_hook=messages.append, timeout=120)
        found = [each for each in map(shown, messages) if each is not None]
        assert found == ([] if expected is None else [expected]), (cell, found)
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


def test_cells_of_a_kernel(tmp_path: Path) -> None:
    """W5: what a cell sets is set in the next one, unless it awaits something."""
    pytest.importorskip("ipykernel")
    (tmp_path / "celllib.py").write_text(LIBRARY)
    folders = [tmp_path, Path(spatch_core.__file__).parents[1]]
    run_python(PROGRAM.replace("{cells}", repr(CELLS)), path=folders)
