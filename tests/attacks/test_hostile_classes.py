"""Classes and entries of ``sys.modules`` that raise, lie, or compare oddly.

A backend knows the types of missing dependencies by their names, so that every call looks at
``sys.modules`` and at the names of classes. No call breaks that worked, in C and in Python.
"""

from __future__ import annotations

import json
import textwrap
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
    "~hostilelib:Foreign", "stub:Array", "~stub:Array", "stub.sub:Ns.Array", "~other:Hostile",
    "other:Hostile", "stub:Hostile", "~stub:Hostile", "@stub:Array", "@hostilelib:Foreign",
]
secondary_types = ["stub:Scalar", "~stub:Scalar", "@collections.abc:Sized"]
[functions."hostilelib:f"]
function = "hostile_guest:f"
"""

STUBS = '''
import sys, types

class Raising:
    """Raises ``error`` from every attribute, ``__class__`` and ``__dict__`` too."""
    def __init__(self, error): object.__setattr__(self, "error", error)
    def __getattribute__(self, name): raise object.__getattribute__(self, "error")
    def __eq__(self, other): raise object.__getattribute__(self, "error")
    def __bool__(self): raise object.__getattribute__(self, "error")
    __hash__ = None

class RaisingModule(types.ModuleType):
    def __getattribute__(self, name): raise RuntimeError(name)

class Missing:
    """A stub for a dependency that is not installed."""
    def __getattr__(self, name): raise ImportError("install stub: " + name)

class Endless:
    def __getattr__(self, name): return self
    def __call__(self, *args): return self
    def __bool__(self): raise ValueError("ambiguous")
    def __eq__(self, other): raise ValueError("ambiguous")
    __hash__ = None

class Slots: __slots__ = ()

class FalseDict:
    @property
    def __dict__(self): return {"Array": 1, 2: 3}

class Recursive:
    def __getattr__(self, name): return getattr(self, name)

class LyingClass:
    @property
    def __class__(self): raise RuntimeError("class")

def with_hook(error):
    module = types.ModuleType("stub")
    def hook(name): raise error
    module.__getattr__ = hook
    return module

def with_attribute(value):
    module = types.ModuleType("stub")
    module.Array = module.Hostile = module.Scalar = value
    return module

def without_spec():
    module = types.ModuleType("stub")
    del module.__spec__
    return module

errors = [RuntimeError("no"), ImportError("no"), AttributeError("no"), TypeError("no"),
          KeyError("no"), RecursionError("no"), OSError("no"), NameError("no"), StopIteration()]
STUBS = [("absent", lambda: ...), ("None", lambda: None), ("int", lambda: 1), ("text", lambda: "x"),
         ("object", object), ("slots", Slots), ("missing", Missing), ("endless", Endless),
         ("false dict", FalseDict), ("recursive", Recursive), ("lying class", LyingClass),
         ("a class", lambda: Slots), ("a raising module", lambda: RaisingModule("stub")),
         ("no spec", without_spec), ("a module of odd things", lambda: with_attribute(Endless())),
         ("a module of raising things", lambda: with_attribute(Raising(RuntimeError("no")))),
         ("a module of a lie", lambda: with_attribute(LyingClass())),
         *((f"raises {type(e).__name__}", lambda e=e: Raising(e)) for e in errors),
         *((f"hook raises {type(e).__name__}", lambda e=e: with_hook(e)) for e in errors)]
'''

CLASSES = '''
class Text(str):
    """A str subclass of which every method raises."""
    def _raise(self, *args, **kwargs): raise RuntimeError("text")
    for name in ("__eq__ __ne__ __hash__ __format__ __str__ __repr__ __add__ __contains__ __len__ "
                 "__getitem__ __iter__ __lt__ __mod__ split rsplit partition rpartition startswith "
                 "endswith replace encode join isidentifier").split():
        locals()[name] = _raise
    del name

def hostile_meta(*names):
    def raising(cls, *args, **kwargs): raise RuntimeError("metaclass")
    return type("Meta", (type,), {name: raising for name in names})

class NoHash(type):
    __hash__ = None

class EqualToAll(type):
    def __eq__(cls, other): return True
    def __hash__(cls): return 1

class HashOfInt(type):
    def __hash__(cls): return hash(int)
    def __eq__(cls, other): return NotImplemented

class PropertyMeta(type):
    __module__ = property(lambda cls: 1 / 0)
    __name__ = property(lambda cls: 1 / 0)
    __mro__ = property(lambda cls: 1 / 0)
    __class__ = property(lambda cls: 1 / 0)
    __dict__ = property(lambda cls: 1 / 0)
    __bases__ = property(lambda cls: 1 / 0)

class MroWithoutItself(type):
    def mro(cls): return [each for each in type.mro(cls) if each is not cls] or type.mro(cls)

class MroTwice(type):
    def mro(cls): return type.mro(cls)[:1] + [object]

class MetaOfMeta(type):
    def __getattribute__(cls, name): raise RuntimeError("meta of metaclass")
    def __eq__(cls, other): raise RuntimeError("meta of metaclass")
    def __hash__(cls): raise RuntimeError("meta of metaclass")

def make(meta, base, **body):
    body = {"__module__": "other", "__qualname__": "Hostile", **body}
    return type.__call__(meta, "Hostile", (base,), body)

dunders = ["__eq__", "__hash__", "__instancecheck__", "__subclasscheck__", "__getattribute__",
           "__getattr__", "__repr__", "__str__", "__bool__", "__len__", "__iter__", "__call__",
           "__setattr__", "__dir__", "__subclasses__", "__or__", "__sizeof__", "__contains__"]
METAS = [type, NoHash, EqualToAll, HashOfInt, PropertyMeta, MroWithoutItself, MroTwice,
         *(hostile_meta(name) for name in dunders), hostile_meta(*dunders),
         type.__call__(MetaOfMeta, "Meta", (type,), {})]
raising = property(lambda self: 1 / 0)
def fails(self, *args): raise RuntimeError("instance")
BODIES = [{}, {"__module__": None}, {"__module__": 1}, {"__module__": Text("other")},
          {"__module__": Text("hostilelib")}, {"__module__": raising}, {"__module__": Endless()},
          {"__module__": Raising(RuntimeError("no"))}, {"__module__": "stub"},
          {"__module__": "builtins", "__qualname__": "int"}, {"__module__": ""},
          {"__qualname__": Text("Hostile")}, {"__qualname__": Text("Array"), "__module__": "stub"},
          {"__module__": Text("stub"), "__qualname__": Text("Scalar")}, {"__qualname__": ""},
          {"__module__": "stub.sub", "__qualname__": "Ns..Array"}, {"__module__": "\\ud800"},
          {"__class__": raising}, {"__getattribute__": fails}, {"__eq__": fails, "__hash__": None},
          {"__bool__": fails, "__len__": fails}, {"__subclasshook__": classmethod(fails)},
          {"__slots__": ()}, {"__init_subclass__": classmethod(fails)}, {"__len__": 3}]

def without_module(meta, base):
    cls = make(meta, base)
    try: type.__delattr__(cls, "__module__")
    except Exception: pass
    return cls
'''

SCRIPT = """
import gc, json, random, sys, warnings
warnings.simplefilter("ignore")
exec(ZOO)
import hostilelib, spatch_core
from hostilelib import Own, Foreign, f, system

