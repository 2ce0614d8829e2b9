"""E5: after Ctrl-C at any time, the next call works."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python, write_distribution

CORE = Path(spatch_core.__file__).parents[1]
PROCESSES = 20
SIGNALS = 20
"""As many in each process; the first one meets the imports of a first call."""

LIBRARY = """
from spatch_core import BackendSystem

class Foreign: pass
class Other: pass

def library():
    system = BackendSystem("interrupted.backends", "INTERRUPTED", ["builtins:float"])

    @system.dispatchable("x", module="interrupted", qualname="f")
    def f(x):
        return "default"

    return system, f
"""

# CPython may leave its own modules incomplete where their import is interrupted.
MODULES = """
import sys
from interrupted import library

system, f = library()
with system.backend_opts(trace=True, hook=lambda call: call.next(*call.args)):
    f(1.0)
system.reload()
print(*[each for each in sys.modules if each.partition(".")[0] in sys.stdlib_module_names])
"""

PROGRAM = """
import importlib, random, signal, sys, time
for module in MODULES:
    importlib.import_module(module)
import interrupted
from interrupted import Foreign, Other, library

draw = random.Random(SEED)
count = 0

def use(system, f):
    assert f(1.0) == "default"
    with system.backend_opts(prioritize="second", hook=lambda call: call.next(*call.args)):
        assert f(Foreign()) == "first"
        with system.backend_opts(trace=True):
            assert f(Other()) == "second"
    system.reload()

system, f = library()
seconds = 0.3  # of the first use
while count < SIGNALS:
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    begin = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, draw.random() * seconds)
        try:
            use(system, f)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        count += 1
    else:
        seconds = time.perf_counter() - begin  # it came too late, or not at all
    # A block that was just being entered or left may be in force: that does not matter here.
    found = f(1.0), f(Foreign()), f(Other())
    assert found == ("default", "first", "second"), (count, found)
    assert [*system.backends] == ["default", "first", "second"], (count, [*system.backends])
    assert not system.problems, (count, system.problems)
    system, f = library()
    for name in ("first_backend", "second_backend"):
        sys.modules.pop(name, None)
print(count)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_the_next_call_works_after_each_of_400_signals(tmp_path: Path) -> None:
    """In the first call of a process and in others, in options, hooks and discovery."""
    for name, kind in (("first", "Foreign"), ("second", "Other")):
        entry_point = "backend" if name == "first" else "backend.toml"
        package = f"{name}_backend"
        files = {
            "__init__.py": f"""
                class backend:
                    name = "{name}"
                    primary_types = ["interrupted:{kind}"]
                    functions = {{"interrupted:f": {{"function": "{package}:f"}}}}

                def f(x):
                    return "{name}"
            """,
            "backend.toml": f"""
                name = "{name}"
                primary_types = ["interrupted:{kind}"]
                [functions."interrupted:f"]
                function = "{package}:f"
            """,
        }
        write_distribution(
            tmp_path,
            f"{name}-dist",
            entry_points={"interrupted.backends": {name: f"{package}:{entry_point}"}},
            files={f"{package}/{file}": text for file, text in files.items()},
        )
    (tmp_path / "interrupted.py").write_text(LIBRARY, encoding="utf-8")

    modules = run_python(MODULES, path=[tmp_path, CORE]).stdout.split()

    def interrupt(seed: int) -> int:
        values = (seed, SIGNALS, modules)
        program = f"SEED, SIGNALS, MODULES = {values!r}\n{PROGRAM}"
        return int(run_python(program, path=[tmp_path, CORE]).stdout)

    with ThreadPoolExecutor(2) as executor:
        counts = [*executor.map(interrupt, range(PROCESSES))]
    assert sum(counts) == PROCESSES * SIGNALS == 400
