"""Problems of backends and environment variables, each with its place and remedy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .published import Published

REGISTERED = "a description that was registered at run time"
"""The `entry_point` of a `Source` for a description registered at run time."""
_LONGEST = 2_000


def in_words(error: BaseException) -> str:
    """Return the class and the text of an exception; the class alone if ``str`` fails."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # a backend's module may have raised it
        return name


def shortened(text: str) -> str:
    """Return a text of limited length: the middle of a long one is left out."""
    return (
        text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"
    )


@dataclass(frozen=True, slots=True)
class Source(Published):
    """Where a backend's description comes from.

    Parameters
    ----------
    entry_point : str or None
        ``"name = value"`` as the distribution's metadata has it; None for a description
        in the library's code.
    file : str or None
        The TOML file, once it has been found.
    metadata : importlib.metadata.Distribution or None
        The distribution. Its metadata is read on demand, because reading parses a file.
    """

    entry_point: str | None = None
    file: str | None = None
    metadata: Any = field(default=None, compare=False, repr=False)

    @property
    def distribution(self) -> str | None:
        """Name of the distribution that has the entry point, if known."""
        return self._read()[0]

    @property
    def version(self) -> str | None:
        """Version of the distribution, if known."""
        return self._read()[1]

    def _read(self) -> tuple[str | None, str | None]:
        """Return name and version; both at once, because each read parses the metadata again."""
        if self.metadata is None:
            return None, None
        try:
            found = self.metadata.metadata
            name, version = found.get("Name"), found.get("Version")
            return name and str(name), version and str(version)
        except Exception:  # noqa: BLE001  # a third party's metadata, missing or malformed
            return None, None

    def __str__(self) -> str:
        if self.entry_point is None and self.metadata is None:
            return "a description in the library's code"
        if self.entry_point == REGISTERED:
            return self.entry_point
        place = place_text(*self._read(), self.entry_point, self.file)
        return place or "a distribution without a name"


def place_text(
    distribution: str | None, version: str | None, entry_point: str | None, file: str | None
) -> str:
    """Return where a description comes from, in words; empty if nothing is known."""
    parts = []
    if distribution:
        parts.append(f"distribution {distribution} {version or ''}".rstrip())
    if entry_point:
        parts.append(f"entry point '{entry_point}'")
    if file:
        parts.append(f"file {file}")
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Problem(Published):
    """A fault of a backend, a distribution or an environment variable.

    Parameters
    ----------
    message : str
        What is wrong.
    remedy : str
        What to do about it.
    backend : str or None
        The backend that is skipped; None for an environment variable, and for a
        distribution whose entry points cannot be read.
    key : str or None
        The key path inside the description, or the environment variable.
    source : Source or None
        Where the description comes from.
    skips : bool
        Whether the backend is skipped because of it. False for an unknown key, which is ignored,
        and for a cycle, which skips backends only in calls that several of them match.
    warns : bool
        Whether loading the backends warns about it.
    """

    message: str
    remedy: str
    backend: str | None = None
    key: str | None = None
    source: Source | None = None
    skips: bool = True
    warns: bool = True

    def __str__(self) -> str:
        if self.backend is None:
            subject = f"environment variable {self.key}" if self.key else str(self.source)
            return f"{subject}: {self.message}. {self.remedy}"
        where = f" ({self.source})" if self.source is not None else ""
        key = f", key {self.key}" if self.key else ""
        skipped = " is skipped" if self.skips else ""
        return f"backend {self.backend!r}{skipped}{where}{key}: {self.message}. {self.remedy}"
