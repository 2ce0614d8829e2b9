"""The test kit: distributions on disk, fresh interpreters, isolated libraries, and dummies."""

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
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from .._discovery import document
from .._state import DispatchState
from ..backend_system import BackendSystem

if TYPE_CHECKING:
    from .._backends import Backends

__all__ = ["BackendDummy", "Distribution", "isolated", "run_python", "write_distribution"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution that `write_distribution` wrote.

    Parameters
    ----------
    folder : Path
        The folder to put on `sys.path`, which installs the distribution.
    name, version : str
        The name and version in its metadata.
    metadata : Path
        Its ``.dist-info`` folder.
    files : tuple of Path
        All files, including the metadata.
    """

    folder: Path
    name: str
    version: str
    metadata: Path
    files: tuple[Path, ...]

    def remove(self) -> None:
        """Uninstall the distribution: remove its files, and the folders that become empty."""
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
    """Write a distribution in the form that it has in ``site-packages``.

    Parameters
    ----------
    folder : path
        The target folder, which is created if necessary. Several distributions may share it.
    name, version : str, optional
        The name and version of the distribution.
    entry_points : mapping of str to mapping of str to str, optional
        The values of entry points, by group and name.
    files : mapping of str to str or bytes, optional
        The contents of files, by path below `folder` with ``/``. Text may be indented as a whole.

    Returns
    -------
    Distribution
        The files and the metadata.

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
    # RECORD lists all files and itself; checksums are optional.
    record = f"{metadata}/RECORD"
    contents[record] = "".join(f"{path},,\n" for path in [*contents, record])
    written = []
    for path, content in contents.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else _dedented(content).encode())
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
    variables = _variables(environment)
    search_path = _folders(path)
    if variables.get("PYTHONPATH"):
        search_path.append(variables["PYTHONPATH"])
    if search_path:
        variables["PYTHONPATH"] = os.pathsep.join(search_path)
    with TemporaryDirectory() as folder:
        # In an empty folder, because a script's folder comes first on its sys.path.
        script = Path(folder, "script.py")
        script.write_text(_dedented(code), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *options, str(script)],
            env=variables,
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
    """Put a library into its initial state for a ``with`` block, and restore its state after it.

    In the block only the options of the environment are in force, and backends are discovered
    again at their first use. After it, the previous backends and options are back, backends that
    the block registered are gone, and modules imported from `path` are removed from `sys.modules`.

    Parameters
    ----------
    system : BackendSystem
        The library's system.
    path : iterable of path, optional
        The first folders (or zip files) on `sys.path`, for example those of
        `write_distribution`.
    environment : mapping of str to str or None, optional
        Environment variables to set, or to remove (None), besides those of this process.

    Yields
    ------
    BackendSystem
        The same system.

    Raises
    ------
    TypeError
        If `system` is not a `BackendSystem`, or `path` is one folder instead of several.

    Notes
    -----
    Other threads see the changes too: do not run such tests in several threads at once.

    Examples
    --------
    A library's own tests, without the backends installed beside it:

    >>> from spatch_core import BackendSystem
    >>> system = BackendSystem("mylib.backends", "MYLIB")
    >>> with isolated(system, environment={"MYLIB_BLOCK": "*"}):
    ...     list(system.backends)
    ['default']

    A backend of a test alone:

    >>> with isolated(system):
    ...     system.register({"name": "loud", "primary_types": ["builtins:str"], "functions": {}})
    ...     "loud" in system.backends
    True
    >>> "loud" in system.backends
    False
    """
    if not isinstance(system, BackendSystem):
        raise TypeError(f"isolated() takes the BackendSystem of a library, not {system!r}")
    added = _folders(path)
    keeper = system._dispatcher.keeper
    outer, default, globally = keeper.get(), keeper.default.state, keeper.default.is_enabled
    caller, registered = system._dispatcher.ensure_loader().loaded, system._registered
    variables, search_path = dict(os.environ), list(sys.path)
    modules = set(sys.modules)
    try:
        _set_environment(_variables(environment))
        sys.path[:0] = added
        invalidate_caches()
        keeper.change_default(lambda _: DispatchState(), is_enabled=False)
        # As in a new thread: with the tables of the default, which enable_globally() changes.
        keeper.follow_default()
        _put_back(system, None)
        yield system
    finally:
        # Without ContextVar.reset: a fixture may end in another context than it began in.
        keeper.set(outer)
        keeper.change_default(lambda _: default, globally)
        sys.path[:] = search_path
        _set_environment(variables)
        _forget_modules(set(sys.modules) - modules, added)
        invalidate_caches()
        system._registered = registered
        _put_back(system, caller)


