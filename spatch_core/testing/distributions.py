"""Real distributions on disk."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .environment import dedented

__all__ = ["Distribution", "write_distribution"]


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
        file.write_bytes(content if isinstance(content, bytes) else dedented(content).encode())
        written.append(file)
    return Distribution(folder, name, version, folder / metadata, tuple(written))
