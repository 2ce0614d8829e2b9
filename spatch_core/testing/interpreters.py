"""Code in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .environment import dedented, folders

__all__ = ["run_python"]


def run_python(
    code: str,
    *,
    path: Iterable[str | os.PathLike[str]] = (),
    environment: Mapping[str, str | None] | None = None,
    options: Sequence[str] = (),
    check: bool = True,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run code as a script in a fresh interpreter, the same Python as this one.

    Parameters
    ----------
    code : str
        The script; may be indented as a whole.
    path : iterable of path, optional
        The first folders (or zip files) on the script's `sys.path`.
    environment : mapping of str to str or None, optional
        Environment variables to set, or to remove (None), besides those of this process.
    options : sequence of str, optional
        Options of the interpreter, e.g. ``["-W", "error"]``.
    check : bool, optional
        Whether the script must succeed.
    timeout : float, optional
        The time limit in seconds.

    Returns
    -------
    subprocess.CompletedProcess
        The result, with ``returncode``, ``stdout`` and ``stderr``.

    Raises
    ------
    TypeError
        If `path` is one folder instead of several.
    RuntimeError
        If `check` and the script fails; the message has its output.
    subprocess.TimeoutExpired
        If the script exceeds the time limit.

    Examples
    --------
    >>> print(run_python("print(6 * 7)").stdout, end="")
    42
    """
    variables = {**os.environ, **(environment or {})}
    search_path = folders(path)
    if variables.get("PYTHONPATH"):
        search_path.append(str(variables["PYTHONPATH"]))
    if search_path:
        variables["PYTHONPATH"] = os.pathsep.join(search_path)
    with TemporaryDirectory() as folder:
        # In an empty folder, because a script's folder comes first on its sys.path.
        script = Path(folder, "script.py")
        script.write_text(dedented(code), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *options, str(script)],
            env={name: value for name, value in variables.items() if value is not None},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    if check and done.returncode:
        raise RuntimeError(
            f"the script ended with {done.returncode}\n{done.stdout}{done.stderr}".rstrip()
        )
    return done
