"""``spatch-core replay-check``: whether this environment would choose the same backends."""

from __future__ import annotations

import subprocess
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from spatch_core.testing import run_python

if TYPE_CHECKING:
    from tests.cli.conftest import Site

OIL = "def blur(x):\n    return 'oil'\n"
BLUR, BLEND = "paintlib.filters:blur", "paintlib.filters:blend"
PROGRAM = """
from fractions import Fraction

from paintlib._dispatch import system
from paintlib.filters import blend, blur
from spatch_core import hooks

with hooks.record("run.json") as recorded, system.backend_opts(hook=recorded):
    blur(Fraction(1))
    blur(Fraction(2))
    blur(1)
    blend(1, 2)
    blend.invoke(backend="default")(Fraction(1), 2)
"""


@pytest.fixture
def recorded(paint: Site) -> Site:
    """A site with the record of a program."""
    (paint.folder / "paint_oil" / "__init__.py").write_text(OIL)
    subprocess.run(
        [paint.python, "-c", PROGRAM], cwd=paint.folder, env=paint.variables({}), check=True
    )
    return paint


def test_the_same_environment_chooses_the_same(recorded: Site) -> None:
    """Each choice has a line, the last line is a summary, and the exit code is 0."""
    answer = recorded.run("replay-check", "run.json")
    assert answer.rows[:2] == [
        ["FUNCTION", "TYPES", "BACKEND", "OUTCOME"],
        [BLEND, "builtins:int", "default", "same"],
    ]
    assert answer.output.endswith("\n4 recorded choices: 4 same\n")
    assert [row[-1] for row in answer.rows if row[0] in (BLUR, BLEND)] == ["same"] * 4
    assert (answer.code, answer.errors) == (0, "")


def test_another_version(recorded: Site) -> None:
    """The reason has both versions; the exit code is 1."""
    (metadata,) = recorded.folder.glob("paint_oil-*.dist-info/METADATA")
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 1.1"))
    answer = recorded.run("replay-check", "run.json")
    assert answer.code == 1
    assert (
        f"  {BLUR}(fractions:Fraction): paint-oil 1.1 here, paint-oil 1.0 in the record\n"
        in answer.output
    )
    assert answer.output.endswith("\n4 recorded choices: 3 same, 1 other version\n")


def test_another_backend_goes_first(recorded: Site) -> None:
    """A backend that goes first has been installed since the record."""
    recorded.install_backend(
        "acryl",
        f"""
        primary_types = ["fractions:Fraction"]
        [functions."{BLUR}"]
        function = "paint_acryl:blur"
        """,
    )
    answer = recorded.run("replay-check", "run.json")
    assert answer.code == 1
    assert (
        f"  {BLUR}(fractions:Fraction): before oil come: acryl; in the record: none\n"
        in answer.output
    )


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"PAINTLIB_BLOCK": "oil"}, "backend 'oil' is not installed, or cannot be used"),
        ({"PAINTLIB_PRIORITIZE": "oil"}, ""),
    ],
    ids=["blocked", "prioritized"],
)
def test_the_environment_decides(recorded: Site, variables: dict[str, str], reason: str) -> None:
    answer = recorded.run("replay-check", "run.json", **variables)
    assert answer.code == (1 if reason else 0)
    assert reason in answer.output


def test_options_of_the_program(paint: Site) -> None:
    """They are in force when the choice is repeated."""
    (paint.folder / "paint_oil" / "__init__.py").write_text(OIL)
    program = PROGRAM.replace("hook=recorded", "hook=recorded, disable='oil', type=Fraction")
    subprocess.run(
        [paint.python, "-c", program], cwd=paint.folder, env=paint.variables({}), check=True
    )
    found = paint.run("replay-check", "run.json", "--json").json
    assert found["same"] is True
    (choice,) = [
        each
        for each in found["choices"]
        if each["function"] == BLUR and each["types"] == ["fractions:Fraction"]
    ]
    assert choice == {
        "function": BLUR,
        "types": ["fractions:Fraction"],
        "backend": "default",
        "outcome": "same",
        "reason": "",
        "recorded": {"distribution": "paint-lib", "version": "2.5"},
        "here": {"distribution": "paint-lib", "version": "2.5"},
        "options": {
            "prioritize": [],
            "disable": ["oil"],
            "type": "fractions:Fraction",
            "fallback": None,
            "backend": None,
        },
        "invoked": False,
        "count": 2,
    }


def install_models(paint: Site, option: str, more: str = "") -> None:
    """Install a library of estimators, whose system has an option."""
    paint.install_library(
        {
            "paintlib/_dispatch.py": f"""
                from spatch_core import BackendSystem

                system = BackendSystem("paintlib.backends", "PAINTLIB", ["builtins:int"], {option})
                """,
            "paintlib/filters.py": dedent(
                """
                from ._dispatch import system

                class Model:
                    @system.dispatchable("x", decides=True)
                    def fit(self, x):
                        return self

                    @system.dispatchable("x", follows="fit")
                    def predict(self, x):
                        return "default"
                """
            )
            + dedent(more),
        }
    )


