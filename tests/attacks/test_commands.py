"""Attacks of backends on the commands: their imports are hostile to whatever examines them."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import write_distribution
from tests.cli.conftest import Site, site

if TYPE_CHECKING:
    from tests.attacks.conftest import Tally

__all__ = ["site"]

pytestmark = pytest.mark.slow

OBJECT = """
    name = "{name}"
    primary_types = ["fractions:Fraction"]
    functions = {{"paintlib.filters:blur": {{"function": "paint_{name}:blur"}}}}

    def blur(x):
        return x
"""


def install(site: Site, name: str, code: str = "", *, after: str = "") -> None:
    """Install a backend whose description is a module; its import runs `code` and `after`."""
    write_distribution(
        site.folder,
        f"paint-{name}",
        "1.0",
        entry_points={"paintlib.backends": {name: f"paint_{name}"}},
        files={f"paint_{name}.py": dedent(code) + dedent(OBJECT.format(name=name)) + dedent(after)},
    )


def install_file(site: Site, name: str, code: str = "") -> None:
    """Install a backend whose description is a file; its implementation's import runs `code`."""
    site.install_backend(
        name,
        f"""
        primary_types = ["fractions:Fraction"]
        [functions."paintlib.filters:blur"]
        function = "paint_{name}.impl:blur"
        """,
    )
    text = f"{dedent(code)}\ndef blur(x):\n    return x\n"
    (site.folder / f"paint_{name}" / "impl.py").write_text(text)


@contextmanager
def fresh(site: Site) -> Iterator[None]:
    """Begin with the library alone, in an empty folder."""
    site.install_library()
    yield
    for path in site.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def states(site: Site, *, timeout: str = "20", **variables: str) -> tuple[Any, dict[str, Any]]:
    """Run doctor; return its answer, and the record of each backend by name."""
    answer = site.run("doctor", "paintlib", "--json", "--timeout", timeout, **variables)
    (library,) = answer.json["libraries"]
    return library, {each["name"]: each for each in library["backends"]}


# Values of BLOCK, all of which have a name that must not be touched: secret.
BLOCKED = {
    "plain": {"PAINTLIB_BLOCK": "secret"},
    "all": {"PAINTLIB_BLOCK": "*"},
    "all but one": {"PAINTLIB_BLOCK": "*,!zinc"},
    "prioritized": {"PAINTLIB_BLOCK": "secret", "PAINTLIB_PRIORITIZE": "secret"},
    "others malformed": {
        "PAINTLIB_BLOCK": "secret",
        "PAINTLIB_PRIORITIZE": "secret,?",
        "PAINTLIB_SET_ORDER": "secret>",
    },
    "circular order": {"PAINTLIB_BLOCK": "secret", "PAINTLIB_SET_ORDER": "secret>oil>secret"},
}
COMMANDS = {
    "doctor": ("doctor", "paintlib"),
    "list": ("list",),
    "show": ("show", "oil"),
    "show the blocked": ("show", "secret"),
    "library": ("show", "paintlib"),
    "explain": ("explain", "paintlib.filters:blur", "fractions:Fraction", "--why-not", "oil"),
    "why not": ("explain", "paintlib.filters:blur", "builtins:int", "--why-not", "secret"),
    "verify": ("verify", "paint_oil/backend.toml"),
    "update": ("update", "--check", "paint_oil/backend.toml"),
    "new-backend": ("new-backend", "paintlib", "gold", "--type", "decimal:Decimal"),
}
# With scale 1.
AT_FIRST = {"doctor": ["others malformed"], "list": ["circular order", "prioritized"]}


@pytest.fixture
def guarded(site: Site) -> Site:
    """A library with two usable backends, and one whose import leaves a mark."""
    site.install_library()
    install(site, "secret", f"open({str(site.folder / 'imported')!r}, 'w').close()\n")
    install_file(site, "oil")
    install_file(site, "zinc")
    return site


