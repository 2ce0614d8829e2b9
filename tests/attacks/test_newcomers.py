"""Distributions that are installed besides change no call that the library answered.

Random libraries with backends of their own and installed ones are written to disk, and asked in
a fresh interpreter; then once more, with random newcomers on the path. The newcomers declare
any priorities, require opt-in or not, implement the functions or not, and name any types that
the library knows, or general ones.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core.testing import run_python, write_distribution

if TYPE_CHECKING:
    from pathlib import Path

    from tests.attacks.conftest import Tally

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

LIBRARY = """
from spatch_core import BackendSystem
from newcomer_types import *

system = BackendSystem("{group}", "{prefix}", {types}, backends={own})

@system.dispatchable(("x", "y"), module="lib", qualname="f")
def f(x=None, y=None):
    return "default"

class Implementations:
    def __getattr__(self, name):
        return lambda *args, **kwargs: name

implementations = Implementations()
"""

ASK = """
import importlib, itertools, json, sys, warnings
warnings.simplefilter("ignore")
import newcomer_types as types

values = [types.Own(), types.OwnSub(), types.Foreign(), types.ForeignSub(), types.Number(), 1.5]
calls = [(value,) for value in values] + list(itertools.permutations(values, 2))
answers = []
for number in range(COUNT):
    library = importlib.import_module(f"newcomer_library{number}")
    installed = set(library.system.backends)
    for prioritized in [(), ("old0",), ("own0", "old1"), ("old1", "default")]:
        prioritized = [name for name in prioritized if name in library.NAMES]
        with library.system.backend_opts(prioritize=prioritized):
            for call in calls:
                answer = library.f(*call)
                explained = library.f.explain(*call)
                assert answer == library.f(*call) == explained.selected
                last = next(each for each in explained.backends if each.backend == answer)
                # Answered as the fallback, or by a backend that is merely installed: not promised.
                is_chosen = answer in prioritized or not answer.startswith("old")
                is_promised = is_chosen and last.reason != "nothing else answers"
                what = [number, prioritized, [type(each).__name__ for each in call]]
                answers.append([what, answer, is_promised])
print(json.dumps(answers))
"""

KNOWN = ["Own", "~Own", "OwnSub", "Foreign", "~Foreign", "ForeignSub", "@Shape"]
GENERAL = ["~builtins:float", "~builtins:object", "@collections.abc:Hashable", "builtins:float"]
OWN, OLD, NEW = ["own0", "own1", "own2"], ["old0", "old1"], ["a", "new", "zz"]


def pattern(text: str) -> str:
    if ":" in text:
        return text
    name = text.lstrip("~@")
    return f"{text.removesuffix(name)}newcomer_types:{name}"


def describe(
    generator: random.Random, name: str, module: str, primary: list[str], named: list[str]
) -> dict[str, Any]:
    """Describe a backend at random; `named` are the backends that it may name."""
    others = [each for each in named if each != name]
    declared = generator.sample(others, min(len(others), generator.randrange(5)))
    middle = generator.randrange(len(declared) + 1)
    secondary = generator.sample(KNOWN + GENERAL, generator.randrange(3))
    return {
        "name": name,
        "primary_types": [
            pattern(each) for each in generator.sample(primary, generator.randrange(1, 4))
        ],
        "secondary_types": [pattern(each) for each in secondary],
        "requires_opt_in": generator.random() < 0.3,
        "higher_priority_than": declared[:middle],
        "lower_priority_than": declared[middle:],
        "functions": {"lib:f": {"function": f"{module}:implementations.{name}"}}
        if generator.random() < 0.8
        else {},
    }


def newcomer(generator: random.Random, name: str, module: str) -> dict[str, Any]:
    """Describe a newcomer: its types are the library's, or general; or it takes no call."""
    known = ["Own", "~Own", "OwnSub", *GENERAL]
    fields = describe(generator, name, module, known, ["default", *OWN, *OLD, *NEW])
    fields["secondary_types"] = [pattern(each) for each in generator.sample(known, 2)]
    if generator.random() < 0.3:
        # A type that is new to the library is what backends add; not if the newcomer is silent.
        fields["primary_types"] += [pattern(each) for each in KNOWN[3:]]
        fields["requires_opt_in"] = True
    return fields


def write_backend(folder: Path, number: int, fields: dict[str, Any], module: str) -> None:
    name = fields["name"]
    package = f"newcomer_{number}_{name}"
    write_distribution(
        folder,
        f"newcomer-{number}-{name}",
        entry_points={f"newcomer{number}.backends": {name: f"{package}:backend"}},
        files={f"{package}.py": f"backend = {fields!r}\n"},
    )