def test_what_types_and_instances_have_chosen(paint: Site) -> None:
    """K4, K7: a type that overrides, and a remembered backend; options have no say in both."""
    over = """
        class Over:
            @classmethod
            def __paintlib__(cls, *call):
                return "over"
        """
    install_models(paint, 'protocol="__paintlib__"', over)
    names = [f"paintlib.filters:Model.{each}" for each in ("fit", "predict")]
    toml = "".join(f'[functions."{each}"]\nfunction = "paint_wax:f"\n' for each in names)
    opted = 'primary_types = ["builtins:int"]\nrequires_opt_in = true\n'
    paint.install_backend("wax", opted + toml, "def f(self, x):\n    return self\n")
    program = """
        import os
        from paintlib._dispatch import system
        from paintlib.filters import Model, Over
        from spatch_core import hooks

        with hooks.record(os.environ["RUN"]) as recorded, system.backend_opts(hook=recorded):
            with system.backend_opts(prioritize="wax"):
                model = Model().fit(1)
            model.predict(2)
            Model().predict(2)
            assert Model().fit(Over()) == "over"
        """
    run_python(program, path=[paint.folder], environment={"RUN": str(paint.folder / "run.json")})
    found = paint.run("replay-check", "run.json", "--json").json["choices"]
    assert {(each["backend"], each["invoked"], each["outcome"]) for each in found} == {
        ("wax", False, "same"),
        ("default", False, "same"),
        ("wax", True, "same"),
        ("__paintlib__", False, "same"),
    }
    paint.install_backend("wax", opted)
    output = paint.run("replay-check", "run.json").output
    assert "Model.predict(builtins:int): wax does not implement the function here" in output


def test_conversions_and_policies(paint: Site) -> None:
    """V4, V5, K7: options have the policy; a fitted instance does not name what converts."""
    install_models(paint, 'fallback="raise"')
    fit, predict = (f"paintlib.filters:Model.{each}" for each in ("fit", "predict"))
    paint.install_backend(
        "wax",
        f"""
        primary_types = ["decimal:Decimal"]
        to_default = "builtins:int"
        from_default = "decimal:Decimal"
        [functions."{fit}"]
        function = "paint_wax:fit"
        """,
        "def fit(self, x):\n    return self\n",
    )
    paint.install_backend(
        "ink",
        f"""
        primary_types = ["decimal:Decimal"]
        [functions."{predict}"]
        function = "paint_ink:predict"
        """,
        "def predict(self, x):\n    return NotImplemented\n",
    )
    program = """
        import os
        from decimal import Decimal
        from paintlib._dispatch import system
        from paintlib.filters import Model
        from spatch_core import hooks

        with hooks.record(os.environ["RUN"]) as recorded, system.backend_opts(hook=recorded):
            model = Model().fit(Decimal(1))
            with system.backend_opts(fallback="convert"):
                assert model.predict(Decimal(1)) == "default"
            with system.backend_opts(fallback="default"):
                assert Model().predict(Decimal(1)) == "default"
        """
    run_python(program, path=[paint.folder], environment={"RUN": str(paint.folder / "run.json")})
    found = paint.run("replay-check", "run.json", "--json").json["choices"]
    assert [
        (each["backend"], each["options"]["fallback"], each["invoked"], each["outcome"])
        for each in found
    ] == [
        ("wax", None, False, "same"),
        ("default", "default", False, "same"),
        ("wax", "convert", False, "same"),
    ]
    paint.install_backend("wax", 'primary_types = ["decimal:Decimal"]')
    output = paint.run("replay-check", "run.json").output
    assert "Model.predict(decimal:Decimal): here, wax has no implementation" in output


def test_a_library_that_is_not_there(recorded: Site) -> None:
    """Each of its functions is reported."""
    path = recorded.folder / "run.json"
    path.write_text(path.read_text().replace("paintlib.filters", "absentlib.filters"))
    answer = recorded.run("replay-check", "run.json")
    assert answer.code == 1
    assert answer.output.endswith("\n4 recorded choices: 4 not found\n")
    assert "no library has a function 'absentlib.filters:blur' (" in answer.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "Expecting value"),
        ("[]", "list indices must be integers"),
        ("{}", "it lacks 'format'"),
        ('{"format": 2, "calls": []}', "it has format 2; this version reads 1"),
        ('{"format": 1, "calls": [{}]}', "it lacks 'options'"),
    ],
    ids=["no JSON", "no record", "no format", "later", "no options"],
)
def test_files_that_are_no_records(paint: Site, text: str, message: str) -> None:
    """One line says what is wrong; the exit code is 1."""
    (paint.folder / "run.json").write_text(text)
    answer = paint.run("replay-check", "run.json")
    assert answer.code == 1
    assert answer.errors.startswith(f"Error: run.json is not a record of hooks.record: {message}")
    assert answer.errors.count("\n") == 1
