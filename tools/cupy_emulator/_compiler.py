"""Compilation of C++ sources into shared libraries, with a cache on disk."""

from __future__ import annotations

import ctypes
import getpass
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from threading import Lock

from ._errors import Unavailable

HEADER = Path(__file__).with_name("device.hpp")


class CompileError(Exception):
    """The compiler rejected a source."""


class Compiler:
    """Compile sources into shared libraries and cache them.

    Several threads and several processes may compile at the same time. Each key has a lock, so
    that a thread waits for a library that another thread compiles. Files are written under a
    temporary name and then renamed, so that a file that exists is complete.

    Parameters
    ----------
    command : str
        The path of a C++ compiler that accepts GCC's options.
    fma : bool
        Whether ``a * b + c`` is rounded once, as CUDA's compiler does.
    """

    def __init__(self, command: str, fma: bool) -> None:
        self._command = [command, *_options(fma)]
        version = _run([command, "--version"]).stdout
        self._is_gcc = "Free Software Foundation" in version
        if self._is_gcc:
            # Multiply complex numbers without checks for NaN, as CuPy does.
            self._command.append("-fcx-fortran-rules")
        self._folder = _private_folder()
        self._identity = f"{version}{self._command}{HEADER.read_text(encoding='utf-8')}"
        self._libraries: dict[str, ctypes.CDLL] = {}
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    def library(self, source: str) -> ctypes.CDLL:
        """Return the library compiled from `source`, with `device.hpp` included before it.

        Raises
        ------
        CompileError
            If the compiler rejects the source; the message is the compiler's.
        """
        key = hashlib.sha256((self._identity + source).encode()).hexdigest()
        with self._locks[key]:
            if key not in self._libraries:
                path = self._folder / f"{key}.so"
                if not path.exists():
                    self._compile(source, path)
                # PyDLL holds the GIL during calls: a kernel keeps its thread number in a global
                # variable.
                self._libraries[key] = ctypes.PyDLL(str(path))
            return self._libraries[key]

    def _compile(self, source: str, target: Path) -> None:
        text = target.with_suffix(".cpp")
        text.write_text(source, encoding="utf-8")
        options = ["-include", str(self._header()), "-shared", str(text)]
        self._make(options, target)

    def _header(self) -> Path:
        """Return a copy of the header, next to which the compiler finds a precompiled header."""
        key = hashlib.sha256(self._identity.encode()).hexdigest()
        copy = self._folder / f"{key}.hpp"
        with self._locks[key]:
            if not copy.exists():
                if self._is_gcc:
                    compiled = copy.with_suffix(".hpp.gch")
                    self._make(["-x", "c++-header", str(HEADER)], compiled)
                part = _part_of(copy)
                shutil.copyfile(HEADER, part)
                part.replace(copy)
        return copy

    def _make(self, options: list[str], target: Path) -> None:
        part = _part_of(target)
        done = _run([*self._command, *options, "-o", str(part)])
        if done.returncode:
            raise CompileError(done.stderr.strip())
        # Rename last, so that other processes never see an incomplete file.
        part.replace(target)


def why_no_compiler() -> str | None:
    """Return why nothing can be compiled; None if a compiler is found."""
    return None if _command() else "there is no C++ compiler on PATH: install g++, say"


def compiler(fma: bool) -> Compiler:
    """Return the compiler of this machine.

    Raises
    ------
    Unavailable
        If there is no compiler, or if `fma` is true and the processor has no such instruction.
    """
    command = _command()
    if command is None:
        raise Unavailable(str(why_no_compiler()))
    if fma and not _processor_has_fma():
        raise Unavailable(
            "the processor has no fused multiplication and addition: ask for fma=False"
        )
    return Compiler(command, fma)


@cache
def _command() -> str | None:
    return shutil.which("g++") or shutil.which("c++")


def _options(fma: bool) -> list[str]:
    # Below -O2, GCC does not fuse operations.
    options = ["-std=c++17", "-O2", "-w", "-fPIC"]
    if not fma:
        return [*options, "-ffp-contract=off"]
    # On other architectures, the instruction is always present.
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return [*options, "-ffp-contract=fast", *(["-mfma"] if is_x86 else [])]


def _processor_has_fma() -> bool:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return True
    flags = [line.split() for line in lines if line.startswith("flags")]
    return "fma" in flags[0] if flags else True


def _private_folder() -> Path:
    """Return the folder for compiled kernels, which only the current user can write to."""
    folder = Path(tempfile.gettempdir()) / f"cupy-emulator-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if hasattr(os, "getuid") and not (is_private and found.st_uid == os.getuid()):
        raise Unavailable(f"{folder} is not a folder of your own alone: remove it")
    return folder


def _part_of(target: Path) -> Path:
    number, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
    os.close(number)
    return Path(name)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)
