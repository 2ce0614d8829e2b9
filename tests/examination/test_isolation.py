"""Descriptions whose imports end the process, or change the state that all code shares."""

from __future__ import annotations

import builtins
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from spatch_core.examination.isolation import imported_apart, unchanged_process
from spatch_core.testing import write_distribution
from tests.cli.conftest import Site

HOSTILE = """
import builtins, json, os, signal, sys
os.environ["ISOLATED"] = "changed"
os.chdir("/")
sys.path.clear()
sys.meta_path.insert(0, None)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
sys.setrecursionlimit(sys.getrecursionlimit() + 1)
builtins.open = json.dumps = None
from pathlib import Path
Path.open = Path.read_text = Path.exists = Path.added = None
with os.fdopen(os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a") as log:
    log.write("run ")
raise {error}
"""


def shared_state() -> tuple[object, ...]:
    return (
        dict(os.environ), os.getcwd(), sys.path[:], sys.meta_path[:], sys.getrecursionlimit(),
        signal.getsignal(signal.SIGUSR1), builtins.open, json.dumps, dict(vars(Path)),
    )  # fmt: skip


@pytest.mark.parametrize("error", ["OSError('no')", "SystemExit(3)", "BaseException('no')"])
def test_an_import_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    """A module that fails is run once, and its exception is raised again."""
    log = tmp_path / "log"
    (tmp_path / "hostile_pkg").mkdir()
    (tmp_path / "hostile_pkg" / "__init__.py").write_text(HOSTILE.format(log=str(log), error=error))
    (tmp_path / "harmless_mod.py").write_text("import os; seen = os.environ.get('ISOLATED')")
    monkeypatch.syspath_prepend(tmp_path)
    before = shared_state()
    with imported_apart(["hostile_pkg.sub", "harmless_mod"]):
        with pytest.raises((OSError, SystemExit, BaseException), match=r"no|3"):
            __import__("hostile_pkg.sub")
        harmless = sys.modules.pop("harmless_mod")
    assert harmless.seen is None
    assert shared_state() == before
    assert log.read_text() == "run "


def test_an_interrupt_is_no_fault_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the examination, and the changes of the import are undone."""
    log = str(tmp_path / "log")
    (tmp_path / "interrupted_mod.py").write_text(HOSTILE.format(log=log, error="KeyboardInterrupt"))
    monkeypatch.syspath_prepend(tmp_path)
    before = shared_state()
    with pytest.raises(KeyboardInterrupt), imported_apart(["interrupted_mod"]):
        pass
    assert shared_state() == before


def test_a_folder_may_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is not restored."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with unchanged_process():
        os.chdir(tmp_path)
    assert os.getcwd() == str(tmp_path)


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
        ("list", "paintlib"),
        ("list", "paintlib", "--json"),
        ("libraries",),
        ("show", "chalk"),
        ("order", "paintlib"),
        ("functions", "paintlib"),
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