@pytest.mark.parametrize(
    "command", AT_FIRST if os.environ.get("ATTACK_SCALE", "1") == "1" else COMMANDS
)
def test_what_is_blocked_is_never_imported(
    guarded: Site, tally: Tally, scale: int, command: str
) -> None:
    """S8: whatever else is wrong with the variables."""
    kinds = BLOCKED if scale > 1 else AT_FIRST[command]
    mark = guarded.folder / "imported"
    for kind in kinds:
        answer = guarded.run(*COMMANDS[command], **BLOCKED[kind])
        tally.add(not mark.exists() and answer.code in (0, 1, 2), (kind, answer))
        mark.unlink(missing_ok=True)


ENDINGS = {
    "exit code": ("import os; os._exit(0)", "ended the interpreter with exit code 0"),
    "killed": (
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "crashed the interpreter (SIGKILL)",
    ),
    "abort": ("import os; os.abort()", "crashed the interpreter (SIGABRT)"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "crashed the interpreter (SIGSEGV)"),
    "sys.exit": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "hang": ("import time; time.sleep(600)", "took longer than 3 s and was ended"),
}


def together(kinds: Iterable[str], scale: int) -> list[list[str]]:
    """Return which attacks are made at once: all of them; with a greater scale, each alone too."""
    return [[*kinds], *([[each] for each in kinds] if scale > 1 else [])]


@pytest.mark.parametrize("install_it", [install_file, install])
def test_one_that_ends_its_process_breaks_no_other(
    site: Site, tally: Tally, scale: int, install_it: Any
) -> None:
    """E1: its own finding says which import ended the process, and how."""
    first = ("segfault", "hang") if install_it is install_file else ("exit code",)
    chosen = ENDINGS if scale > 1 else first
    for kinds in together(chosen, scale):
        with fresh(site):
            names = {f"bad{number}": kind for number, kind in enumerate(kinds)}
            for name, kind in names.items():
                install_it(site, name, f"{ENDINGS[kind][0]}\n")
            install_file(site, "oil")
            install(site, "wax")
            library, found = states(site, timeout="3")
            for name, kind in names.items():
                own = [
                    f"{each['message']} ({each['entry_point']})"
                    for each in library["findings"]
                    if each["backend"] == name
                ]
                told = any(ENDINGS[kind][1] in each and name in each for each in own)
                tally.add(told and found[name]["errors"] > 0, (kind, own))
            others = [e for e in library["findings"] if e["backend"] not in names]
            tally.add(others == [] and is_sound(found), (kinds, library))


def is_sound(found: dict[str, Any]) -> bool:
    """Whether the two harmless backends are found to be so."""
    both = found["oil"], found["wax"]
    return all((each["state"], each["errors"]) == ("active", 0) for each in both)


STARTS = """
    import {module}, os, sys
    CODE = "import os, time; open({pids!r}, 'a').write(f'{{os.getpid()}}\\\\n'); time.sleep(600)"
    {start}
"""
PROCESSES = {
    "subprocess": ("subprocess", "subprocess.Popen([sys.executable, '-c', CODE])"),
    "fork": ("os", "os.fork() or exec(CODE)"),
    "of a shell": ("os", "os.system(f'{sys.executable} -c \"{CODE}\" &')"),
    "ignoring signals": (
        "signal",
        "signal.pthread_sigmask(0, signal.valid_signals())\n    os.fork() or exec(CODE)",
    ),
    "and then it ends": ("os", "os.fork() and os._exit(1)\n    exec(CODE)"),
    "and then it hangs": (
        "subprocess",
        "subprocess.Popen([sys.executable, '-c', CODE])\n    import time; time.sleep(600)",
    ),
}


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits for its parent to notice its end does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux which processes run")
def test_processes_of_an_import_end_with_it(site: Site, tally: Tally, scale: int) -> None:
    """Those that the import started and left running in its group."""
    for kinds in together(PROCESSES, scale):
        with fresh(site):
            for number, kind in enumerate(kinds):
                pids = site.folder / f"pids{number}"
                module, start = PROCESSES[kind]
                code = STARTS.format(module=module, pids=str(pids), start=start)
                install_file(site, f"bad{number}", code)
            site.run("doctor", "paintlib", "--json", "--timeout", "3")
            for number, kind in enumerate(kinds):
                pids = site.folder / f"pids{number}"
                started = [int(each) for each in pids.read_text().split()] if pids.exists() else []
                alive = [pid for pid in started if is_alive(pid)]
                for pid in alive:
                    os.kill(pid, 9)
                tally.add(not alive, (kind, alive))


