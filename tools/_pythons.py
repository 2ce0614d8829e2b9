"""The interpreters that the checks run on."""

from __future__ import annotations

import os
import re
from pathlib import Path

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
"""Every Python that is supported, oldest first."""


def find_interpreters() -> dict[str, str]:
    """Return the path of a CPython for each supported version that this machine has.

    python-discovery runs each candidate and skips commands that do not work, such as
    those of a version manager for an inactive version. It searches the path, the
    registry of Windows and the folder of uv. The folders of other version managers come first,
    because a command that fails takes a third of a second.
    """
    from python_discovery import get_interpreter

    found = {}
    for version in VERSIONS:
        path = [*_managed(version), os.environ.get("PATH", "")]
        interpreter = get_interpreter(
            f"cpython{version}",
            env={**os.environ, "PATH": os.pathsep.join(path)},
            predicate=lambda each: not each.free_threaded,
        )
        if interpreter is not None and interpreter.system_executable is not None:
            found[version] = interpreter.system_executable
    return found


def _managed(version: str) -> list[str]:
    """Return the folders in which version managers keep a Python, the newest patch first."""
    home, environment = Path.home(), os.environ
    folders = [
        Path(environment.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(environment.get("ASDF_DATA_DIR") or home / ".asdf") / "installs/python",
        Path(environment.get("MISE_DATA_DIR") or home / ".local/share/mise") / "installs/python",
    ]
    found = [path.parent for folder in folders for path in folder.glob(f"*/bin/python{version}")]
    # The last number of "3.13.10", as a number, is the patch.
    found.sort(key=lambda path: [*map(int, re.findall(r"\d+", path.parent.name))], reverse=True)
    return [str(path) for path in found]
