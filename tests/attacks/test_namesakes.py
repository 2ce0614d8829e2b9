"""Distributions that offer backends of one name: a broken one never displaces a working one."""

from __future__ import annotations

import json
import random
import sys
from itertools import permutations, product
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


def library(**backends: Any) -> Any:
    system = BackendSystem(GROUP, "NAMELIB", ["builtins:int"], **backends)

    @system.dispatchable("x", module="namelib", qualname="double")
    def double(x: object) -> str:
        return "default"

    return system, double


def observe(site: Path, **variables: str) -> dict[str, Any]:
    """Return what is used, reported and imported."""
    system, double = library()
    given = {f"NAMELIB_{key}": value for key, value in variables.items()}
    with isolated(system, path=[site], environment=given):
        answer = double("text")
        imported = {each.partition("_")[0] for each in sys.modules if each.count("_") == 1}
        return {
            "answer": answer,
            "warnings": [str(each) for each in system._catalog().warnings()],
            "reported": sorted(
                {p.source.distribution for p in system.problems if p.source is not None}
            ),
            "imported": imported & {"a", "b", "c"},
            "prioritized": system.backend_opts().prioritized,
            "problems": system.problems,
            "blocked": sorted(system._catalog().blocked),
        }


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_one_never_displaces_a_working_one(
    tmp_path: Path, tally: Tally, scale: int, broken: str
) -> None:
    """P10: wherever it stands among them; and the warnings say which one is used."""
    for usable in USABLE if scale > 1 else USABLE[:1]:
        for number, kinds in enumerate(
            sorted(
                set(permutations([broken, usable, usable])) | {(broken, usable), (usable, broken)}
            )
        ):
            site = tmp_path / f"{usable}{number}"
            for distribution, kind in zip("abc", kinds, strict=False):
                install(site, distribution, kind)
            expected = "abc"[kinds.index(usable)]
            found = observe(site)
            others = sorted(set("abc"[: len(kinds)]) - {expected})
            tally.add(found["answer"] == expected, (kinds, found))
            tally.add(found["reported"] == others, (kinds, found["reported"]))
            tally.add(len(found["warnings"]) == len(others), found["warnings"])
            used = f"distribution {expected}"
            tally.add(all(used in each for each in found["warnings"]), found["warnings"])
            skipped = [each for each in found["warnings"] if f"(distribution {expected} " in each]
            tally.add(not skipped, skipped)


def test_several_broken_ones_each_say_what_is_wrong(tmp_path: Path, tally: Tally) -> None:
    for number, kinds in enumerate(product(BROKEN[:4], BROKEN[-4:])):
        site = tmp_path / str(number)
        for distribution, kind in zip("ab", kinds, strict=True):
            install(site, distribution, kind)
        found = observe(site)
        tally.add(found["answer"] == "default", found)
        tally.add(found["reported"] == ["a", "b"], found["reported"])
        tally.add(not any("used instead" in each for each in found["warnings"]), found)


def test_those_behind_the_first_usable_one_are_not_read(tmp_path: Path, tally: Tally) -> None:
    """P10: neither imported nor opened."""
    install(tmp_path, "a", "file")
    install(tmp_path, "b", "object")
    install(tmp_path, "c", "raises")
    found = observe(tmp_path)
    tally.add(found["answer"] == "a", found)
    tally.add(found["imported"] == {"a"}, found["imported"])
    texts = [each.message for each in found["problems"]]
    tally.add(
        texts == ["distribution a offers a backend of the same name, which is used instead"] * 2
    )


@pytest.mark.parametrize("kinds", [*product(USABLE, USABLE)], ids="-".join)
def test_the_environment_chooses_a_distribution(
    tmp_path: Path, tally: Tally, kinds: tuple[str, str]
) -> None:
    for distribution, kind in zip("ab", kinds, strict=True):
        install(tmp_path, distribution, kind)
    cases: list[tuple[dict[str, str], str, tuple[str, ...], list[str]]] = [
        ({}, "a", (), ["b"]),
        ({"PRIORITIZE": "gpu"}, "a", ("gpu",), ["b"]),
        ({"PRIORITIZE": "gpu@a"}, "a", ("gpu",), ["b"]),
        ({"PRIORITIZE": "gpu@b"}, "b", ("gpu",), ["a"]),
        ({"PRIORITIZE": "gpu@B"}, "b", ("gpu",), ["a"]),
        ({"PRIORITIZE": "none,gpu@b"}, "b", ("gpu",), ["a"]),
        ({"BLOCK": "gpu@a"}, "b", (), []),
        ({"BLOCK": "gpu@b"}, "a", (), []),
        ({"BLOCK": "gpu@a,gpu@b"}, "default", (), []),
        ({"BLOCK": "gpu"}, "default", (), []),
        ({"BLOCK": "*"}, "default", (), []),
        ({"BLOCK": "gpu@a", "PRIORITIZE": "gpu"}, "b", ("gpu",), []),
        ({"BLOCK": "gpu@a", "PRIORITIZE": "gpu@a"}, "b", (), []),
        ({"BLOCK": "gpu@b", "PRIORITIZE": "gpu@b"}, "a", (), []),
    ]
    for variables, answer, prioritized, reported in cases:
        found = observe(tmp_path, **variables)
        tally.add(found["answer"] == answer, (variables, found))
        tally.add(found["prioritized"] == prioritized, (variables, found["prioritized"]))
        tally.add(found["reported"] == reported, (variables, found["reported"]))
        tally.add(found["imported"] <= {answer}, (variables, found["imported"]))


