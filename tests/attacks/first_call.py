"""A library and its backends, whose first call is interrupted: the program of the attacks.

Each attack happens in a child of a fork, to which everything is new that the first call imports,
or in this process to a library that was made anew. A first call is interrupted; afterwards every
backend must be there and answer, in this thread and in another one. A process that does not come
to an end shows where its threads are, and counts as one attack that did not hold.
"""

from __future__ import annotations

import _frozen_importlib
import _imp
import faulthandler
import gc
import importlib
import json
import os
import random
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spatch_core import BackendSystem
from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from types import CodeType, FrameType

GROUP = "interrupted_library.backends"
ENTRY = '[functions."interrupted_library:f"]\nfunction = "{module}:f"\n'
HANG = 30
"""Seconds after which a call counts as hanging."""


class File:
    """The type of a backend with a file."""


class Object:
    """The type of a backend that is an object, whose module is imported."""


class Code:
    """The type of a backend in code."""


class Abstract:
    """The type of a backend with an abstract base class."""


class Timeout(TimeoutError):  # noqa: N818  # as libraries name it
    """What a signal handler raises."""


def implementation(x: object) -> str:
    """Answer as the backend in code."""
    return "code"


def install(folder: Path) -> None:
    """Write the backends: one of each form, and a broken one."""
    name = __name__
    packages = {
        "a_file": {
            "a_file/__init__.py": "def f(x): return 'file'\n",
            "a_file/backend.toml": f"name = 'file'\nprimary_types = ['{name}:File']\n"
            + ENTRY.format(module="a_file"),
        },
        "b_object": {
            "b_object/__init__.py": "from .parts import f, fields as backend\n",
            "b_object/parts.py": f"""
                import threading, decimal

                def f(x):
                    return 'object'

                def functions():
                    return {{'interrupted_library:f': {{'function': 'b_object:f'}}}}

                class fields:
                    name = 'object'
                    primary_types = ['{name}:Object']
                    functions = functions()
            """,
        },
        "c_abstract": {
            "c_abstract/__init__.py": "def f(x): return 'abstract'\n",
            "c_abstract/bases.py": f"""
                import abc
                import {name}

                class Base(abc.ABC):
                    pass

                Base.register({name}.Abstract)
            """,
            "c_abstract/backend.toml": "name = 'abstract'\n"
            "primary_types = ['@c_abstract.bases:Base']\n" + ENTRY.format(module="c_abstract"),
        },
        "d_broken": {"d_broken/__init__.py": "raise RuntimeError('broken')\n"},
    }
    values = {
        "a_file": ("file", "a_file:backend.toml"),
        "b_object": ("object", "b_object:backend"),
        "c_abstract": ("abstract", "c_abstract:backend.toml"),
        "d_broken": ("broken", "d_broken:backend"),
    }
    for package, files in packages.items():
        entry, value = values[package]
        write_distribution(
            folder, f"{package}-dist", entry_points={GROUP: {entry: value}}, files=files
        )


EXPECTED = {"file": File, "object": Object, "abstract": Abstract, "code": Code, "default": float}


