"""Make an environment in .demo/ and run the demonstration in it.

    python3 tools/demo.py

Needs Python 3.10 or newer and a package index; changes nothing outside .demo/. It accepts the
options of tools/demonstration.py: --enlarge, --picture.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - the README's reader may have an older one
    sys.exit("This needs Python 3.10 or newer; this is Python " + sys.version.split()[0])

import os
import subprocess

from _environments import ROOT, build_wheel, example_folders, install, make_environment

FOLDER = ROOT / ".demo"


def main() -> int:
    arguments = sys.argv[1:]
    if {"-h", "--help"} & {*arguments}:
        print(__doc__)
        return 0
    print("setting up in .demo/ (a minute or two the first time)", flush=True)
    python = make_environment(FOLDER / "environment")
    target = FOLDER / "environment" / "wheels"
    core, *examples = (build_wheel(python, each, target) for each in (ROOT, *example_folders()))
    wheels = [f"spatch-core[cli] @ {core.as_uri()}", *map(str, examples)]
    install(python, "--group", "demo", *wheels)
    # Without this, pip keeps an installed wheel of the same version.
    install(python, "--no-deps", "--force-reinstall", *wheels)
    print("running tools/demonstration.py", flush=True)
    if "--picture" not in arguments:
        arguments += ["--picture", str(FOLDER / "demonstration.png")]
    command = [str(python), str(ROOT / "tools" / "demonstration.py"), *arguments]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, env=kept, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
