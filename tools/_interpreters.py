"""The Python interpreters of this machine that work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

OLDEST = (3, 10)
NEWEST = (3, 14)


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs, and what it can be used for."""

    version: tuple[int, int, int]
    path: str
    has_pip: bool

    @property
    def name(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


_PROBE = """
import importlib.util, json, sys, sysconfig
find = importlib.util.find_spec
print(json.dumps([
    sys.version_info[:3], getattr(sys, "_base_executable", None) or sys.executable,
    sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED"),
    find("venv") is not None, find("ensurepip") is not None,
]))
"""


def find_interpreters() -> list[Interpreter]:
    """Find one CPython for each supported minor version, oldest first.

    They are run, not trusted: a version manager puts commands on the path that do nothing
    but explain why they do not work.
    """
    with ThreadPoolExecutor(4) as pool:
        found = [each for each in pool.map(_probe, _places()) if each is not None]
    best: dict[tuple[int, int], Interpreter] = {}
    for each in found:
        minor = each.version[:2]
        known = best.get(minor)
        # The one running this comes first among its places, and stays unless it cannot serve.
        if known is None or (each.has_pip, each.version) > (known.has_pip, known.version):
            best[minor] = each
    return [best[minor] for minor in sorted(best)]


def _places() -> list[str]:
    names = ["python3", *(f"python3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1))]
    home = Path.home()
    environment = os.environ
    folders = [Path(folder) for folder in os.get_exec_path() if folder]
    folders += [Path("/usr/bin"), Path("/usr/local/bin"), Path("/opt/homebrew/bin")]
    for versions in (
        Path(environment.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(environment.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python"),
        home / ".asdf/installs/python",
        home / ".local/share/mise/installs/python",
    ):
        folders += sorted(versions.glob("*/bin"))
    places = [sys.executable]
    places += [str(folder / name) for folder in folders for name in names]
    targets: dict[str, str] = {}  # many are links to a few
    for place in places:
        if os.access(place, os.X_OK):
            targets.setdefault(os.path.realpath(place), place)
    return list(targets.values())


def _probe(place: str) -> Interpreter | None:
    try:
        answer = subprocess.run(
            [place, "-I", "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=True,
        )
        version, path, is_plain_cpython, has_venv, has_pip = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if not (is_plain_cpython and has_venv and OLDEST <= tuple(version[:2]) <= NEWEST):
        return None
    return Interpreter(tuple(version), path, has_pip)