def library() -> tuple[BackendSystem, Any]:
    """Make the library anew, with its function."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("a_file", "b_object", "c_abstract", "d_broken"):
            del sys.modules[name]
    in_code = {
        "name": "code",
        "primary_types": [f"{__name__}:Code"],
        "functions": {"interrupted_library:f": {"function": f"{__name__}:implementation"}},
    }
    system = BackendSystem(GROUP, "INTERRUPTED", ["builtins:float"], backends=[in_code])

    @system.dispatchable("x", module="interrupted_library", qualname="f")
    def f(x: object) -> str:
        return "default"

    return system, f


def lost(system: BackendSystem, f: Any) -> str:
    """Say what was lost; empty if nothing was."""
    wrong: list[object] = []

    def look() -> None:
        found = {name: f(cls()) for name, cls in EXPECTED.items()}
        if found != {name: name for name in EXPECTED}:
            wrong.append(found)
        if {*system.backends} != {*EXPECTED}:
            wrong.append((list(system.backends), system.problems))
        if [each.backend for each in system.problems] != ["broken"]:
            wrong.append(system.problems)
        with system.backend_opts(trace=True) as trace:
            f(1.0)
        if len(trace) != 1:
            wrong.append(list(trace))

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return ", ".join(map(str, wrong))


class Count:
    """How many attacks were made, how many held, and what went wrong."""

    def __init__(self) -> None:
        self.tried = self.held = 0
        self.wrong: list[str] = []

    def add(self, what: str) -> None:
        self.tried += 1
        self.held += not what
        if what:
            self.wrong.append(what)

    def print(self) -> None:
        """Write the counts for the test that started this process."""
        sys.stdout.write(json.dumps([self.tried, self.held, self.wrong[:5]]))


def in_child(attack: Any) -> tuple[bool, str]:
    """Attack in a child of a fork; returns whether there was an interrupt, and what was lost."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        os.dup2(write, 2)
        try:
            faulthandler.dump_traceback_later(HANG, exit=True)
            system, f = library()
            interrupted = attack(system, f)
            wrong = lost(system, f)
            os.write(write, f"\0{'+' if interrupted else '-'}{wrong}"[:4000].encode())
        except BaseException:  # noqa: BLE001  # the answer says so
            import traceback

            os.write(write, f"\0+{traceback.format_exc()[-4000:]}".encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as stream:
        # What the child printed, such as exceptions in callbacks, comes before its answer.
        printed, _, answer = stream.read().decode(errors="replace").rpartition("\0")
    _, status = os.waitpid(child, 0)
    if answer[:1] not in ("+", "-"):
        return True, f"ended with {status}: {printed}{answer}"
    return answer[0] == "+", answer[1:]


# ---------------------------------------------------------------------------------------
# An exception at one event of a trace function


class Tracer:
    """Raises at one line or bytecode instruction of the first call, counted from zero.

    Parameters
    ----------
    number : int
        Of the event.
    opcodes : bool
        Whether instructions are counted, else lines.
    error : type
        What is raised, by a function that has the parameters of a signal handler.
    everywhere : bool
        Whether the import system and the standard library count, too.
    """

    def __init__(self, number: int, opcodes: bool, error: Any, everywhere: bool) -> None:
        self.left = number
        self.opcodes = opcodes
        self.error = error
        self.everywhere = everywhere

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        if not self.is_target(frame.f_code):
            return None
        if self.opcodes:
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        return self.step

    def is_target(self, code: CodeType) -> bool:
        file = code.co_filename
        if file == __file__:
            return False
        return self.everywhere or "spatch_core" in file or "_object" in file or "_abstract" in file

    def step(self, frame: FrameType, event: str, argument: object) -> Any:
        if event in ("line", "opcode"):
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                raise self.error("interrupted")
        return self.step

    def attack(self, system: BackendSystem, f: Any) -> bool:
        # CPython 3.12 looks at this only when the trace function is set.
        sys._getframe().f_trace_opcodes = self.opcodes
        try:
            sys.settrace(self)
            f(Object())
        except self.error:
            pass
        finally:
            sys.settrace(None)
        return self.left < 0


def trace(start: int, step: int, most: int, opcodes: bool, error: str, everywhere: bool) -> Count:
    """Raise at every `step`-th event of the first call, in a process of its own each."""
    kind = {"KeyboardInterrupt": KeyboardInterrupt, "Timeout": Timeout, "MemoryError": MemoryError}
    count = Count()
    number = start
    while count.tried < most:
        tracer = Tracer(number, opcodes, kind[error], everywhere)
        interrupted, wrong = in_child(tracer.attack)
        if not interrupted and not wrong:
            break
        count.add(wrong and f"event {number}: {wrong}")
        number += step
    return count


# ---------------------------------------------------------------------------------------
# Signals at random moments


def signals(seed: int, number: int, error: str, threads: int) -> Count:
    """Interrupt as many first calls at random moments, while other threads make theirs."""
    kind: Any = {"KeyboardInterrupt": KeyboardInterrupt, "Timeout": Timeout}[error]

    armed: list[int] = []

    def handle(signum: int, frame: object) -> None:
        if armed:
            armed.clear()
            raise kind("interrupted")

    signal.signal(signal.SIGALRM, handle)
    chance = random.Random(seed)
    count = Count()
    system, f = library()
    f(Object())
    longest = 0.01
    while count.tried < number:
        system, f = library()
        faulthandler.dump_traceback_later(HANG, exit=True)
        ready: list[int] = []

        def call(f: Any = f, ready: list[int] = ready) -> None:
            while not ready:  # no lock of the standard library, which an interrupt may break
                time.sleep(0)
            f(Object())

        others = [threading.Thread(target=call) for _ in range(threads)]
        for each in others:
            each.start()
        interrupted = False
        began = time.perf_counter()
        try:
            armed.append(1)
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, longest))
            ready.append(1)
            f(Object())
            armed.clear()
            longest = 0.9 * longest + 0.1 * 1.2 * (time.perf_counter() - began)
        except kind:
            interrupted = True
            signal.setitimer(signal.ITIMER_REAL, 0)
        ready.append(1)
        for each in others:
            each.join()
        if interrupted:
            count.add(lost(system, f))
    faulthandler.cancel_dump_traceback_later()
    return count


