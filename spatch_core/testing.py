"""Helpers for the tests of libraries and of backends.

`write_distribution` makes a real backend on disk, `run_python` a fresh interpreter that
finds it, and `isolated` gives a test of this interpreter a library that nothing else has
touched.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import invalidate_caches
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

from ._state.state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._call.caller import Caller
    from .backend_system import BackendSystem

__all__ = ["Distribution", "isolated", "run_python", "write_distribution"]

# What tests find depends on no earlier run, and nothing of theirs stays behind.
_NO_CACHE = {"SPATCH_CORE_CACHE": "off"}


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution that `write_distribution` wrote.

    Parameters
    ----------
    folder : Path
        Put it on `sys.path`, and the distribution is installed.
    name, version : str
        As its metadata has them.
    metadata : Path
        Its ``.dist-info`` folder.
    files : tuple of Path
        Everything that was written, the metadata too.
    """

    folder: Path
    name: str
    version: str
    metadata: Path
    files: tuple[Path, ...]

    def remove(self) -> None:
        """Uninstall it: remove its files, and the folders that are empty then."""
        for file in self.files:
            file.unlink(missing_ok=True)
        folders = {parent for file in self.files for parent in file.parents}
        for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
            if self.folder in folder.parents and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def write_distribution(
    folder: str | os.PathLike[str],
    name: str,
    version: str = "0.1.0",
    *,
    entry_points: Mapping[str, Mapping[str, str]] | None = None,
    files: Mapping[str, str | bytes] | None = None,
) -> Distribution:
    """Write a distribution as it lies in ``site-packages`` once it is installed.

    Parameters
    ----------
    folder : path
        Where to; made if need be. Several distributions may share a folder.
    name, version : str, optional
        Of the distribution.
    entry_points : mapping of str to mapping of str to str, optional
        For each group, the names of entry points and their values.
    files : mapping of str to str or bytes, optional
        For each path below `folder`, with ``/`` between its parts, what is in the file.
        Text may be indented as a whole.

    Returns
    -------
    Distribution
        What was written, and where.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> distribution = write_distribution(
    ...     folder.name,
    ...     "mylib-gpu",
    ...     entry_points={"mylib.backends": {"gpu": "mylib_gpu:backend.toml"}},
    ...     files={"mylib_gpu/backend.toml": "name = 'gpu'"},
    ... )
    >>> distribution.metadata.name
    'mylib_gpu-0.1.0.dist-info'
    >>> folder.cleanup()
    """
    folder = Path(folder)
    stem = re.sub("[-_.]+", "_", name).lower()
    metadata = f"{stem}-{version}.dist-info"
    sections = [
        "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in values.items())])
        for group, values in (entry_points or {}).items()
    ]
    contents = {
        **(files or {}),
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{metadata}/entry_points.txt": "\n\n".join(sections) + "\n",
    }
    # Last, and itself in it, with no checksums: those are optional.
    record = f"{metadata}/RECORD"
    contents[record] = "".join(f"{path},,\n" for path in [*contents, record])
    written = []
    for path, content in contents.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else _text(content).encode())
        written.append(file)
    return Distribution(folder, name, version, folder / metadata, tuple(written))