assert spatch_core.accelerated is not PURE
seen, tried, failures = 0, 0, []
generator = random.Random(SEED)

def attack(what, call, *expected):
    global tried
    tried += 1
    try:
        got = call()
    except BaseException as error:
        failures.append((what, f"{type(error).__name__}: {error}"))
    else:
        if got not in expected:
            failures.append((what, f"{got!r}, not {expected}"))

for stub_name, stub in STUBS:
    for module in ("stub", "stub.sub"):
        sys.modules.pop(module, None)
        entry = stub()
        if entry is not ...:
            sys.modules[module] = entry
    system.reload()
    attack((stub_name, "own"), lambda: f(Own()), "default")
    attack((stub_name, "foreign"), lambda: f(Foreign()), "guest")
    kinds = [(kind, base, body) for kind in range(len(METAS)) for base in (Own, Foreign, object)
             for body in BODIES]
    for kind, base, body in generator.sample(kinds, COUNT):
        meta = METAS[kind]
        try:
            cls = without_module(meta, base) if body == {"__len__": 3} else make(meta, base, **body)
            value = object.__new__(cls)
        except Exception:
            continue  # not a class that Python makes
        mro = type.__dict__["__mro__"].__get__(cls)
        own = ("default", "guest")
        for known, answer in ((Own, "default"), (Foreign, "guest")):
            if any(each is known for each in mro):
                own = (answer,)
        what = (stub_name, kind, base.__name__, sorted(body))
        attack(what, lambda: f(value), *own)
        attack(what, lambda: f(value), *own)
        attack(what, lambda: f(x=value), *own)
        attack(what, lambda: f(None, value), *own)
        attack(what, lambda: f(Own(), value), "default", *own)
        attack(what, lambda: f(Own(), 1), "default")
        with system.backend_opts(prioritize="guest"):
            attack(what, lambda: f(value), *own, "guest")
        with system.backend_opts(disable="guest"):
            attack(what, lambda: f(value), "default")
        with system.backend_opts(trace=True) as trace:
            attack(what, lambda: f(value), *own)
            attack(what, lambda: bool(str(trace)), True)
        attack(what, lambda: f.explain(value).selected, *own)
        attack(what, lambda: bool(str(f.explain(value))), True)
        if tried % 50 == 0:
            gc.collect()
sys.modules.pop("stub", None), sys.modules.pop("stub.sub", None)
print(json.dumps([tried, len(failures), [str(each) for each in failures[:5]]]))
"""


@pytest.mark.parametrize("pure", PURE, ids=lambda pure: "Python" if pure else "C")
def test_hostile_classes_and_stubs_break_no_call(
    tmp_path: Path, tally: Tally, scale: int, pure: bool
) -> None:
    """M3, M6, M9: every stub in ``sys.modules`` with a sample of the classes."""
    write_distribution(
        tmp_path,
        "hostile-lib",
        files={"hostilelib.py": LIBRARY},
    )
    write_distribution(
        tmp_path,
        "hostile-guest",
        entry_points={"hostile.backends": {"guest": "hostile_guest:backend.toml"}},
        files={
            "hostile_guest/__init__.py": "def f(x=None, y=None): return 'guest'\n",
            "hostile_guest/backend.toml": BACKEND,
        },
    )
    settings = f"PURE = {pure}\nSEED = {scale}\nCOUNT = {min(20 * scale, 1000)}\n"
    zoo = textwrap.dedent(STUBS + CLASSES)
    script = settings + f"ZOO = {zoo!r}\n" + SCRIPT
    environment = {"SPATCH_CORE_PURE": "1" if pure else None}
    done = run_python(script, path=[tmp_path], environment=environment, timeout=450)
    tried, failed, examples = json.loads(done.stdout)
    tally.add_many(tried, tried - failed, examples)
