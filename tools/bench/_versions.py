"""Versions of spatch_core, each in its own folder, and processes that run them."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from bench._record import ROOT, describe_commit, run

TOOLS = ROOT / "tools"
PURE, ACCELERATED = MODES = ("pure", "accelerated")


@dataclass(frozen=True)
class Version:
    """A compiled copy of the package; `label` names its commit."""

    label: str
    folder: Path

    @property
    def is_built(self) -> bool:
        package = self.folder / "spatch_core"
        return any(next(package.rglob(f"*{each}"), None) for each in EXTENSION_SUFFIXES)


@dataclass(frozen=True)
class Contestant:
    """A version of the package, run in pure Python or through C."""

    version: Version
    mode: str

    def variables(self, *path: Path) -> dict[str, str]:
        """Return the environment of a process, without variables that affect the measurement."""
        unwanted = ("PYTHON", "SPATCH_CORE", "BENCH", "COV")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
        kept["PYTHONPATH"] = os.pathsep.join(map(str, [self.version.folder, *path]))
        return {**kept, **({"SPATCH_CORE_PURE": "1"} if self.mode == PURE else {})}


def stage(source: str | Path, folder: Path) -> Version:
    """Copy and compile the package of a checkout, or of a revision of this repository.

    The C extension is built by the version's own ``setup.py``, in the copy. Where that fails,
    there is pure Python alone.
    """
    checkout = Path(source)
    folder.mkdir(parents=True)
    if (checkout / "spatch_core").is_dir():
        junk = shutil.ignore_patterns("__pycache__", *(f"*{each}" for each in EXTENSION_SUFFIXES))
        shutil.copytree(checkout / "spatch_core", folder / "spatch_core", ignore=junk)
        shutil.copy(checkout / "setup.py", folder)
        label = describe_commit(checkout)
    else:
        label = _export(str(source), folder)
    with suppress(RuntimeError):
        run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], folder)
    if sys.version_info < (3, 11):
        tomli = Path(str(import_module("tomli").__file__)).parent
        shutil.copytree(tomli, folder / "tomli", ignore=shutil.ignore_patterns("*.so", "*.pyd"))
    compileall.compile_dir(folder, quiet=2)
    return Version(label, folder)


def _export(revision: str, folder: Path) -> str:
    archive = folder / "archive.zip"
    export = ["git", "archive", "--format=zip", f"--output={archive}", revision]
    try:
        run([*export, "spatch_core", "setup.py"], ROOT)
    except RuntimeError as error:
        message = f"neither a checkout of spatch_core nor a revision of it: {revision}\n{error}"
        raise ValueError(message) from None
    shutil.unpack_archive(archive, folder)
    archive.unlink()
    return f"commit {run(['git', 'rev-parse', '--short', f'{revision}^{{commit}}'], ROOT)}"


class Worker:
    """A process of `bench._worker` that times its cases once on each request."""

    def __init__(self, contestant: Contestant, group: str, seed: int, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench._worker", group, f"--seed={seed}", *arguments],
            cwd=contestant.version.folder,
            env={**contestant.variables(TOOLS), "PYTHONHASHSEED": str(seed)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        accelerated = self._read()
        if accelerated is not (contestant.mode == ACCELERATED):
            self.close()
            raise RuntimeError(f"SPATCH_CORE_PURE was not heeded: accelerated is {accelerated}")

    def times(self) -> dict[str, float]:
        """Return the seconds of each case in another round."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer: dict[str, float] = self._read()
        return answer

    def close(self) -> None:
        self._process.communicate()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            errors = self._process.communicate()[1]
            raise RuntimeError(f"a worker ended with {self._process.returncode}:\n{errors}")
        return json.loads(line)
