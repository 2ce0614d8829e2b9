"""What TensorLy's managers of backends get wrong, and these do not.

Each program fails with TensorLy's own, and ends well with these.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

START = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import tensorly as tl
from tensorly.backend.numpy_backend import NumpyBackend

class Other(NumpyBackend, backend_name="other"):
    float64 = "another float64"

other = Other()

def in_new_thread(function, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()
"""

TASKS = """
async def first(entered):
    with tl.backend_context(other, local_threadsafe=True):
        await entered.wait()
        assert tl.get_backend() == "other", tl.get_backend()

async def second(entered):
    with tl.backend_context("numpy", local_threadsafe=True):
        entered.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

async def main():
    entered = asyncio.Event()
    await asyncio.gather(first(entered), second(entered))

asyncio.run(main())
"""

LEAVING = """
def work():
    tl.set_backend(other, local_threadsafe=True)
    with tl.backend_context("numpy", local_threadsafe=True):
        pass
    assert tl.get_backend() == "other"

in_new_thread(work)
assert in_new_thread(tl.get_backend) == "numpy", in_new_thread(tl.get_backend)
"""

THREAD = """
async def main():
    # Both run in the same thread of asyncio's pool.
    await asyncio.to_thread(tl.set_backend, other, local_threadsafe=True)
    found = await asyncio.to_thread(tl.get_backend)
    assert found == "numpy", found

asyncio.run(main())
"""

EXCEPTION = """
def work():
    tl.set_backend(other, local_threadsafe=True)
    with suppress(ZeroDivisionError), tl.backend_context("numpy", local_threadsafe=True):
        1 / 0

in_new_thread(work)
assert in_new_thread(tl.get_backend) == "numpy", in_new_thread(tl.get_backend)
"""

EXCEPTION_IN_A_TASK = """
async def fail(entered):
    with tl.backend_context(other):
        await entered.wait()
        raise ZeroDivisionError

async def work(entered):
    with tl.backend_context("numpy"):
        entered.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

async def main():
    entered = asyncio.Event()
    await asyncio.gather(fail(entered), work(entered), return_exceptions=True)

asyncio.run(main())
# The task that entered last leaves last, and puts back what the other one had set.
assert tl.get_backend() == "numpy", tl.get_backend()
"""

ATTRIBUTES = """
with tl.backend_context(other):
    # A copy that TensorLy made when it was imported; tl.float32 is none.
    assert tl.float64 is tl.backend.float64
"""

PROGRAMS = {
    "two tasks see each other's backend": TASKS,
    "leaving a thread-local context writes the process default": LEAVING,
    "what a job sets in a thread is set for the next one": THREAD,
    "an exception in a thread-local context writes the process default": EXCEPTION,
    "an exception in one of two tasks leaves a backend set in their thread": EXCEPTION_IN_A_TASK,
    "an attribute keeps the value of the first backend": ATTRIBUTES,
}


def ended_well(program: str) -> bool:
    """Run a program; it fails by its own assertion, or not at all."""
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TENSORLY_BACKEND": "numpy"},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if process.returncode:
        assert "AssertionError" in process.stderr, process.stderr
    return not process.returncode


@pytest.mark.parametrize("name", PROGRAMS)
def test_tensorly_fails_and_this_does_not(name: str) -> None:
    """The same program, with one more import."""
    program = START + PROGRAMS[name]
    assert not ended_well(program)
    assert ended_well(f"import tensorly_dispatch\n{program}")
