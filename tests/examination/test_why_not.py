"""``spatch-core explain --why-not``: every answer is followed, and the backend must run."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
BLEND = "paintlib.filters:blend"
FRACTION = "fractions:Fraction"
INT = "builtins:int"

# Calls a function as a remedy says, and prints the backend that ran last.
FOLLOW = """
import json, sys
from importlib import import_module

def find(identifier):
    module, qualname = identifier.split(":")
    return getattr(import_module(module), qualname)

function, remedy = json.loads(sys.argv[1])
from paintlib._dispatch import system

arguments = [find(each)() for each in remedy["types"]]
assumed = remedy["type"] and find(remedy["type"])
with system.backend_opts(remedy["prioritize"], remedy["disable"], assumed, trace=True) as trace:
    find(function)(*arguments)
print(json.dumps([[event.backend, event.outcome] for event in trace]))
"""


def implementing(types: str, *, more: str = "", asks: str = "") -> str:
    """Describe a backend that implements `blur`."""
    should_run = f'should_run = "paintlib.answers:{asks}"\n' if asks else ""
    return (
        f"primary_types = [{types}]\n{more}\n"
        f'[functions."{BLUR}"]\nfunction = "paintlib.answers:first"\n{should_run}'
    )


@pytest.fixture
def studio(paint: Site) -> Site:
    """The library, a backend for fractions, and functions that backends can use."""
    paint.install_library(
        {
            "paintlib/answers.py": """
                def first(x, *rest): return x
                def always(context, *args): return True
                def never(context, *args): return "not now"
                """
        }
    )
    paint.install_backend("oil", implementing(f'"{FRACTION}"'))
    return paint


def ask(site: Site, backend: str, *arguments: str, function: str = BLUR, **variables: str) -> Any:
    """Ask, follow every remedy that is offered, and return the answer."""
    answer = site.run("explain", function, *arguments, "--why-not", backend, "--json", **variables)
    assert (answer.code, answer.errors) == (0, "")
    why_not = answer.json["why_not"]
    assert why_not["backend"] == backend
    if why_not["outcome"] == "is not read":
        return why_not
    assert bool(why_not["remedies"]) == (why_not["outcome"] == "would run")
    for remedy in why_not["remedies"]:
        follow(site, backend, remedy, function=function, **variables)
    return why_not


def follow(site: Site, backend: str, remedy: Any, *, function: str, **variables: str) -> None:
    """Do what a remedy says in a program of its own."""
    done = subprocess.run(
        [site.python, "-W", "ignore", "-c", FOLLOW, json.dumps([function, remedy])],
        env=site.variables({**variables, **remedy["environment"]}),
        cwd=site.folder,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    events = json.loads(done.stdout)
    assert events[0][0] == backend, remedy
    assert remedy["outcome"] == "its should_run decides" or events == [[backend, "called"]]


def texts(answer: Any) -> list[str]:
    return [each["text"] for each in answer["remedies"]]


def test_it_may_run_already(studio: Site) -> None:
    """Then there is no remedy."""
    answer = ask(studio, "oil", FRACTION)
    assert (answer["outcome"], answer["reason"], answer["obstacles"]) == ("runs", "", [])
    output = studio.run("explain", BLUR, FRACTION, "--why-not", "oil").output
    assert "\n\nWhy not oil? It runs.\n\n" in output


def test_it_may_be_asked_already(studio: Site) -> None:
    """Its should_run decides with the arguments."""
    studio.install_backend("acrylic", implementing(f'"{FRACTION}"', asks="never"))
    assert ask(studio, "acrylic", FRACTION)["outcome"] == "its should_run decides"
    output = studio.run("explain", BLUR, FRACTION, "--why-not", "acrylic").output
    assert "\nWhy not acrylic? It is asked first; its should_run decides.\n\n" in output


def test_it_may_want_to_be_prioritized(studio: Site) -> None:
    """An option or a variable prioritizes it."""
    studio.install_backend(
        "water", implementing(f'"{FRACTION}"', more="requires_opt_in = true", asks="always")
    )
    answer = ask(studio, "water", FRACTION)
    assert "prioritize='water'" in answer["reason"]
    assert texts(answer) == [
        "with backend_opts(prioritize='water'); then its should_run decides",
        "set PAINTLIB_PRIORITIZE='water' in the environment; then its should_run decides",
    ]
    output = studio.run("explain", BLUR, FRACTION, "--why-not", "water").output
    remedies = "".join(f"  {text}\n" for text in texts(answer))
    assert output.endswith(
        f"Why not water? {answer['reason']}\n"
        f"Any one of these would put it first:\n{remedies}\n3 backends: oil runs\n"
    )


def test_the_librarys_own_types_can_be_taken_from_it(studio: Site) -> None:
    """An option or a variable does so on purpose."""
    studio.install_backend("water", implementing(f'"{INT}"'))
    answer = ask(studio, "water", INT)
    assert "unless a backend is prioritized" in answer["reason"]
    assert texts(answer) == [
        "with backend_opts(prioritize='water')",
        "set PAINTLIB_PRIORITIZE='water' in the environment",
    ]


def test_what_goes_before_it_can_be_put_behind(studio: Site) -> None:
    """It holds for every origin of the edge that puts another backend first."""
    studio.install_backend(
        "acrylic", implementing(f'"{FRACTION}"', more='higher_priority_than = ["water"]')
    )
    studio.install_backend("water", implementing(f'"{FRACTION}"'))
    answer = ask(studio, "water", FRACTION)
    assert answer["reason"].startswith("acrylic goes before it")
    assert "higher_priority_than" in answer["reason"]
    assert len(texts(answer)) == 2


def test_one_that_others_are_asked_before_can_be_put_first(studio: Site) -> None:
    """Otherwise it runs only if the others decline: the reason is what `explain` says."""
    studio.install_backend("acrylic", implementing(f'"{FRACTION}"', asks="always"))
    answer = ask(studio, "oil", FRACTION)
    assert answer["reason"].startswith("it runs unless one above does; acrylic goes before it")
    assert len(answer["remedies"]) == 2
    studio.install_backend("oil", implementing(f'"{FRACTION}"', asks="never"))
    reason = ask(studio, "oil", FRACTION)["reason"]
    assert reason.startswith("it would be asked: paintlib.answers:never decides; acrylic goes")
    assert "default" not in reason  # which is asked last


def test_options_that_are_given_stay_in_force(studio: Site) -> None:
    """Prioritized backends go before it; a disabled backend need not be disabled."""
    studio.install_backend("water", implementing(f'"{FRACTION}"'))
    answer = ask(studio, "water", FRACTION, "--prioritize", "oil")
    assert answer["reason"].startswith("oil goes before it")
    assert texts(answer) == ["with backend_opts(prioritize=['water', 'oil'])"]
    answer = ask(studio, "oil", FRACTION, "--disable", "oil", "--disable", "water")
    assert "disabled" in answer["reason"]
    assert texts(answer) == ["do not disable it, with backend_opts(disable='water')"]


def test_one_that_is_blocked_is_not_read(studio: Site) -> None:
    """The answer only says how to lift the block; other backends stay blocked."""
    studio.install_backend("water", "this is no TOML")
    for blocked, others in (("water,wax", "wax"), ("water", "")):
        answer = ask(studio, "water", FRACTION, PAINTLIB_BLOCK=blocked)
        assert "PAINTLIB_BLOCK" in answer["reason"]
        assert answer["outcome"] == answer["remedies"][0]["outcome"] == "is not read"
        assert answer["remedies"][0]["environment"] == {"PAINTLIB_BLOCK": others}
        assert answer["obstacles"] == []
    assert texts(ask(studio, "oil", FRACTION, PAINTLIB_BLOCK="*")) == [
        (
            "set PAINTLIB_BLOCK='water' in the environment, and ask again: a blocked backend is "
            "not read"
        )
    ]
    output = studio.run(
        "explain", BLUR, FRACTION, "--why-not", "water", PAINTLIB_BLOCK="water"
    ).output
    assert "To find out:\n  set PAINTLIB_BLOCK='' in the environment" in output


def test_one_that_does_not_implement_the_function_cannot(studio: Site) -> None:
    """The answer names the backends that do."""
    answer = ask(studio, "oil", FRACTION, FRACTION, function=BLEND)
    assert answer["outcome"] == "cannot run"
    assert answer["obstacles"] == [f"it does not implement {BLEND}; these do: default"]
    output = studio.run("explain", BLEND, FRACTION, "--why-not", "oil").output
    assert "Nothing makes it run here:\n  it does not implement" in output


def test_one_that_is_broken_cannot(studio: Site) -> None:
    """The answer has all its faults."""
    studio.install_backend("water", 'primary_types = ["x"]\nrequires_opt_in = 1\n')
    answer = ask(studio, "water", FRACTION)
    assert answer["outcome"] == "cannot run"
    first, second = answer["obstacles"]
    assert "key primary_types[0]: 'x' " in first
    assert "key requires_opt_in: 1 " in second


def test_a_circle_can_be_mended(studio: Site) -> None:
    """The remedy is the value of SET_ORDER that its problem names."""
    for one, other in (("acrylic", "water"), ("water", "acrylic")):
        studio.install_backend(
            one, implementing(f'"{FRACTION}"', more=f'higher_priority_than = ["{other}"]')
        )
    answer = ask(studio, "acrylic", FRACTION, PAINTLIB_BLOCK="oil")
    assert "cycle" in answer["reason"]
    assert texts(answer) == ["set PAINTLIB_SET_ORDER='acrylic>water' in the environment"]


def test_a_type_can_be_assumed(studio: Site) -> None:
    """The option `type` may help, or the description could name the type."""
    answer = ask(studio, "oil", "builtins:str")
    assert answer["reason"].startswith("it does not match")
    assert texts(answer) == ["with backend_opts(type=fractions.Fraction)"]
    (obstacle,) = answer["obstacles"]
    assert obstacle.endswith("would have to have builtins:str in primary_types")
    studio.install_backend("oil", implementing(f'"{FRACTION}", "builtins:str"'))
    assert ask(studio, "oil", "builtins:str")["outcome"] == "runs"


def test_a_type_it_does_not_know_keeps_it_from_running(studio: Site) -> None:
    """Remedies are its own types, or a description that accepts the other type."""
    studio.install_backend("water", implementing('"decimal:Decimal"'))
    studio.install_backend("oil", implementing(f'"{FRACTION}"').replace(BLUR, BLEND))
    answer = ask(studio, "oil", FRACTION, INT, function=BLEND)
    assert answer["reason"].startswith("it does not match")
    assert INT in answer["reason"]
    assert texts(answer) == [f"call it with {FRACTION}, {FRACTION}"]
    (obstacle,) = answer["obstacles"]
    assert obstacle.endswith(f"would have to have {INT} in secondary_types")
    studio.install_backend(
        "oil",
        implementing(f'"{FRACTION}"', more=f'secondary_types = ["{INT}"]').replace(BLUR, BLEND),
    )
    assert ask(studio, "oil", FRACTION, INT, function=BLEND)["outcome"] == "runs"


def test_a_type_that_is_only_accepted_is_not_enough(studio: Site) -> None:
    """One of its primary types must be there or be assumed, and it must be prioritized."""
    studio.install_backend(
        "water",
        implementing(f'"{FRACTION}"', more=f'secondary_types = ["{INT}"]\nrequires_opt_in = true'),
    )
    answer = ask(studio, "water", INT)
    assert texts(answer) == ["with backend_opts(prioritize='water', type=fractions.Fraction)"]


def test_types_that_are_not_here_are_not_assumed(studio: Site) -> None:
    """The remedy is a call with them, in an environment that has them."""
    studio.install_backend("water", implementing('"absent:Array", "builtins:len"'))
    run = studio.run("explain", BLUR, "builtins:str", "--why-not", "water", "--json")
    answer = run.json["why_not"]
    assert texts(answer) == ["call it with absent:Array"]
    follow_up = studio.run("explain", BLUR, "absent:Array", "--json")
    assert follow_up.json["selected"] == "water"


def test_the_library_itself_can_be_made_to_run(studio: Site) -> None:
    """Remedies disable the backends before it, or prioritize it if it matches."""
    studio.install_backend("water", implementing(f'"{FRACTION}"', asks="always"))
    answer = ask(studio, "default", FRACTION)
    assert texts(answer) == ["with backend_opts(disable=['oil', 'water'])"]
    assert ask(studio, "default", INT)["outcome"] == "runs"
    studio.install_backend("wax", implementing(f'"{INT}"'))
    answer = ask(studio, "default", INT, "--prioritize", "wax")
    assert texts(answer)[0] == "with backend_opts(prioritize=['default', 'wax'])"
    assert texts(answer)[-1] == "with backend_opts(disable='wax')"


def test_an_unknown_backend_is_wrong_usage(studio: Site) -> None:
    """The nearest name is offered."""
    answer = studio.run("explain", BLUR, INT, "--why-not", "oli")
    assert "no backend is named 'oli'; did you mean oil?" in answer.errors
    assert (answer.code, answer.output) == (2, "")


def test_one_that_converts_is_asked_for_its_conversions(studio: Site) -> None:
    """V4, V5: it runs under the policy; otherwise the option for it is a remedy."""
    conversions = 'to_default = "builtins:int"\nfrom_default = "decimal:Decimal"'
    blend = implementing('"decimal:Decimal"', more=conversions).replace(BLUR, BLEND)
    studio.install_backend("water", blend)
    arguments = (BLUR, "decimal:Decimal", "--why-not", "water", "--json")
    answer = studio.run("explain", *arguments).json["why_not"]
    assert (answer["outcome"], texts(answer)) == (
        "would run",
        ["with backend_opts(fallback='convert')"],
    )
    file = studio.folder / "paintlib" / "_dispatch.py"
    code = file.read_text(encoding="utf-8")
    file.write_text(code.replace('"PAINTLIB",', '"PAINTLIB", fallback="convert",'), "utf-8")
    assert studio.run("explain", *arguments).json["why_not"]["outcome"] == "runs"
