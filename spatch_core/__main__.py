"""Run the command line: ``spatch-core`` or ``python -m spatch_core``."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> int:
    """Run the command line, or say in one line what it needs.

    Returns
    -------
    int
        The exit code, where the command line itself has not raised `SystemExit` with one.
    """
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        print(
            f"spatch-core needs {' and '.join(missing)} for its command line: "
            "pip install 'spatch-core[cli]'",
            file=sys.stderr,
        )
        return 2
    from .cli import main as run

    run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
