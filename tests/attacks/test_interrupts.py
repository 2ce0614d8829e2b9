"""E7, E10: an interrupted first call leaves nothing behind; see `first_call` for the attacks."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
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
    variables = {"SPATCH_CORE_PURE": pure, "PYTHONPATH": str(CORE)}
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
