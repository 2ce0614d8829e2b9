"""Set up an environment in .demo/ and run the demonstration in it.

    python3 tools/demo.py

Needs Python 3.10 or newer and a package index; changes nothing outside .demo/.
"""

from __future__ import annotations

import subprocess
import sys

if sys.version_info < (3, 10):  # noqa: UP036 - the one who runs this may not know
    sys.exit("This needs Python 3.10 or newer; this is Python " + sys.version.split()[0])

import argparse

from _progress import Progress
from _workshop import (
    ROOT,
    Distribution,
    SetupError,
    Workshop,
    clean_environment,
    example_distributions,
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Set up an environment in .demo/ and run the demonstration in it.",
        epilog="Other options are those of tools/demonstration.py: --enlarge, --picture.",
    )
    _, arguments = parser.parse_known_args()
    progress = Progress()
    try:
        workshop = Workshop(ROOT / ".demo", progress)
        progress.say("setting up in .demo/ (a minute or so the first time)")
        running = sys.version_info[:2]
        interpreter = next(
            (each for each in workshop.interpreters if each.version[:2] == running),
            workshop.interpreters[-1],
        )
        python = workshop.environment(
            "demo",
            interpreter,
            [Distribution(ROOT), *example_distributions()],
            groups=["demo"],
            extras="cli",
        )
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    progress.say("running tools/demonstration.py")
    command = [str(python), str(ROOT / "tools" / "demonstration.py"), *arguments]
    if "--picture" not in arguments:
        command += ["--picture", str(workshop.folder / "demonstration.png")]
    return subprocess.run(command, env=clean_environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
