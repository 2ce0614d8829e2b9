"""Pyodide from npm, and pure-Python wheels, to run the package in WebAssembly.

Uses the standard library alone, because the docs and the tests import this module.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from _environments import ROOT, build_wheel

RELEASE = "314.0.7"
PYTHON = "3.14"
"""The release of Pyodide, and the version of its Python, as in the first number."""
FOLDER = ROOT / ".check" / "pyodide"
PURE = "SPATCH_CORE_PURE"


class UnavailableError(Exception):
    """Pyodide, or a tool that fetches or builds it, is not available."""


def program(name: str) -> str:
    """Return the path of a program of Node.js, in this environment or in the system."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = shutil.which(name, path=places)
    if found is None:
        raise UnavailableError(f"this needs {name}: python -m pip install --group pyodide")
    return found


def get_pyodide() -> Path:
    """Fetch Pyodide if it is not there yet; return the folder of the package."""
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
            raise UnavailableError(f"{error}; the registry of npm is not available") from error
        (archive,) = folder.glob("*.tgz")
        shutil.unpack_archive(archive, folder, filter="data")
        archive.unlink()
    return folder / "package"


def pure_wheel(folder: Path = ROOT) -> Path:
    """Build the pure-Python wheel of a distribution of this checkout; return its path."""
    before = os.environ.get(PURE)
    os.environ[PURE] = "1"
    try:
        return build_wheel(sys.executable, folder, FOLDER / "wheels")
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"the wheel of {folder.name} cannot be built: {error}") from error
    finally:
        if before is None:
            del os.environ[PURE]
        else:
            os.environ[PURE] = before
