"""Run tests of spatch_core on CPython 3.14 as WebAssembly: in Pyodide, with Node.js.

    python -m pip install --group pyodide
    python tools/pyodide_tests/in_pyodide.py                  # all tests that can run there
    python tools/pyodide_tests/in_pyodide.py tests/call -x    # arguments for pytest instead

The package under test is the pure-Python wheel, as in a browser. Needs a package index and a
registry of npm; the downloads are kept in .check/pyodide/. Tests that need processes, threads or
compiled packages, which Pyodide lacks, are skipped with the reason.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _environments import ROOT
from _webassembly import FOLDER, PYTHON, UnavailableError, get_pyodide, program, pure_wheel

HERE = Path(__file__).resolve().parent
NEEDED = ("pytest>=8.2", "hypothesis>=6.100", "sybil>=9", "cloudpickle>=3", "click", "rich")
"""Packages that the tests import. The newest pure-Python release of each is installed."""
OPTIONS = (
    # For tasks and deep recursion: WebAssembly is suspended while it waits, on a separate stack.
    "--experimental-wasm-jspi",
    "--stack-size=100000",
    "--wasm-stack-switching-stack-size=60000",
)
TESTS = (
    *("description", "discovery", "order", "state", "resolution", "call", "function"),
    *("switching", "test_hooks.py", "test_rules.py"),
)


def install_packages() -> Path:
    """Install the wheel of this checkout and the packages in `NEEDED`; return the folder."""
    wheel = pure_wheel()
    folder = FOLDER / f"site-{wheel.parent.name}"
    if not folder.exists():
        for old in FOLDER.glob("site-*"):
            shutil.rmtree(old)
        unfinished = FOLDER / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"]
        target = ["--target", str(unfinished), "--python-version", PYTHON]
        kind = ["--platform", "any", "--implementation", "py", "--only-binary", ":all:"]
        subprocess.run([*pip, *target, *kind, *NEEDED, str(wheel)], check=True)
        unfinished.rename(folder)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, help="see tools/part_of_tests.py")
    parser.add_argument("tests", nargs="*", help="files or folders; all by default")
    options, others = parser.parse_known_args()
    try:
        pyodide, packages = get_pyodide(), install_packages()
    except (UnavailableError, subprocess.CalledProcessError) as error:
        print(f"{error}\nPyodide or its packages are not available", file=sys.stderr)
        return 77  # PYODIDE_UNAVAILABLE in noxfile.py
    node = [program("node"), *OPTIONS, str(HERE / "run.mjs"), str(pyodide), str(packages)]
    tests = options.tests or [f"tests/{name}" for name in TESTS]
    plugins = ["-p", "refusals", "-p", "part_of_tests", "-p", "no:cacheprovider"]
    selection = ["-q", "-m", "not slow", f"--every={options.every}"]
    command = [*node, str(ROOT), *plugins, *selection, *others, *tests]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