def f(x: object) -> None:
    """Give its code to the functions of a library."""


DOCS = {
    "a prompt": ">>> 1 / 0",
    "indented": "Text.\n\n        >>> 1 / 0\n    1",
    "a literal block": "Example::\n\n    >>> 1 / 0",
    "tabs": "Text\n\t>>> 1 / 0",
    "line separators": "Text\u2028>>> 1 / 0\x0b>>> 1 / 0\r>>> 1 / 0\x85>>> 1 / 0\x1c>>> 1 / 0",
    "many prompts": ">>> x = 1\n>>> x\n2\n... 3\n>>> 1 / 0",
    "no space": "Text\n>>>",
    "a quote": "\n\n\n>>>\t1 / 0\n",
    "unusual spaces": "\u3000>>> 1 / 0\n\xa0>>> 1 / 0\n\ufeff>>> 1 / 0",
    "an option": ">>> 1 / 0  # doctest: +SKIP",
    "continuation": "... 1 / 0\n... 2",
    "expected output": "3\n4",
}


@pytest.mark.parametrize("margin", ["", "    ", "\t"])
@pytest.mark.parametrize("own", ["", ">>> 1 + 1\n2"])
def test_additional_docs_are_no_doctests(tally: Tally, margin: str, own: str) -> None:
    """F5: only the library's own examples are found, and they pass."""
    for kind, docs in DOCS.items():
        lines = ["Double.", "", *own.splitlines(), ""]
        doc = "\n".join([lines[0], *(margin + each for each in lines[1:])])
        system = BackendSystem(
            None,
            "MYLIB",
            ["builtins:float"],
            [
                {
                    "name": "bad",
                    "primary_types": ["builtins:int"],
                    "functions": {"attacked:f": {"function": "os:getcwd", "additional_docs": docs}},
                }
            ],
        )
        module: Any = ModuleType("attacked")
        function = FunctionType(f.__code__, module.__dict__, "f")
        function.__doc__ = doc
        module.f = system.dispatchable("x")(function)
        assert list(system.backends)
        assert "Backends" in module.f.__doc__
        found = doctest.DocTestFinder().find(module.f, "f", module)
        examples = [each for test in found for each in test.examples]
        runner = doctest.DocTestRunner(verbose=False)
        failed = sum(runner.run(test, out=lambda text: None).failed for test in found)
        tally.add(len(examples) == bool(own) and not failed, (kind, module.f.__doc__))


def test_pytest_runs_only_the_librarys_doctests(tmp_path: Path, tally: Tally) -> None:
    """F5: with --doctest-modules, once the backends are loaded."""
    (tmp_path / "painting.py").write_text(
        dedent(
            f'''
            from spatch_core import BackendSystem

            system = BackendSystem(None, "P", ["builtins:int"], [{{
                "name": "bad", "primary_types": ["builtins:float"],
                "functions": {{"painting:f": {{
                    "function": "os:getcwd", "additional_docs": {"".join(DOCS.values())!r},
                }}}},
            }}])

            @system.dispatchable("x")
            def f(x):
                """Return it.

                >>> f(1)
                1
                """
                return x

            assert "bad" in system.backends
            '''
        )
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--doctest-modules", "-p", "no:cacheprovider",
         "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True, check=False, text=True, cwd=tmp_path,
    )  # fmt: skip
    tally.add(done.returncode == 0 and "1 passed" in done.stdout, done.stdout)
