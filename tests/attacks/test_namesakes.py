"""Distributions that offer backends of one name: a broken one never displaces a working one."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.testing import isolated, run_python, write_distribution

if TYPE_CHECKING:
    from tests.attacks.conftest import Tally

pytestmark = pytest.mark.filterwarnings("ignore::spatch_core.SpatchCoreWarning")

CORE = Path(spatch_core.__file__).parents[1]
GROUP = "namelib.backends"

GOOD = """
name = "gpu"
primary_types = ["builtins:str"]
[functions."namelib:double"]
function = "{package}.code:double"
"""
OBJECT = """
name = "gpu"
primary_types = ["builtins:str"]
functions = {"namelib:double": {"function": "{package}.code:double"}}
"""
# The value of the entry point, and the files of the package.
KINDS: dict[str, tuple[str, dict[str, str]]] = {
    "file": ("{package}:b.toml", {"b.toml": GOOD}),
    "object": ("{package}.described", {"described.py": OBJECT}),
    "leads-nowhere": ("{package}:no.toml", {}),
    "no-package": ("no_such_{package}.sub:b.toml", {}),
    "no-toml": ("{package}:b.toml", {"b.toml": "name == 'gpu'"}),
    "misses-a-field": ("{package}:b.toml", {"b.toml": "name = 'gpu'"}),
    "wrong-field": ("{package}:b.toml", {"b.toml": "requires_opt_in = 1" + GOOD}),
    "other-name": ("{package}:b.toml", {"b.toml": GOOD.replace("gpu", "cpu")}),
    "too-deep": ("{package}:b.toml", {"b.toml": "a." * 20_000 + "a = 1"}),
    "not-utf-8": ("{package}:b.toml", {"b.toml": "name = '\udcff'"}),
    "raises": ("{package}.described", {"described.py": "1 / 0"}),
    "exits": ("{package}.described", {"described.py": "raise SystemExit(3)"}),
    "no-module": ("{package}.absent:gpu", {}),
    "no-attribute": ("{package}.code:absent", {}),
    "hostile-attribute": (
        "{package}.described:gpu",
        {"described.py": "class gpu:\n @property\n def name(self): 1 / 0\ngpu = gpu()"},
    ),
    "impossible-value": ("{package}:../b.toml", {"b.toml": GOOD}),
}
USABLE = ("file", "object")
BROKEN = tuple(each for each in KINDS if each not in USABLE)
UNMET = {
    "absent": "absent-distribution",
    "too-old": "pytest >= 1000",
    "unreadable": "pytest >>> 1",
}
for _each, _requirement in UNMET.items():
    KINDS[_each] = ("{package}:b.toml", {"b.toml": f"requires = [{_requirement!r}]\n{GOOD}"})

CODE = """
import random
import sys
def double(x):
    return __name__.partition("_")[0]
"""


def install(site: Path, distribution: str, kind: str, name: str = "gpu") -> None:
    """Install a backend; its package has the name of the distribution and that of the kind."""
    package = f"{distribution}_{kind.replace('-', '_')}"
    value, files = KINDS[kind]
    content = {
        f"{package}/{file}": text.replace("{package}", package).encode("utf-8", "surrogateescape")
        for file, text in {"__init__.py": "", "code.py": CODE, **files}.items()
    }
    write_distribution(
        site,
        distribution,
        entry_points={GROUP: {name: value.format(package=package)}},
        files=content,
    )


def observe(site: Path) -> dict[str, Any]:
    """Return what is used, reported and imported."""
    system = BackendSystem(GROUP, "NAMELIB", ["builtins:int"])

    @system.dispatchable("x", module="namelib", qualname="double")
    def double(x: object) -> str:
        return "default"

    with isolated(system, path=[site]):
        answer = double("text")
        imported = {each.partition("_")[0] for each in sys.modules if each.count("_") == 1}
        return {
            "answer": answer,
            "reported": sorted(
                {p.source.distribution for p in system.problems if p.source is not None}
            ),
            "messages": [each.message for each in system.problems],
            "imported": imported & {"a", "b", "c"},
        }


# --- the command line --------------------------------------------------------------------

LIBRARY = """
from spatch_core import BackendSystem
system = BackendSystem("namelib.backends", "NAMELIB", ["builtins:int"])
@system.dispatchable("x")
def double(x):
    return "default"
