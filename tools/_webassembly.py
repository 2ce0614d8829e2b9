"""Pyodide from npm, and wheels of pure Python: what runs the package without a C compiler.

The standard library alone: pages and tests import this.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from _wheels import ROOT, build_wheel

RELEASE = "314.0.7"
PYTHON = "3.14"
"""Release of Pyodide, and the version of its Python, which the first number names."""
FOLDER = ROOT / ".check" / "pyodide"
PURE = "SPATCH_CORE_PURE"


class NotHadError(Exception):
    """Pyodide, or what fetches or builds it, cannot be had here."""


def program(name: str) -> str:
    """Return the path of a program of Node.js: that of this environment, or that of the system."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = shutil.which(name, path=places)
    if found is None:
        raise NotHadError(f"this needs {name}: python -m pip install --group pyodide")
    return found


def get_pyodide() -> Path:
    """Fetch Pyodide, unless it is there; return the folder of the package."""
    folder = FOLDER / RELEASE
    if not (folder / "package" / "pyodide.mjs").exists():
        npm = program("npm")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print(f"fetching Pyodide {RELEASE}", flush=True)
        pack = [npm, "pack", "--silent", f"pyodide@{RELEASE}"]
        try:
            subprocess.run(pack, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotHadError(f"{error}; there is no registry of npm") from error
        (archive,) = folder.glob("*.tgz")
        shutil.unpack_archive(archive, folder, filter="data")
        archive.unlink()
    return folder / "package"


def pure_wheel(folder: Path = ROOT) -> Path:
    """Build the wheel of pure Python of a distribution of this checkout; return its path."""
    before = os.environ.get(PURE)
    os.environ[PURE] = "1"
    try:
        return build_wheel(sys.executable, folder, FOLDER / "wheels")
    except subprocess.CalledProcessError as error:
        raise NotHadError(f"the wheel of {folder.name} cannot be built: {error}") from error
    finally:
        if before is None:
            del os.environ[PURE]
        else:
            os.environ[PURE] = before