def left_held(number: int, lock: str) -> Count:
    """Hold a lock of the import system as a lost interrupt leaves it, and make first calls.

    The import system ignores exceptions in the callbacks of its weak references. So an interrupt
    there is lost, and the thread goes on with the lock that the callback has acquired.
    """
    bootstrap: Any = _frozen_importlib  # typeshed leaves its private functions out
    acquire: Any = {
        "all": _imp.acquire_lock,
        "module": lambda: bootstrap._get_module_lock("c_abstract.bases").acquire(),
    }[lock]
    count = Count()
    for _ in range(number):
        system, f = library()
        faulthandler.dump_traceback_later(HANG, exit=True)
        acquire()
        other = threading.Thread(target=f, args=(Object(),))
        other.start()
        time.sleep(0.02)  # the other thread takes the turn, and waits for the lock
        f(Object())
        other.join()
        count.add(lost(system, f))
    faulthandler.cancel_dump_traceback_later()
    return count


# ---------------------------------------------------------------------------------------
# No memory, no room on the stack


def memory(start: int, step: int, most: int, length: int) -> Count:
    """Let the allocations from a certain one on fail, `length` of them."""
    _testcapi: Any = importlib.import_module("_testcapi")
    count = Count()
    number = start

    def attack(system: BackendSystem, f: Any) -> bool:
        sample = Object()
        gc.disable()
        try:
            _testcapi.set_nomemory(number, number + length)
            f(sample)
        except Exception:  # noqa: BLE001  # the interpreter reports some as other errors
            return True
        finally:
            _testcapi.remove_mem_hooks()
            gc.enable()
        return False

    quiet = 0
    while count.tried < most and quiet < 5:
        interrupted, wrong = in_child(attack)
        number += step
        quiet = 0 if interrupted or wrong else quiet + 1
        # Without memory, the interpreter itself may crash or report a wrong error.
        if wrong.startswith("ended with"):
            sys.stderr.write(f"{number}: {wrong[:300]}\n")
        elif interrupted or wrong:
            count.add(wrong and f"allocation {number}: {wrong}")
    return count


def depth(step: int) -> Count:
    """Make the first call at every `step`-th depth near the recursion limit."""
    count = Count()

    def call(left: int, f: Any) -> Any:
        return call(left - 1, f) if left else f(Object())

    for room in range(1, 400, step):

        def attack(system: BackendSystem, f: Any) -> bool:
            frame: Any = sys._getframe()
            used = 0
            while frame is not None:
                frame, used = frame.f_back, used + 1
            try:
                call(sys.getrecursionlimit() - used - room, f)  # noqa: B023  # called at once
            except RecursionError:
                return True
            return False

        _, wrong = in_child(attack)
        count.add(wrong and f"room for {room}: {wrong}")
    return count


def main() -> None:
    """Run the attack that the arguments name: JSON, and print the count."""
    folder, name, *arguments = sys.argv[1:]
    if sys.version_info < (3, 11):
        import tomli  # noqa: F401  # installed where the others are
    # Reading the metadata of everything that is installed would take most of the time.
    sys.path[:] = [folder, *(path for path in sys.path if not path.endswith("site-packages"))]
    warnings.simplefilter("ignore")
    attacks: dict[str, Any] = {
        "trace": trace,
        "signals": signals,
        "memory": memory,
        "depth": depth,
        "left_held": left_held,
    }
    attacks[name](*map(json.loads, arguments)).print()


if __name__ == "__main__":
    # Under its own name, so that the types of the backends are found.
    program: Any = importlib.import_module("first_call")
    if sys.argv[2:]:
        program.main()
    else:
        program.install(Path(sys.argv[1]))
