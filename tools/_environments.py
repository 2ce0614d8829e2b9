"""Interpreters, environments, and wheels of this checkout to install into them.

Imports the standard library alone, because it runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

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


_NO_PIP = """\
This Python cannot make an environment with pip, because it lacks the modules venv and ensurepip.
On Debian and Ubuntu: apt install python3-venv. Every Python from python.org, pyenv or uv has
them."""


def make_environment(folder: Path) -> Path:
    """Make an environment with a recent pip, if there is none yet; return its Python."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        try:
            venv.create(folder, with_pip=True, clear=True)
        except (ImportError, subprocess.CalledProcessError):
            shutil.rmtree(folder, ignore_errors=True)
            sys.exit(_NO_PIP)
    # The pip that comes with Python 3.10 to 3.13 does not know dependency groups.
    install(python, "--upgrade", "pip>=25.1")
    return python


def install(python: Path, *arguments: str, optional: bool = False) -> None:
    """Run ``pip install``, from the root of this checkout; exit if it fails, unless `optional`."""
    options = ["--disable-pip-version-check", "--no-input", "--no-compile", "--quiet"]
    command = [str(python), "-m", "pip", "install", *options, *arguments]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code and not optional:
        sys.exit(f"{' '.join(command)} ended with code {code}")


def find_uv() -> str | None:
    """Return the program uv of this environment, of nox's or of the system; None without one."""
    here, nox = Path(sys.executable).parent, ROOT / ".check" / "nox"
    folders = [here, nox / ("Scripts" if os.name == "nt" else "bin")]
    return shutil.which("uv", path=os.pathsep.join([*map(str, folders), os.environ["PATH"]]))


APART = ("scipy-dispatch-torch", "torch-device", "torch-device-jit")
"""Examples that need PyTorch. PyTorch is large, so they have a separate environment."""


def example_folders() -> list[Path]:
    """Return the folders of the example distributions, without those in `APART`."""
    found = sorted(file.parent for file in (ROOT / "example_backends").glob("*/pyproject.toml"))
    return [folder for folder in found if folder.name not in APART]


def build_wheel(python: str | Path, folder: Path, target: Path) -> Path:
    """Build the wheel of a distribution of this checkout, if `target` lacks it; return its path.

    Parameters
    ----------
    python
        The interpreter that builds the wheel. A C extension is built for its version only.
    folder
        The folder of the distribution.
    target
        The folder that keeps the wheels of one Python version. The path of a wheel contains a
        hash of its sources, and changes with them.
    """
    with tempfile.TemporaryDirectory() as temporary:
        # A build leaves files behind, which the next wheel would contain if they were in the
        # checkout.
        source = Path(temporary) / folder.name
        _copy(folder, source)
        label = "spatch-core" if folder == ROOT else folder.name
        home = target / label / _hash(source)
        if not any(home.glob("*.whl")):
            for old in home.parent.glob("*"):
                if old != home:
                    shutil.rmtree(old, ignore_errors=True)
            # Other processes may build the same wheel at once, so each one moves a complete wheel.
            built = f"{temporary}/built"
            if uv := find_uv():
                command = [uv, "build", "--wheel", "--quiet", "--python", str(python)]
                command += ["--out-dir", built]
            else:
                command = [str(python), "-m", "pip", "wheel", "--quiet", "--no-deps"]
                command += ["--wheel-dir", built]
            subprocess.run([*command, str(source)], check=True)
            (wheel,) = Path(built).glob("*.whl")
            home.mkdir(parents=True, exist_ok=True)
            unfinished = shutil.copyfile(wheel, home / f"unfinished.{Path(temporary).name}")
            unfinished.replace(home / wheel.name)
    (wheel,) = home.glob("*.whl")
    return wheel


def _copy(folder: Path, target: Path) -> None:
    """Copy the files that a wheel is built from."""
    junk = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "*.pyc", "*.so", ".*")
    if folder == ROOT:
        contents = ["pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"]
        contents.append("spatch_core")
    else:
        contents = [path.name for path in folder.iterdir() if path.name != "tests"]
    target.mkdir(parents=True)
    for name in sorted(set(contents) - junk(str(folder), contents)):
        if (folder / name).is_dir():
            shutil.copytree(folder / name, target / name, ignore=junk)
        else:
            shutil.copyfile(folder / name, target / name)


def _hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        for part in (path.relative_to(folder).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:16]