def test_a_distribution_that_is_chosen_and_broken_is_not_replaced_in_first_place(
    tmp_path: Path, tally: Tally
) -> None:
    """The other one is used, but nobody has prioritized it."""
    install(tmp_path, "a", "file")
    install(tmp_path, "b", "no-toml")
    found = observe(tmp_path, PRIORITIZE="gpu@b")
    tally.add(found["answer"] == "a", found)
    tally.add(found["prioritized"] == (), found)
    tally.add("the backend of distribution a is used" in found["warnings"][0], found["warnings"])


@pytest.mark.parametrize("variable", ["PRIORITIZE", "BLOCK"])
def test_a_distribution_that_offers_no_such_backend_is_reported(
    tmp_path: Path, tally: Tally, variable: str
) -> None:
    """The backend of another one is neither prioritized nor blocked in its place."""
    install(tmp_path, "a", "file")
    for value in ("gpu@gone", "gpu@gpu", "gpu@aa", "gpu@default"):
        found = observe(tmp_path, **{variable: value})
        tally.add((found["answer"], found["prioritized"]) == ("a", ()), found)
        (problem,) = found["problems"]
        tally.add(problem.key == f"NAMELIB_{variable}" and "gpu@a" in problem.remedy, problem)
    found = observe(tmp_path, **{variable: "quantum@a"})
    tally.add(found["answer"] == "a" and found["problems"] == (), found)


BLOCKED = """
import json, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from spatch_core import BackendSystem

system = BackendSystem("namelib.backends", "NAMELIB")
list(system.backends)
places = [*opened, *(f"/{name}" for name in sys.modules)]
print(json.dumps([each for each in "abc" if any(f"/{each}_" in place for place in places)]))
"""


@pytest.mark.parametrize("kinds", [("file", "object", "raises"), ("object", "exits", "file")])
def test_what_is_blocked_is_never_read(
    tmp_path: Path, tally: Tally, kinds: tuple[str, ...]
) -> None:
    """Not even while another one of its name is looked for."""
    for distribution, kind in zip("abc", kinds, strict=True):
        install(tmp_path, distribution, kind)
    for blocked in ("a", "b", "c", "ab", "ac", "bc", "abc"):
        value = ",".join(f"gpu@{each}" for each in blocked)
        done = run_python(
            BLOCKED,
            path=[tmp_path, CORE],
            environment={"NAMELIB_BLOCK": value},
            options=["-W", "ignore"],
        )
        read = json.loads(done.stdout)
        tally.add(not {*blocked} & {*read}, (blocked, read))
        tally.add(bool(read) == (blocked != "abc"), (blocked, read))


@pytest.mark.parametrize(
    "value",
    [
        "gpu@",
        "@a",
        "gpu@@a",
        "gpu@a@b",
        "gpu@a b",
        "gpu@*",
        "*@a",
        "default@a",
        "gpu@a,gpu@b",
        "gpu@a>b",
    ],
)
def test_malformed_choices_are_ignored_whole(tmp_path: Path, tally: Tally, value: str) -> None:
    install(tmp_path, "a", "file")
    install(tmp_path, "b", "file")
    for variable in ("PRIORITIZE", "BLOCK", "SET_ORDER"):
        if (variable, value) == ("BLOCK", "gpu@a,gpu@b"):
            continue  # both are blocked
        found = observe(tmp_path, **{variable: value})
        tally.add((found["answer"], found["prioritized"]) == ("a", ()), found)
        keys = [each.key for each in found["problems"] if each.backend is None]
        tally.add(keys == [f"NAMELIB_{variable}"], found["problems"])


