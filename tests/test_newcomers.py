"""Distributions that are installed besides change no call that the library answered.

A library is asked in a fresh interpreter; then once more, with a newcomer on the path.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core.testing import run_python, write_distribution

if TYPE_CHECKING:
    from pathlib import Path

TYPES = """
import abc

class Own: pass
class OwnSub(Own): pass
class Foreign: pass
class ForeignSub(Foreign): pass
class Number(float): pass
class Shape(abc.ABC): pass
Shape.register(ForeignSub)
"""


FEATURES = """
from spatch_core import BackendSystem
from newcomer_types import *

PYTHON = ["int", "str", "list", "dict", "tuple", "NoneType", "type", "float"]
system = BackendSystem(
    "newcomer0.backends",
    "NEWCOMER0",
    ["~newcomer_types:Own", "~newcomer_library0:Model", *(f"builtins:{name}" for name in PYTHON)],
    protocol="__newcomers__",
)
d = system.dispatchable

@d("x", identifier="lib:f")
def f(x=None, *args, **keywords): return "default", args, sorted(keywords)
@d("x", identifier="lib:generator")
def generator(x): yield "default"
@d("x", identifier="lib:coroutine")
async def coroutine(x): return "default"
@d("xs", inside=("xs",), identifier="lib:inside")
def inside(xs): return type(xs).__name__
@d(like="like", identifier="lib:like")
def like(*, like=None): return "default"
@d("x", compositional=True, identifier="lib:parts")
def parts(x): return f(x)
@d("x", fallback="raise", identifier="lib:strict")
def strict(x): return "default"
@d("x", fallback="convert", mutates=("out",), identifier="lib:convert")
def convert(x, out=None): return "default"

class Model:
    @d("X", decides=True, identifier="lib:Model.fit")
    def fit(self, X): return self
    @d("X", follows="fit", identifier="lib:Model.predict")
    def predict(self, X): return "default"
    @d(("self", "other"), identifier="lib:Model.__add__")
    def __add__(self, other): return "default"

class Overriding:
    @classmethod
    def __newcomers__(cls, function, types, args, keywords): return "overriding"
"""
ASK_FEATURES = """
import asyncio, copy, json, warnings
warnings.simplefilter("ignore")
from newcomer_library0 import *

values = [Own(), OwnSub(), type("New", (Own,), {})(), 1, 1.5, "s", [1], (), {}, None, int]
answers = []
def ask(call):
    try:
        answers.append(repr(call()))
    except BaseException as error:
        answers.append(type(error).__name__)
for x in values:
    for call in (f, parts, strict, convert):
        ask(lambda: call(x))
    ask(lambda: (f(x, 1, more=2), convert(x, out=[])))
    ask(lambda: (list(generator(x)), asyncio.run(coroutine(x)), like(like=x)))
    ask(lambda: (inside([x]), inside((x, [x]))))
    ask(lambda: Model().fit(x).predict(x))
    ask(lambda: copy.deepcopy(Model().fit(x)).predict(Own()))
    ask(lambda: Model() + x)
    ask(lambda: f(Overriding()))
    with system.backend_opts(hook=lambda call: ("hook", call.next(*call.args, **call.kwargs))):
        ask(lambda: f(x))
    with system.backend_opts(fallback="convert"):
        ask(lambda: convert(x))
    with system.backend_opts(type=Own):
        ask(lambda: f(x))
    with system.backend_opts(backend="default", trace=True) as trace:
        ask(lambda: f(x))
    ask(lambda: [str(each) for each in trace])
print(json.dumps([answers, "new" in system.backends]))
"""
NEW_MODULE = """
def f(*args, **keywords): return "new"
def ask(*args, **keywords): raise SystemExit("asked")
"""
CONVERSIONS = dict.fromkeys(("to_default", "from_default", "copy_into"), "newcomer_new:f")
FUNCTIONS = ("f", "generator", "coroutine", "inside", "like", "parts", "strict", "convert",
             "Model.fit", "Model.predict", "Model.__add__")  # fmt: skip
KNOWN_TYPES = [
    *(f"builtins:{name}" for name in ("int", "str", "list", "dict", "tuple", "NoneType", "type")),
    *("~builtins:object", "@collections.abc:Hashable", "@numbers:Number", "~newcomer_types:Own"),
    *("newcomer_types:Own", "~newcomer_library0:Model", "newcomer_library0:Overriding"),
]
EXTENT: dict[str, dict[str, Any]] = {
    "all": {},
    "every function": {"functions": {"*": {"function": "newcomer_new:f"}}},
    "conversions": CONVERSIONS,
    "conversions alone": {**CONVERSIONS, "functions": {}},
    "attributes": {"attributes": {"lib:f": "newcomer_new:f"}},
    "asked": {"function": {"should_run": "newcomer_new:ask", "uses_context": True}},
    "absent": {"function": {"function": "no_such_module:f"}},
    "variants": {
        "function": {"variants": [{"requires": "spatch-core>=0", "function": "newcomer_new:f"}]}
    },
    "secondary": {"primary_types": ["newcomer_types:Foreign"], "secondary_types": KNOWN_TYPES},
    "the library's own name": {"name": "default"},
}


@pytest.mark.parametrize("pure", [False, True], ids=["C", "Python"])
def test_newcomers_change_no_feature_of_a_library(tmp_path: Path, pure: bool) -> None:
    """C2: generators, coroutines, methods, memories, hooks, policies, protocols and operators."""
    library = {"newcomer_types.py": TYPES, "newcomer_library0.py": FEATURES}
    write_distribution(tmp_path / "before", "newcomer-library", files=library)
    variables = {"SPATCH_CORE_PURE": "1" if pure else None}

    def answers(*path: Path) -> tuple[list[str], bool]:
        done = run_python(ASK_FEATURES, path=[tmp_path / "before", *path], environment=variables)
        found, is_installed = json.loads(done.stdout)
        return found, is_installed

    expected, _ = answers()
    assert sum("default" in each for each in expected) > 120
    for kind, fields in EXTENT.items():
        function = {"function": "newcomer_new:f", **fields.get("function", {})}
        described = {
            "name": "new",
            "primary_types": KNOWN_TYPES,
            "higher_priority_than": ["default"],
            "functions": {f"lib:{each}": function for each in FUNCTIONS},
            **{key: value for key, value in fields.items() if key != "function"},
        }
        write_distribution(
            tmp_path / kind,
            "newcomer-new",
            entry_points={"newcomer0.backends": {described["name"]: "newcomer_described:backend"}},
            files={
                "newcomer_described.py": f"backend = {described!r}\n",
                "newcomer_new.py": NEW_MODULE,
            },
        )
        found, is_installed = answers(tmp_path / kind)
        assert is_installed == (described["name"] == "new")
        assert found == expected, kind
