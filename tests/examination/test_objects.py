"""Descriptions that are objects, whose imports end the process."""

from __future__ import annotations

import pytest

from spatch_core.testing import write_distribution
from tests.cli.conftest import Site

ENDS = """
    import os

    print("noise")
    os._exit(0)
"""
GOOD = """
name = "chalk"
primary_types = ["fractions:Fraction"]
functions = {}
"""
FIELDS = """
    import os

    class Backend:
        name = "wax"

        @property
        def primary_types(self):
            os.abort()

    backend = Backend()
"""


def install(site: Site, name: str, code: str, qualname: str = "") -> None:
    write_distribution(
        site.folder,
        f"paint-{name}",
        "1.0",
        entry_points={"paintlib.backends": {name: f"paint_{name}{qualname}"}},
        files={f"paint_{name}.py": code},
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "paintlib", "--json"),
        ("show", "paintlib"),
        ("show", "chalk"),
        ("explain", "paintlib.filters:blur", "builtins:int"),
    ],
    ids=" ".join,
)
def test_a_backend_that_ends_the_interpreter_is_told(
    site: Site, arguments: tuple[str, ...]
) -> None:
    """The command reports it, and does not end with exit code 0."""
    site.install_library()
    install(site, "chalk", GOOD)
    install(site, "water", ENDS)
    answer = site.run(*arguments)
    assert answer.code in (1, 2)
    text = " ".join((answer.output + answer.errors).split())
    assert "reading the description of 'water' ended the interpreter with exit code 0" in text
    assert "PAINTLIB_BLOCK=water" in text
    if "--json" in arguments:
        (library,) = answer.json["libraries"]
        assert library["problems"][0]["remedy"].endswith("PAINTLIB_BLOCK=water")

    blocked = site.run(*arguments, PAINTLIB_BLOCK="water")
    assert "ended the interpreter" not in blocked.output + blocked.errors
    assert blocked.code == 0
    assert "noise" not in blocked.errors


def test_a_description_whose_fields_end_the_interpreter(site: Site) -> None:
    """Reading the fields may end it after the import; blocked backends stay blocked."""
    site.install_library()
    install(site, "water", ENDS)
    install(site, "wax", FIELDS, ":backend")
    answer = site.run("list", "paintlib", PAINTLIB_BLOCK="water")
    assert answer.code == 1
    assert "reading the description of 'wax' crashed the interpreter (SIGABRT)" in answer.output
    assert "Repair or uninstall paint-wax, or block the backend" in answer.output
    assert "PAINTLIB_BLOCK=water,wax" in answer.output


def test_what_an_object_prints_is_printed_once(site: Site) -> None:
    """The object is read twice, but its output appears once."""
    site.install_library()
    install(site, "chalk", "print('noise')\n" + GOOD)
    answer = site.run("list", "paintlib")
    assert (answer.code, answer.errors) == (0, "noise\n")
    assert answer.row("chalk")[1] == "active"
