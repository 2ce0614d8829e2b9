"""What `demo.py` and `check.py` share: wheels of this checkout, and environments of wheels.

The standard library alone, because it runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from _interpreters import Interpreter, find_interpreters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from _progress import Progress

ROOT = Path(__file__).resolve().parent.parent


_NO_PYTHON = """\
Neither this Python nor another one on this machine can make an environment: that takes
CPython 3.10 to 3.14 with the modules venv and ensurepip.
On Debian and Ubuntu: apt install python3-venv. Elsewhere, any Python from python.org,
pyenv or uv has them."""


class SetupError(Exception):
    """Something that the person at the terminal has to know; its text says what to do."""


@dataclass(frozen=True)
class Distribution:
    """A folder of this checkout that a wheel is built from."""

    folder: Path

    @property
    def label(self) -> str:
        return "spatch-core" if self.folder == ROOT else self.folder.name

    @property
    def contents(self) -> list[str]:
        """What of the folder is needed to build the wheel."""
        if self.folder == ROOT:
            return ["pyproject.toml", "setup.py", "README.md", "LICENSE", "spatch_core"]
        return sorted(path.name for path in self.folder.iterdir() if path.name != "tests")

    @property
    def is_compiled(self) -> bool:
        """Whether each interpreter needs a wheel of its own."""
        return (self.folder / "setup.py").exists()

    @property
    def requirements(self) -> str:
        """The text of its pyproject.toml less the tables that configure tools."""
        text = (self.folder / "pyproject.toml").read_text(encoding="utf-8")
        tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
        return "".join(table for table in tables if not re.match(r"\[+tool\.(?!setup)", table))

    def copy_to(self, target: Path) -> str:
        """Copy what the wheel is made of to `target`; return a hash of it."""
        junk = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "*.pyc", "*.so", ".*")
        for name in self.contents:
            source = self.folder / name
            if source.is_dir():
                shutil.copytree(source, target / name, ignore=junk)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target / name)
        return _hash(
            part
            for path in sorted(path for path in target.rglob("*") if path.is_file())
            for part in (path.relative_to(target).as_posix().encode(), path.read_bytes())
        )


def example_distributions() -> list[Distribution]:
    """Return every example distribution of this checkout."""
    files = sorted((ROOT / "example_backends").rglob("pyproject.toml"))
    return [Distribution(file.parent) for file in files]


class Workshop:
    """A folder that holds environments, wheels and logs; all of it can be thrown away."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self.folder = folder
        self.progress = progress
        self.interpreters = find_interpreters()
        if not any(each.has_pip for each in self.interpreters):
            raise SetupError(_NO_PYTHON)
        self._wheels: dict[str, Path] = {}
        self._pip: Path | None = None

    def log(self, name: str) -> Path:
        """Return the path of a log file, its folder made."""
        (self.folder / "logs").mkdir(parents=True, exist_ok=True)
        return self.folder / "logs" / f"{name}.log"

    def wheel(self, distribution: Distribution, interpreter: Interpreter) -> Path:
        """Build the wheel of `distribution`, unless it is there already."""
        label, python = distribution.label, self._pip_python()
        if distribution.is_compiled:
            label += f"-{interpreter.name}"
            if label not in self._wheels:
                python = self._build_python(interpreter)
        if label not in self._wheels:
            with tempfile.TemporaryDirectory() as temporary:
                source = Path(temporary) / "source"
                fingerprint = distribution.copy_to(source)
                folder = self.folder / "wheels" / label / fingerprint
                if not any(folder.glob("*.whl")):
                    shutil.rmtree(folder.parent, ignore_errors=True)
                    build = ["--python", str(python), "wheel"]
                    build += ["--no-deps", "--no-build-isolation"]
                    build += ["--wheel-dir", str(folder), str(source)]
                    with self.progress.task(f"build the wheel of {label}"):
                        self._run_pip(f"wheel-{label}", build)
            (self._wheels[label],) = folder.glob("*.whl")
        return self._wheels[label]

    def environment(
        self,
        name: str,
        interpreter: Interpreter,
        distributions: Sequence[Distribution],
        groups: Sequence[str] = (),
        extras: str = "",
    ) -> Path:
        """Make an environment of the wheels, or bring it up to date; return its Python.

        Another interpreter makes it anew. Other requirements are installed into it. Where
        nothing but code has changed, the wheels concerned are installed again.
        """
        folder = self.folder / "environments" / name
        python = _python_of(folder)
        stamp = folder / "stamp.json"
        wheels = {each.label: self.wheel(each, interpreter) for each in distributions}
        requirements = [
            Distribution(ROOT).requirements,
            *(each.requirements for each in distributions),
        ]
        wanted = {
            "interpreter": repr(interpreter),
            "requirements": _hash(text.encode() for text in [*groups, extras, *requirements]),
            "wheels": {label: wheel.parent.name for label, wheel in wheels.items()},
        }
        current = _read_stamp(stamp)
        if current == wanted:
            return python
        stamp.unlink(missing_ok=True)
        log = f"environment-{name}"
        install = ["--python", str(python), "install", "--no-compile", "--progress-bar=off"]
        with self.progress.task(f"make environment {name} (Python {interpreter.name})"):
            if current.get("interpreter") != wanted["interpreter"]:
                shutil.rmtree(folder, ignore_errors=True)
                make = [interpreter.path, "-m", "venv", "--without-pip", str(folder)]
                self._run_logged(log, make)
            installed = current.get("wheels", {})
            stale = [
                str(wheel)
                for label, wheel in wheels.items()
                if label in installed and installed[label] != wheel.parent.name
            ]
            if stale:
                self._run_pip(log, [*install, "--no-deps", "--force-reinstall", *stale])
            if current.get("requirements") != wanted["requirements"]:
                for group in groups:
                    install += ["--group", f"{ROOT / 'pyproject.toml'}:{group}"]
                for label, wheel in wheels.items():
                    extra = f"[{extras}]" if extras and label == "spatch-core" else ""
                    install.append(f"{label}{extra} @ {wheel.as_uri()}" if extra else str(wheel))
                self._run_pip(log, install)
        stamp.write_text(json.dumps(wanted), encoding="utf-8")
        return python

    def _build_python(self, interpreter: Interpreter) -> Path:
        """Return the Python of an environment in which `interpreter` builds wheels."""
        name = f"build-{interpreter.name}"
        folder = self.folder / "environments" / name
        python = _python_of(folder)
        stamp = folder / "stamp.json"
        if _read_stamp(stamp) != {"interpreter": repr(interpreter)}:
            shutil.rmtree(folder, ignore_errors=True)
            log = f"environment-{name}"
            with self.progress.task(f"make environment {name}"):
                self._run_logged(
                    log, [interpreter.path, "-m", "venv", "--without-pip", str(folder)]
                )
                self._run_pip(log, ["--python", str(python), "install", "setuptools>=77"])
            stamp.write_text(json.dumps({"interpreter": repr(interpreter)}), encoding="utf-8")
        return python

    def _run_pip(self, log: str, arguments: Sequence[str]) -> None:
        options = ["--disable-pip-version-check", "--no-input"]
        self._run_logged(log, [str(self._pip_python()), "-m", "pip", *options, *arguments])

    def _pip_python(self) -> Path:
        """Return the Python of the environment whose pip fills all the others."""
        if self._pip is None:
            folder = self.folder / "environments" / "pip"
            python = _python_of(folder)
            stamp = folder / "stamp.json"
            if not stamp.exists():
                shutil.rmtree(folder, ignore_errors=True)
                with self.progress.task("make environment pip"):
                    source = [each for each in self.interpreters if each.has_pip][-1]
                    make = [source.path, "-m", "venv", str(folder)]
                    self._run_logged("environment-pip", make)
                    install = [str(python), "-m", "pip", "install", "--no-input", "--upgrade"]
                    install += ["pip>=25.1", "setuptools>=77"]
                    self._run_logged("environment-pip", install)
                stamp.write_text("{}", encoding="utf-8")
            self._pip = python
        return self._pip

    def _run_logged(self, log: str, command: Sequence[str]) -> None:
        path = self.log(log)
        with path.open("wb") as output:
            code = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=clean_environment(),
                check=False,
            ).returncode
        if code:
            raise SetupError(f"{' '.join(command)}\nended with code {code}:\n{tail(path)}")


def clean_environment() -> dict[str, str]:
    """Return the environment variables without those that would change what is tested.

    Nor is any process told to compile what it imports anew: thousands of them are started.
    """
    unwanted = re.compile(
        r"PYTHON(PATH|HOME|WARNINGS|STARTUP|DONTWRITEBYTECODE)|VIRTUAL_ENV"
        r"|(SCIPY_DISPATCH|SPATCH_CORE)_.*"
    )
    kept = {name: value for name, value in os.environ.items() if not unwanted.fullmatch(name)}
    return {**kept, "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}


def command_of(python: Path, name: str) -> str:
    """Return the path of a command that is installed beside `python`."""
    return str(python.with_name(name + python.suffix))


def tail(path: Path, lines: int = 40) -> str:
    """Return the last lines of a log."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return "\n".join(text.rstrip().splitlines()[-lines:])


def _python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _read_stamp(path: Path) -> dict[str, Any]:
    try:
        stamp: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:16]