"""


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    write_distribution(
        tmp_path,
        "name-lib",
        entry_points={"spatch_core.libraries": {"namelib": "namelib:system"}},
        files={"namelib/__init__.py": LIBRARY},
    )
    return tmp_path


def command(site: Path, *arguments: str, **variables: str) -> str:
    done = run_python(
        f"import sys; sys.argv = ['', *{arguments!r}]\n"
        "import runpy; runpy.run_module('spatch_core', run_name='__main__')",
        path=[site, CORE],
        environment={f"NAMELIB_{key}": value for key, value in variables.items()},
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_commands_tell_broken_ones_from_those_that_are_not_read(
    commands: Path, tally: Tally
) -> None:
    """Those behind the first usable one have no state; and what is blocked is neither."""
    for distribution, kind in (("a", "no-toml"), ("b", "file"), ("c", "raises")):
        install(commands, distribution, kind)
    (found,) = json.loads(command(commands, "list", "--json"))["libraries"]
    states = {each["distribution"]: each["state"] for each in found["backends"][1:]}
    tally.add(states == {"a": "broken", "b": "active"}, states)
    (found,) = json.loads(command(commands, "list", "--json", BLOCK="gpu"))["libraries"]
    tally.add([each["state"] for each in found["backends"][1:]] == ["blocked"], found)


def test_doctor_reports_broken_ones_as_errors_and_imports_no_blocked_one(
    commands: Path, tally: Tally
) -> None:
    install(commands, "a", "object")
    install(commands, "b", "file")
    install(commands, "c", "file")
    touch = commands / "touched"
    module = commands / "a_object" / "described.py"
    module.write_text(f"open({str(touch)!r}, 'w').close()\n1 / 0\n")
    found = json.loads(command(commands, "doctor", "--json"))["libraries"][0]
    severities = {each["distribution"]: each["severity"] for each in found["findings"]}
    tally.add(severities == {"a": "error", "b": "warning"}, found)
    touch.unlink()
    found = json.loads(command(commands, "doctor", "--json", BLOCK="gpu"))["libraries"][0]
    tally.add(not touch.exists(), "imported although it is blocked")
    tally.add(found["findings"] == [], found)


def test_unmet_requirements_never_displace_a_usable_one(
    tmp_path: Path, tally: Tally, scale: int
) -> None:
    """P7, D6: among broken, inactive and usable ones, in any number and order."""
    draw = random.Random(scale)
    for number in range(60 * scale):
        kinds = [draw.choice((*UNMET, *UNMET, *USABLE, *BROKEN)) for _ in range(3)]
        site = tmp_path / str(number)
        for distribution, kind in zip("abc", kinds, strict=True):
            install(site, distribution, kind)
        owners = dict(zip("abc", kinds, strict=True))
        usable = [name for name, kind in owners.items() if kind in USABLE]
        used = usable[0] if usable else None
        seen = observe(site)
        wanted = used or "default"
        # Without a usable one, the first that lacks a requirement is listed as inactive.
        shown = used or next((name for name, kind in owners.items() if kind in UNMET), None)
        # Those before it that are broken have a finding, and one names all of them.
        faulty = [
            name
            for name in "abc"
            if (owners[name] in BROKEN or owners[name] == "unreadable")
            and (used is None or name < used)
        ]
        others = sorted({*faulty, *filter(None, [shown])})
        held = seen["answer"] == wanted and seen["reported"] == others
        # Only a usable one that answers, and those before it in code, are imported.
        held = held and all(owners[each] not in UNMET for each in seen["imported"])
        tally.add(held, (kinds, seen))
        if used:
            (shared,) = [each for each in seen["messages"] if all(f"{d} in" in each for d in "abc")]
            tally.add(f"the backend of {used} is used" in shared, shared)