def write_libraries(folder: Path, count: int, seed: int) -> tuple[Path, Path]:
    """Write libraries with their backends, and newcomers into a folder of their own."""
    generator = random.Random(seed)
    before, after = folder / "before", folder / "after"
    write_distribution(before, "newcomer-types", files={"newcomer_types.py": TYPES})
    for number in range(count):
        module = f"newcomer_library{number}"
        own = generator.sample(OWN, generator.randrange(4))
        old = generator.sample(OLD, generator.randrange(3))
        named = ["default", *own, *old]
        described = [
            describe(generator, name, module, KNOWN + GENERAL[:1], named) for name in own + old
        ]
        library = LIBRARY.format(
            group=f"newcomer{number}.backends",
            prefix=f"NEWCOMER{number}",
            types=[pattern("~Own"), pattern(generator.choice(KNOWN))],
            own=[each for each in described if each["name"] in own],
        )
        files = {f"{module}.py": f"{library}\nNAMES = {[*named]!r}\n"}
        write_distribution(before, module.replace("_", "-"), files=files)
        for fields in described:
            if fields["name"] in old:
                write_backend(before, number, fields, module)
        for name in generator.sample(NEW, generator.randrange(1, 4)):
            write_backend(after, number, newcomer(generator, name, module), module)
    return before, after


@pytest.mark.parametrize("pure", [False, True], ids=["C", "Python"])
def test_newcomers_change_no_call_that_the_library_answered(
    tmp_path: Path, tally: Tally, scale: int, pure: bool
) -> None:
    """C2, P12: nor one that a prioritized backend answered."""
    count = 20
    for seed in range(scale):
        before, after = write_libraries(tmp_path / str(seed), count, seed)
        answers = []
        for path in ([before], [before, after]):
            done = run_python(
                f"COUNT = {count}\n{ASK}",
                path=path,
                environment={"SPATCH_CORE_PURE": "1" if pure else None},
            )
            answers.append(json.loads(done.stdout))
        promised = 0
        for (what, expected, is_promised), (_, found, _) in zip(*answers, strict=True):
            if is_promised:
                promised += 1
                tally.add(found == expected, (seed, what, expected, found))
        assert promised > 500


CIRCLES = {
    "silent": {"requires_opt_in": True, "functions": {}},
    "opt-in": {"requires_opt_in": True},
    "silent but active": {"functions": {}},
    "a candidate": {},
}


@pytest.mark.parametrize("types", [["Own"], ["Foreign"], ["~builtins:object"]], ids=str)
@pytest.mark.parametrize("fields", CIRCLES.values(), ids=CIRCLES)
def test_a_newcomer_turns_nothing_around(
    tmp_path: Path, tally: Tally, fields: dict[str, Any], types: list[str]
) -> None:
    """C2, P9: ``fast`` stays before ``default``, and no circle skips it."""
    before, after = tmp_path / "before", tmp_path / "after"
    implementation = {"lib:f": {"function": "newcomer_library0:implementations.fast"}}
    fast = {
        "name": "fast",
        "primary_types": [pattern("Own")],
        "higher_priority_than": ["default"],
        "functions": implementation,
    }
    library = LIBRARY.format(
        group="newcomer0.backends", prefix="NEWCOMER0", types=[pattern("~Own")], own=[fast]
    )
    write_distribution(
        before,
        "newcomer-library",
        files={
            "newcomer_types.py": TYPES,
            "newcomer_library0.py": library + "NAMES = ['default', 'fast']\n",
        },
    )
    guest = {
        "name": "guest",
        "primary_types": [pattern(each) for each in types],
        "higher_priority_than": ["fast"],
        "lower_priority_than": ["default"],
        "functions": {"lib:f": {"function": "newcomer_library0:implementations.guest"}},
        **fields,
    }
    write_backend(after, 0, guest, "newcomer_library0")
    script = f"COUNT = 1\n{ASK}"
    one, two = (
        json.loads(run_python(script, path=path).stdout) for path in ([before], [before, after])
    )
    assert [answer for _, answer, promised in one if promised].count("fast") > 5
    for (what, expected, promised), (_, found, _) in zip(one, two, strict=True):
        # A type that the library does not know is what a backend adds.
        if promised and "Foreign" not in what[2]:
            tally.add(found == expected, (what, expected, found))