def test_the_librarys_own_goes_before_all_of_its_name(tmp_path: Path, tally: Tally) -> None:
    """Also before one that is chosen."""
    install(tmp_path, "a", "file")
    own = {"name": "gpu", "primary_types": ["builtins:str"]}
    for value in ("gpu", "gpu@a"):
        system, _ = library(backends=[own])
        with isolated(system, path=[tmp_path], environment={"NAMELIB_PRIORITIZE": value}):
            tally.add(system.backends["gpu"].in_code, value)
            expected = ("gpu",) if value == "gpu" else ()
            tally.add(system.backend_opts().prioritized == expected, value)


def test_options_name_backends_and_no_distributions(tmp_path: Path, tally: Tally) -> None:
    """The error says where a distribution is chosen."""
    install(tmp_path, "a", "file")
    install(tmp_path, "b", "file")
    system, _ = library()
    with isolated(system, path=[tmp_path]):
        for name in ("gpu@a", "gpu@b", "gpu@gone"):
            with pytest.raises(ValueError, match=f"NAMELIB_PRIORITIZE={name}") as raised:
                system.backend_opts(prioritize=name)
            tally.add("'gpu' comes from a;" in str(raised.value), raised.value)


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


@pytest.mark.parametrize(
    "arguments",
    [("list", "namelib"), ("show", "gpu"), ("explain", "namelib:double", "builtins:str")],
    ids=lambda each: each[0],
)
def test_commands_say_which_distribution_a_name_means(
    commands: Path, tally: Tally, arguments: tuple[str, ...]
) -> None:
    install(commands, "a", "file")
    install(commands, "b", "file")
    for value, used, other in (("gpu", "a", "b"), ("gpu@b", "b", "a")):
        found = " ".join(command(commands, *arguments, PRIORITIZE=value).split())
        meant = f"gpu means that of {used}; NAMELIB_PRIORITIZE=gpu@{other} chooses another"
        tally.add(meant in found, found)
    found = command(commands, *arguments, BLOCK="gpu@b")
    tally.add("means that of" not in found, found)


def test_commands_tell_broken_ones_from_shadowed_ones(commands: Path, tally: Tally) -> None:
    """In each place; and what is blocked is neither."""
    for distribution, kind in (("a", "no-toml"), ("b", "file"), ("c", "raises")):
        install(commands, distribution, kind)
    for variables, expected in (
        ({}, {"a": "broken", "b": "active", "c": "shadowed"}),
        ({"BLOCK": "gpu@a"}, {"a": "blocked", "b": "active", "c": "shadowed"}),
        ({"BLOCK": "gpu@b"}, {"a": "broken", "b": "blocked", "c": "broken"}),
        ({"PRIORITIZE": "gpu@c"}, {"a": "broken", "b": "active", "c": "broken"}),
    ):
        (library,) = json.loads(command(commands, "list", "--json", **variables))["libraries"]
        states = {each["distribution"]: each["state"] for each in library["backends"][1:]}
        tally.add(states == expected, states)


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
    tally.add(severities == {"a": "error", "c": "warning"}, found)
    touch.unlink()
    found = json.loads(command(commands, "doctor", "--json", BLOCK="gpu@a"))["libraries"][0]
    tally.add(not touch.exists(), "imported although it is blocked")
    severities = {each["distribution"]: each["severity"] for each in found["findings"]}
    tally.add(severities == {"c": "warning"}, found)


def test_unmet_requirements_never_displace_a_usable_one(
    tmp_path: Path, tally: Tally, scale: int
) -> None:
    """P10, D15: among broken, inactive and usable ones, in any number and order."""
    draw = random.Random(scale)
    for number in range(60 * scale):
        kinds = [draw.choice((*UNMET, *UNMET, *USABLE, *BROKEN)) for _ in range(3)]
        site = tmp_path / str(number)
        for distribution, kind in zip("abc", kinds, strict=True):
            install(site, distribution, kind)
        owners = dict(zip("abc", kinds, strict=True))
        usable = [name for name, kind in owners.items() if kind in USABLE]
        chosen = draw.choice(["", *"abc"])
        if chosen in usable:
            usable = [chosen]
        used = usable[0] if usable else None
        variables = {"PRIORITIZE": f"gpu@{chosen}"} if chosen in usable else {}
        seen = observe(site, **variables)
        wanted = used or "default"
        # Without a usable one, the first that lacks a requirement is listed as inactive.
        shown = used or next((name for name, kind in owners.items() if kind in UNMET), None)
        others = [name for name in "abc" if name != shown or owners[name] == "unreadable"]
        held = seen["answer"] == wanted and seen["reported"] == others
        # Only a usable one that answers, and those before it in code, are imported.
        held = held and all(owners[each] not in UNMET for each in seen["imported"])
        tally.add(held, (kinds, chosen, seen))
