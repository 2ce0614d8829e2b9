"""Counts the instructions of a call, which a busy machine does not change."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import _calls

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_possible() -> bool:
    """Whether valgrind is there, and the libc function that marks the loops."""
    return shutil.which("valgrind") is not None and sys.platform == "linux"


def instructions(variables: Mapping[str, str], cwd: Path) -> dict[str, float]:
    """Return how many instructions each case takes for a call.

    Every call of ``getppid`` makes callgrind write what it has counted since the last one.
    For each case there are three: after the warm-up, a short loop and a long loop.

    Parameters
    ----------
    variables : mapping of str to str
        The environment.
    cwd : Path
        The folder to run in.
    """
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder:
        out = Path(folder) / "counts"
        command = ["valgrind", "--tool=callgrind", "--dump-before=getppid"]
        command += [f"--callgrind-out-file={out}", sys.executable, "-m", "bench._calls", "--count"]
        environment = {**variables, "PYTHONHASHSEED": "0"}
        found = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if found.returncode:
            raise RuntimeError(f"valgrind ended with code {found.returncode}:\n{found.stderr}")
        names, calls = json.loads(found.stdout)[1]
        counted = {}
        for number, (name, each) in enumerate(zip(names, calls, strict=True)):
            short, long = (_total(Path(f"{out}.{3 * number + part}")) for part in (2, 3))
            loops = _calls.LONG_LOOP // each - _calls.SHORT_LOOP // each
            counted[name] = (long - short) / (loops * each)
    return counted


def _total(path: Path) -> int:
    found = re.search(r"^totals: (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"callgrind wrote no total into {path.name}")
    return int(found[1])