def _variables(changes: Mapping[str, str | None] | None) -> dict[str, str]:
    """Return the environment variables of this process, with changes; None removes one."""
    changed = {**os.environ, **(changes or {})}
    return {name: value for name, value in changed.items() if value is not None}


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def _put_back(system: BackendSystem, caller: Backends | None) -> None:
    """Install a caller with its discovered backends; None for a new discovery at the next use."""
    loader = system._dispatcher.ensure_loader()
    loader.loaded = caller
    loader.told.clear()  # warnings that were issued
    loader.forget()
    for function in system._dispatcher.functions:
        document(function, caller)


def _forget_modules(names: Iterable[str], folders: Iterable[str]) -> None:
    """Remove the modules that were imported from `folders`."""
    roots = [os.path.join(os.path.abspath(folder), "") for folder in folders]
    for name in names:
        spec = getattr(sys.modules[name], "__spec__", None)
        locations = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
        if any(os.path.abspath(place).startswith(root) for place in locations for root in roots):
            del sys.modules[name]


class BackendDummy:
    """A backend for tests whose methods implement the functions with the same names.

    Make a subclass with the fields of a description, such as `name` and `primary_types`, and pass
    an instance in ``BackendSystem(backends=...)``. The module of a function does not matter: a
    method ``blur`` implements every dispatchable function called ``blur``. Methods are class
    methods or static methods; ``uses_context`` and ``should_run`` apply to all of them.

    Attributes
    ----------
    functions : object
        Finds the fields of a function by its identifier.

    Examples
    --------
    >>> from spatch_core import BackendSystem
    >>> class Floats(BackendDummy):
    ...     name = "floats"
    ...     primary_types = ("builtins:float",)
    >>> system = BackendSystem(None, "MYLIB", ["builtins:int"], backends=[Floats()])
    >>> @system.dispatchable("x", module="mylib", qualname="dummy_func")
    ... def double(x):
    ...     return 2 * x
    >>> double(2), double(2.0)
    (4, ('floats', (2.0,), {}))
    """

    name: str

    def __init__(self) -> None:
        # Functions can be found by name, but not listed.
        self.functions: Any = SimpleNamespace(get=self.get_function)

    @classmethod
    def get_function(cls, name: str, default: Any = None) -> Any:
        """Return the fields of a function of the library, as in a description.

        Parameters
        ----------
        name : str
            The identifier of the function.
        default : object, optional
            The result if no method implements the function.

        Returns
        -------
        dict
            The fields.
        """
        _, separator, qualname = name.partition(":")
        attribute = qualname.rpartition(".")[2]
        function = getattr(cls, attribute, None) if separator else None
        if attribute in _OTHERS or not callable(function):
            return default
        fields: dict[str, Any] = {"function": function}
        for field in ("uses_context", "should_run"):
            if hasattr(cls, field):
                fields[field] = getattr(cls, field)
        if function.__doc__ and attribute != "dummy_func":
            fields["additional_docs"] = function.__doc__
        return fields

    @classmethod
    def dummy_func(cls, *args: Any, **kwargs: Any) -> Any:  # numpydoc ignore=PR01,RT01
        """Return the backend's name and the arguments of the call."""
        return cls.name, args, kwargs


_OTHERS = ("get_function", "should_run")
"""Methods that implement no function."""


def _folders(path: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the folders of the argument `path`."""
    if isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path takes several folders: write path=[{path!r}]")
    return [os.fspath(each) for each in path]


def _dedented(content: str) -> str:
    """Return text without its common indentation and without leading empty lines."""
    return dedent(content).lstrip("\n")
