"""Says on what a run was made."""

from __future__ import annotations

import os
import platform
import subprocess
import sysconfig
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROOT = Path(__file__).resolve().parent.parent.parent
_PACKAGES = ("numpy", "uarray", "plum-dispatch", "multipledispatch")


def describe_machine(packages: Iterable[str] = _PACKAGES) -> dict[str, str]:
    """Return machine, system, interpreter, versions and date.

    Parameters
    ----------
    packages : iterable of str, optional
        The distributions whose versions are told, where they are installed.
    """
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "interpreter": _interpreter(),
        "spatch-core": _commit(),
        "compared with": ", ".join(_versions(packages)) or "what the standard library has",
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC",
    }


def describe_load(averages: list[float]) -> str:
    """Return in words how busy the machine was at several times."""
    if not averages:
        return "unknown"
    text = " to ".join(f"{each:.1f}" for each in averages)
    return f"{text}, busy: times are noisy" if is_busy(averages) else text


def is_busy(averages: list[float]) -> bool:
    """Whether the machine had more to do at one of several times than to measure leaves it."""
    return bool(averages) and max(averages) > 0.75 * (os.cpu_count() or 1)


def load() -> list[float]:
    """Return the load average of the last minute, if the system has one."""
    return [os.getloadavg()[0]] if hasattr(os, "getloadavg") else []


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()} ({platform.machine()})"
    return platform.processor() or platform.machine()


def _interpreter() -> str:
    text = f"{platform.python_implementation()} {platform.python_version()}"
    if platform.python_implementation() == "CPython" and platform.system() == "Linux":
        options = str(sysconfig.get_config_var("CONFIG_ARGS"))
        if "--enable-optimizations" not in options:
            text += ", built without profile-guided optimization"
    return text


def _commit() -> str:
    """Return the version, and the commit if it is this checkout that runs."""
    import spatch_core

    if _ROOT not in Path(str(spatch_core.__file__)).resolve().parents:
        return spatch_core.__version__
    command = ["git", "-C", str(_ROOT), "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return spatch_core.__version__
    return f"{spatch_core.__version__}, commit {found.stdout.strip()}"


def _versions(packages: Iterable[str]) -> list[str]:
    found = []
    for name in packages:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return found
