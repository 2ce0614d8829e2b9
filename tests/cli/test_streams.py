"""Where output goes: pipes that are closed, disks that are full, terminals that wait."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Site

PRINTING = [
    pytest.param(["list", "paintlib"], id="list"),
    pytest.param(["list", "paintlib", "--json"], id="json"),
    pytest.param(["completion", "bash"], id="completion"),
]


@pytest.mark.parametrize("arguments", PRINTING)
def test_a_closed_pipe_is_survived(paint: Site, arguments: list[str]) -> None:
    """As in `spatch-core list | head -1`, with the reader gone from the start."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        done = subprocess.run(
            [paint.python, "-m", "spatch_core", *arguments],
            env=paint.variables({}),
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is full")
@pytest.mark.parametrize("arguments", PRINTING)
def test_a_full_disk_is_told_in_one_line(paint: Site, arguments: list[str]) -> None:
    """A script must not take partial output for the whole."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [paint.python, "-m", "spatch_core", *arguments],
            env=paint.variables({}),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
        )
    assert done.stderr == "Error: [Errno 28] No space left on device\n"
    assert done.returncode == 1


def test_no_output_at_all_is_survived(paint: Site) -> None:
    """As in `spatch-core list >&-`."""
    command = f'exec "{paint.python}" -m spatch_core list paintlib >&-'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env=paint.variables({}),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
