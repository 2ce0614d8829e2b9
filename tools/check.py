"""Make an environment with nox in .check/ and run the tests and checks of the project.

    python3 tools/check.py                     # those that find most faults, in minutes
    python3 tools/check.py --all               # all of them, as before a merge
    python3 tools/check.py --only types core   # some; core means core-3.10, core-3.11 and so on
    python3 tools/check.py --list              # their names

Needs Python 3.10 or newer and a package index; changes nothing outside .check/ except the
caches of the tools. The checks are the sessions of noxfile.py; other options are those of nox.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - the README's reader may have an older one
    sys.exit("This needs Python 3.10 or newer; this is Python " + sys.version.split()[0])

import argparse
import json
import shutil
import subprocess

from _environments import ROOT, install, make_environment


def matching(names: list[str], wanted: str) -> list[str]:
    """Return the step of this name, or all steps whose names begin with it and a hyphen."""
    return [name for name in names if name == wanted or name.startswith(f"{wanted}-")]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="STEP", help="run these steps alone")
    parser.add_argument("--all", action="store_true", help="run all steps")
    parser.add_argument("--list", action="store_true", help="print the names of the steps")
    parser.add_argument("--fresh", action="store_true", help="make every environment anew")
    options, others = parser.parse_known_args()

    if options.fresh:
        shutil.rmtree(ROOT / ".check", ignore_errors=True)
    print("setting up nox in .check/", flush=True)
    python = make_environment(ROOT / ".check" / "nox")
    install(python, "--group", "nox")
    install(python, "--only-binary=:all:", "uv", optional=True)  # pip does the same, slowly
    nox = [str(python), "-m", "nox", "--noxfile", str(ROOT / "noxfile.py")]
    if options.list:
        return subprocess.run([*nox, "--list", *others], check=False).returncode
    listed = subprocess.run([*nox, "--list", "--json"], stdout=subprocess.PIPE, check=True)
    names = [session["session"] for session in json.loads(listed.stdout)]
    if options.only:
        nox.append("--sessions")
        for only in options.only:
            named = matching(names, only)
            if not named:
                parser.error(f"no step {only!r}; steps are: {', '.join(names)}")
            nox += named
    elif not (options.all or others):
        nox += ["--tags", "quick"]
    return subprocess.run([*nox, *others], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
