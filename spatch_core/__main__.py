"""Run the command line: ``spatch-core`` or ``python -m spatch_core``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("click", "jinja2", "packaging", "rich", "tomlkit")


def main() -> None:
    """Run the command line, or print which packages of the extra ``cli`` it lacks; always exits.

    Raises
    ------
    SystemExit
        With the exit code: 0 fine, 1 problems found, 2 wrong usage.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"spatch-core needs {', '.join(missing)} for its command line: "
            "pip install 'spatch-core[cli]', or '.[cli]' in a checkout",
            file=sys.stderr,
        )
        sys.exit(2)
    from .cli import main as run
    from .cli.output import keep_stdout

    keep_stdout()
    run()


if __name__ == "__main__":
    main()
