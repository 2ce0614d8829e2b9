"""E7, E10: an interrupted first call leaves nothing behind; see `first_call` for the attacks."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import spatch_core

if TYPE_CHECKING:
    from .conftest import Tally

CORE = Path(spatch_core.__file__).parents[1]
PROGRAM = Path(__file__).with_name("first_call.py")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

ERRORS = ["KeyboardInterrupt", "Timeout"]
PURE = pytest.mark.parametrize("pure", ["0", "1"], ids=["c", "pure"])


def python(*arguments: object, pure: str = "0") -> str:
    """Run the program in a fresh interpreter; returns what it prints."""
    variables = {"SPATCH_CORE_CACHE": "off", "SPATCH_CORE_PURE": pure, "PYTHONPATH": str(CORE)}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, f"{done.returncode}: {done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the backends."""
    folder = tmp_path_factory.mktemp("site")
    python(folder)
    return folder


def attack(tally: Tally, site: Path, name: str, *arguments: object, pure: str = "0") -> None:
    """Run one attack, and count."""
    tried, held, wrong = json.loads(python(site, name, *map(json.dumps, arguments), pure=pure))
    tally.add_many(tried, held, wrong)


@pytest.mark.parametrize("error", [*ERRORS, "MemoryError"])
def test_an_exception_at_every_instruction(
    error: str, site: Path, tally: Tally, scale: int
) -> None:
    """Of spatch_core and of the backends: some of them, and all at a scale of 3001."""
    step = max(1, 3001 // scale)
    attack(
        tally,
        site,
        "trace",
        ERRORS.index(error) if error in ERRORS else 2,
        step,
        10**6,
        True,
        error,
        False,
    )


@pytest.mark.parametrize("error", ERRORS)
def test_an_exception_at_every_line(error: str, site: Path, tally: Tally, scale: int) -> None:
    """Also of the import system and of the rest of the standard library."""
    step = max(1, 20011 // scale)
    attack(tally, site, "trace", 5, step, 10**6, False, error, True)


@PURE
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("threads", [0, 2], ids=["alone", "with-threads"])
def test_signals_at_random_moments(
    error: str, threads: int, pure: str, site: Path, tally: Tally, scale: int
) -> None:
    """Of the first call of one thread, while others make theirs."""
    attack(tally, site, "signals", threads, 50 * scale, error, threads, pure=pure)


@PURE
@pytest.mark.parametrize("lock", ["all", "module"])
def test_a_lock_of_the_import_system_is_left_held(
    lock: str, pure: str, site: Path, tally: Tally, scale: int
) -> None:
    """By a thread whose interrupt was lost; the thread that imports waits for it."""
    attack(tally, site, "left_held", 3 * scale, lock, pure=pure)


@pytest.mark.skipif(not importlib.util.find_spec("_testcapi"), reason="needs CPython's own tests")
@pytest.mark.parametrize("length", [1, 5])
def test_no_memory(length: int, site: Path, tally: Tally, scale: int) -> None:
    """For some allocations in a row; without any memory at all, the import system itself hangs."""
    attack(tally, site, "memory", 1, max(1, 4001 // scale), 8 * scale, length)


@PURE
def test_no_room_on_the_stack(pure: str, site: Path, tally: Tally, scale: int) -> None:
    """At the depths near the limit of recursion."""
    attack(tally, site, "depth", max(1, 40 // scale), pure=pure)


SWALLOWING = """
    import os, signal, sys
    from spatch_core import BackendSystem
    from spatch_core._discovery.private_files import read_private, write_private
    from spatch_core._discovery.entry_points import find_entry_points
    from spatch_core._reporting.problems import Source

    def handle(number, frame):
        raise TimeoutError("now")

    signal.signal(signal.SIGUSR1, handle)
    armed = []

    def interrupt(event, arguments):
        if armed == [event]:
            armed.clear()
            signal.raise_signal(signal.SIGUSR1)

    class Metadata:
        @property
        def metadata(self):
            signal.raise_signal(signal.SIGUSR1)

    sys.addaudithook(interrupt)
    calls = {
        "read": ("open", lambda: read_private(os.path.abspath("x.cache"))),
        "write": ("os.listdir", lambda: write_private(os.path.abspath("new/x.cache"), b"x")),
        "metadata": (None, lambda: Source("x", metadata=Metadata()).distribution),
    }
    event, call = calls[sys.argv[1]]
    armed[:] = [event]
    try:
        call()
    except TimeoutError:
        print("passed")
"""


@pytest.mark.parametrize("where", ["read", "write", "metadata"])
def test_a_timeout_is_no_error_of_a_file(where: str, tmp_path: Path, tally: Tally) -> None:
    """E1: a `TimeoutError` is an `OSError`, as those of files are."""
    script = tmp_path / "script.py"
    script.write_text(dedent(SWALLOWING), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), where],
        env={**os.environ, "PYTHONPATH": str(CORE)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    tally.add(done.stdout == "passed\n", done.stdout + done.stderr)