def run_python(
    code: str,
    *,
    path: Iterable[str | os.PathLike[str]] = (),
    environment: Mapping[str, str | None] | None = None,
    options: Sequence[str] = (),
    check: bool = True,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run code as a script in a fresh interpreter of the kind that runs this.

    Parameters
    ----------
    code : str
        The script; may be indented as a whole.
    path : iterable of path, optional
        Folders (or zip files) to put before everything else on the script's `sys.path`.
    environment : mapping of str to str or None, optional
        Environment variables to set, or to remove (None), besides those of this process
        and ``SPATCH_CORE_CACHE=off``.
    options : sequence of str, optional
        Options of the interpreter, e.g. ``["-W", "error"]``.
    check : bool, optional
        Whether the script must succeed.
    timeout : float, optional
        Seconds after which it is ended.

    Returns
    -------
    subprocess.CompletedProcess
        With its ``returncode``, ``stdout`` and ``stderr``.

    Raises
    ------
    RuntimeError
        If `check` and the script fails; the text has what it printed.
    subprocess.TimeoutExpired
        If it takes too long.

    Examples
    --------
    >>> print(run_python("print(6 * 7)").stdout, end="")
    42
    """
    variables = {**os.environ, **_NO_CACHE, **(environment or {})}
    folders = [os.fspath(each) for each in path]
    if variables.get("PYTHONPATH"):
        folders.append(str(variables["PYTHONPATH"]))
    if folders:
        variables["PYTHONPATH"] = os.pathsep.join(folders)
    with TemporaryDirectory() as folder:
        # A script in a folder of its own, because the folder is the first on its sys.path.
        script = Path(folder, "script.py")
        script.write_text(_text(code), encoding="utf-8")
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


@contextmanager
def isolated(
    system: BackendSystem,
    *,
    path: Iterable[str | os.PathLike[str]] = (),
    environment: Mapping[str, str | None] | None = None,
) -> Iterator[BackendSystem]:
    """Give a library a fresh start for a ``with`` block, and put everything back after it.

    In the block nothing is prioritized, disabled, enabled globally or traced but what the
    environment says, and backends are discovered again when they are first needed.
    Afterwards what had been discovered and what was in force is back, and the modules that
    were imported from `path` are forgotten.

    Parameters
    ----------
    system : BackendSystem
        The library's system.
    path : iterable of path, optional
        Folders (or zip files) to put before everything else on `sys.path`, for example
        those of `write_distribution`.
    environment : mapping of str to str or None, optional
        Environment variables to set, or to remove (None), besides those of this process
        and ``SPATCH_CORE_CACHE=off``.

    Yields
    ------
    BackendSystem
        The same system.

    Notes
    -----
    Other threads see the changes too: do not run such tests in several threads at once.

    Examples
    --------
    A library's own tests, whatever is installed beside it:

    >>> from spatch_core import BackendSystem
    >>> system = BackendSystem("mylib.backends", "MYLIB")
    >>> with isolated(system, environment={"MYLIB_BLOCK": "*"}):
    ...     list(system.backends)
    ['default']
    """
    keeper = system.keeper
    outer, default, globally = keeper.held(), keeper.default.state, keeper.enabled_globally
    resolver = system._loader.loaded
    variables, folders = dict(os.environ), list(sys.path)
    added = [os.fspath(each) for each in path]
    modules = set(sys.modules)
    try:
        for name, value in {**_NO_CACHE, **(environment or {})}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        sys.path[:0] = added
        invalidate_caches()
        keeper.enabled_globally = False
        keeper.set_default(DispatchState())
        # The list of the default, to which enable_globally() writes, as in a new thread.
        keeper.put(keeper.default.tables, None)
        _put_back(system, None)
        yield system
    finally:
        # Set, not reset: a fixture may end in another context than it began in.
        keeper.put(*outer)
        keeper.enabled_globally = globally
        keeper.set_default(default)
        sys.path[:] = folders
        for name in variables.keys() | os.environ.keys():
            if name not in variables:
                del os.environ[name]
            elif os.environ.get(name) != variables[name]:
                os.environ[name] = variables[name]
        _forget_modules(set(sys.modules) - modules, added)
        invalidate_caches()
        _put_back(system, resolver)


def _put_back(system: BackendSystem, caller: Caller | None) -> None:
    """Make `caller` what was discovered; with None, discovery waits for the next use."""
    system._loader.loaded = caller
    system._dispatcher.leave_shortcuts()
    system.keeper.forget_tables()
    for record in system._dispatcher.records:
        record.document("" if caller is None else caller.resolver.docs(record.identifier))


def _forget_modules(names: Iterable[str], folders: Iterable[str]) -> None:
    """Remove the modules that came from `folders`."""
    roots = [os.path.join(os.path.abspath(folder), "") for folder in folders]
    for name in names:
        spec = getattr(sys.modules[name], "__spec__", None)
        locations = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
        if any(os.path.abspath(place).startswith(root) for place in locations for root in roots):
            del sys.modules[name]


def _text(content: str) -> str:
    return dedent(content).lstrip("\n")