HOOK = """
import asyncio, pytest
class Abstract(type):
    def __subclasscheck__(cls, other):
        {}
class T(metaclass=Abstract): pass
"""
TEXT = """
class Sick({}):
    {}
raise Sick("sick")
"""
SICK = {
    **{
        f"a subclass check raises {name}": (["@{}:T"], [], HOOK.format(code))
        for name, code in {
            "SystemExit": "raise SystemExit",
            "GeneratorExit": "raise GeneratorExit",
            "CancelledError": "raise asyncio.CancelledError",
            "Skipped": "pytest.skip('sick')",
            "RecursionError": "return issubclass(other, cls)",
        }.items()
    },
    **{
        f"the requirement {text}": (["newcomer_types:Own"], [text], "")
        for text in (
            "spatch-core; sys_platform ~= 'linux'",
            "spatch-core; python_version ~= 'new'",
            f"spatch-core; {'(' * 3000}",
            "spatch-core === 1 2",
            "spatch-core; extra == 'gpu'",
            "newcomer-damaged",
            "newcomer-damaged>=1",
        )
    },
    **{
        f"an exception whose {name}": ("", [], TEXT.format(*code))
        for name, code in {
            "text fails": ("Exception", "def __str__(self): 1 / 0"),
            "text ends the process": ("Exception", "def __str__(self): raise SystemExit"),
            "text is none": ("Exception", "def __str__(self): return 3"),
            "text is no Unicode": ("Exception", "def __str__(self): return '\\ud800'"),
            "context fails": ("Exception", "__context__ = __cause__ = property(int)"),
            "traceback fails": ("BaseException", "__traceback__ = property(int)"),
            "class fails": ("BaseException", "__class__ = property(int)"),
            "attributes fail": ("Exception", "def __getattribute__(self, name): raise SystemExit"),
        }.items()
    },
}
ASK_EACH = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
import newcomer_types as types

answers = []
for number in range(COUNT):
    library = importlib.import_module(f"newcomer_library{number}")
    answers.append([])
    for call in [(types.Own(),), (types.OwnSub(), 1.5), (types.Own(), types.Own()), ()]:
        try:
            answers[-1].append(library.f(*call))
        except BaseException as error:
            answers[-1].append(type(error).__name__)
print(json.dumps(answers))
"""


def write_sick_newcomers(folder: Path) -> tuple[Path, Path]:
    """Write a library for each kind of newcomer, and these into a folder of their own."""
    before, after = folder / "before", folder / "after"
    write_distribution(before, "newcomer-types", files={"newcomer_types.py": TYPES})
    damaged = write_distribution(after, "newcomer-damaged")
    (damaged.metadata / "METADATA").write_bytes(b"Name: newcomer-damaged\nVersion: \xff\n")
    for number, (primary, requires, body) in enumerate(SICK.values()):
        library = LIBRARY.format(
            group=f"newcomer{number}.backends",
            prefix=f"NEWCOMER{number}",
            types=[pattern("~Own")],
            own=[],
        )
        name = f"newcomer_library{number}"
        write_distribution(before, name, files={f"{name}.py": library})
        module = f"newcomer_sick{number}"
        fields = {
            "name": "sick",
            "primary_types": [each.format(module) for each in primary],
            "requires": requires,
            "functions": {"lib:f": {"function": f"{module}:f"}},
        }
        files = {f"{module}.py": body, f"{module}_backend.py": f"backend = {fields!r}\n"}
        place = f"{module}_backend" if primary else module
        entry_points = {f"newcomer{number}.backends": {"sick": f"{place}:backend"}}
        write_distribution(after, module, entry_points=entry_points, files=files)
    return before, after


@pytest.mark.parametrize("pure", [False, True], ids=["C", "Python"])
def test_what_a_newcomer_names_or_raises_breaks_no_call(
    tmp_path: Path, tally: Tally, pure: bool
) -> None:
    """C2, E1, M6, D15: its abstract classes, its requirements, and the exceptions of its module."""
    before, after = write_sick_newcomers(tmp_path)
    script = f"COUNT = {len(SICK)}\n{ASK_EACH}"
    variables = {"SPATCH_CORE_PURE": "1" if pure else None}
    one, two = (
        json.loads(run_python(script, path=path, environment=variables).stdout)
        for path in ([before], [before, after])
    )
    for kind, expected, found in zip(SICK, one, two, strict=True):
        assert expected == ["default"] * 4
        for each in found:
            tally.add(each == "default", (kind, found))
