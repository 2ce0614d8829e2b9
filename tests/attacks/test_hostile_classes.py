"""Entries of ``sys.modules`` that raise or lie, and classes that cannot be compared.

A backend knows the types of missing dependencies by their names, so that every call looks at
``sys.modules`` and at the names of classes. No call breaks that worked, in C and in Python.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from spatch_core import accelerated
from spatch_core.testing import run_python, write_distribution

if TYPE_CHECKING:
    from pathlib import Path

    from tests.attacks.conftest import Tally

# Without the extension there is one path alone.
PURE = [False, True] if accelerated else [True]

LIBRARY = """
from spatch_core import BackendSystem

class Own: pass
class Foreign: pass

system = BackendSystem("hostile.backends", "HOSTILE", ["~hostilelib:Own"])

@system.dispatchable(("x", "y"))
def f(x=None, y=None):
    return "default"
"""

BACKEND = """
name = "guest"
primary_types = [
    "~hostilelib:Foreign", "stub:Array", "~stub:Array", "stub.sub:Ns.Array", "stub:Hostile",
    "~stub:Hostile", "@stub:Array", "@hostilelib:Foreign",
]
secondary_types = ["stub:Scalar", "~stub:Scalar", "@collections.abc:Sized"]
[functions."hostilelib:f"]
function = "hostile_guest:f"
"""

SCRIPT = """
import json, sys, types, warnings
warnings.simplefilter("ignore")
import spatch_core
from hostilelib import Own, Foreign, f, system

assert spatch_core.accelerated is not PURE
tried, failures = 0, []

class Missing:
    '''A stub for a dependency that is not installed.'''
    def __init__(self, error): object.__setattr__(self, "error", error)
    def __getattr__(self, name): raise self.error

class Endless:
    '''Every attribute of it is there.'''
    def __getattr__(self, name): return self
    def __call__(self, *args): return self
    def __bool__(self): raise ValueError("ambiguous")
    def __eq__(self, other): raise ValueError("ambiguous")
    __hash__ = None

def module(value=None, **attributes):
    made = types.ModuleType("stub")
    made.__dict__.update(attributes)
    if value is not None:
        made.Array = made.Hostile = made.Scalar = value
    return made

def hook(name): raise RuntimeError(name)

errors = [RuntimeError("no"), ImportError("no"), AttributeError("no"), TypeError("no"),
          KeyError("no"), RecursionError("no"), OSError("no"), NameError("no")]
STUBS = [None, 1, "x", object(), Endless(), module(), module(Endless()), module(3),
         module(Missing(RuntimeError("no"))), module(__getattr__=hook), module(__spec__=None),
         *map(Missing, errors)]

class NoHash(type):
    __hash__ = None
class Raises(type):
    def __eq__(cls, other): raise RuntimeError("metaclass")
    def __hash__(cls): raise RuntimeError("metaclass")
class EqualToAll(type):
    def __eq__(cls, other): return True
    def __hash__(cls): return 1
class NoInstances(type):
    def __instancecheck__(cls, other): raise RuntimeError("metaclass")
    def __subclasscheck__(cls, other): raise RuntimeError("metaclass")

def attack(what, call, *expected):
    global tried
    tried += 1
    try:
        got = call()
    except BaseException as error:
        got = f"{type(error).__name__}: {error}"
    if got not in expected:
        failures.append(f"{what}: {got!r}, not {expected}")

for number, stub in enumerate(STUBS):
    sys.modules["stub"] = sys.modules["stub.sub"] = stub
    system.reload()
    for meta in (type, NoHash, Raises, EqualToAll, NoInstances):
        for base, answer in ((Own, "default"), (Foreign, "guest")):
            what = (number, meta.__name__, base.__name__)
            cls = meta("Hostile", (base,), {"__module__": "stub"})
            value = cls()
            for call in (lambda: f(value), lambda: f(x=value), lambda: f(None, value)):
                attack(what, call, answer)
            attack(what, lambda: f.explain(value).selected, answer)
            attack(what, lambda: bool(str(f.explain(value))), True)
            with system.backend_opts(trace=True) as trace:
                attack(what, lambda: f(value), answer)
                attack(what, lambda: bool(str(trace)), True)
            with system.backend_opts(disable="guest"):
                attack(what, lambda: f(value), "default")
print(json.dumps([tried, tried - len(failures), failures[:5]]))
"""


@pytest.mark.parametrize("pure", PURE, ids=lambda pure: "Python" if pure else "C")
def test_hostile_classes_and_stubs_break_no_call(tmp_path: Path, tally: Tally, pure: bool) -> None:
    """M2, M1: every stub in ``sys.modules`` with every class."""
    write_distribution(tmp_path, "hostile-lib", files={"hostilelib.py": LIBRARY})
    write_distribution(
        tmp_path,
        "hostile-guest",
        entry_points={"hostile.backends": {"guest": "hostile_guest:backend.toml"}},
        files={
            "hostile_guest/__init__.py": "def f(x=None, y=None): return 'guest'\n",
            "hostile_guest/backend.toml": BACKEND,
        },
    )
    environment = {"SPATCH_CORE_PURE": "1" if pure else None}
    done = run_python(f"PURE = {pure}\n{SCRIPT}", path=[tmp_path], environment=environment)
    tally.add_many(*json.loads(done.stdout))
