"""E1, E5: what a backend's module may do while it is discovered, and the library still works."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import spatch_core
from spatch_core.testing import run_python, write_distribution

if TYPE_CHECKING:
    from .conftest import Tally

CORE = Path(spatch_core.__file__).parents[1]
TESTS = Path(__file__).parents[2]
GROUP = "errors_library.backends"

LIBRARY = f"""
import json, sys, warnings
from spatch_core import BackendSystem

warnings.simplefilter("ignore")

class Good: pass
class Sick: pass

def make():
    system = BackendSystem({GROUP!r}, "ERRORS", ["builtins:float"])

    @system.dispatchable("x", module="errors_library", qualname="f")
    def f(x):
        return "default"

    return system, f

system, f = make()
"""

BACKEND = """
class backend:
    name = {name!r}
    primary_types = ["errors_library:{cls}"]
    functions = {{"errors_library:f": {{"function": "{name}_backend:f"}}}}

def f(x):
    return {name!r}
"""


def run(folder: Path, body: str, code: str) -> object:
    """Run code with the library, a good backend, and one with this module body."""
    for name, before in (("good", ""), ("sick", body)):
        write_distribution(
            folder,
            f"{name}-dist",
            entry_points={GROUP: {name: f"{name}_backend:backend"}},
            files={f"{name}_backend.py": before + BACKEND.format(name=name, cls=name.title())},
        )
    (folder / "errors_library.py").write_text(LIBRARY)
    text = f"from errors_library import *\n{dedent(code)}"
    return json.loads(run_python(text, path=[folder, CORE, TESTS], timeout=60).stdout)


RAISES = {
    "Exception": "raise ValueError('sick')\n",
    "BaseException": "class Own(BaseException): pass\nraise Own('sick')\n",
    "SystemExit": "raise SystemExit('sick')\n",
    "RecursionError": "def recurse(): recurse()\nrecurse()\n",
    "from-a-thread-of-its-own": "import concurrent.futures as c\n"
    "def fail(): raise KeyError('sick')\n"
    "with c.ThreadPoolExecutor(1) as pool: pool.submit(fail).result()\n",
}


@pytest.mark.parametrize("body", RAISES.values(), ids=list(RAISES))
def test_what_a_module_raises_skips_its_backend(body: str, tmp_path: Path, tally: Tally) -> None:
    """E1: whatever the class; the call works, and the others do."""
    found = run(
        tmp_path,
        body,
        """
        calls = [f(Good()), f(Sick()), f(1.0)]
        # In the middle of handling an interrupt of the caller's own.
        system, f = make()
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            calls += [f(Good()), f(Sick()), f(1.0)]
        print(json.dumps([calls, [each.backend for each in system.problems]]))
        """,
    )
    tally.add(found == [["good", "default", "default"] * 2, ["sick"]], found)


def test_the_search_path_of_a_program_breaks_no_call(tmp_path: Path, tally: Tally) -> None:
    """P7: a path object, or a finder that fails, whose distributions are not found."""
    program = """
        import pathlib

        class Failing:
            @staticmethod
            def find_spec(*arguments): return None
            @staticmethod
            def find_distributions(context=None): raise OSError("no disk")

        class Later(Failing):
            @staticmethod
            def find_distributions(context=None):
                yield from ()
                raise AttributeError("stub")

        count = []
        def look():
            system, f = make()
            found = f(Good()), f(1.0), list(system.backends), len(system.problems)
            return found[:3] == ("good", "default", ["default", "good", "sick"]) and found[3]

        for item in (pathlib.Path("absent"), "absent"):
            for place in (0, len(sys.path)):
                sys.path.insert(place, item)
                count.append(look() == 0)
                del sys.path[place]
        for finder in (Failing, Failing(), Later):
            for place in (0, len(sys.meta_path)):
                sys.meta_path.insert(place, finder)
                count.append(look() == 0)
                del sys.meta_path[place]
        print(json.dumps([len(count), sum(count), [n for n, held in enumerate(count) if not held]]))
    """
    found = run(tmp_path, "", program)
    assert isinstance(found, list)
    tally.add_many(*found)
