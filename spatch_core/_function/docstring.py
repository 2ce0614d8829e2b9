"""Documents wrappers: a section of the docstring, and the source that tracebacks show."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any, Protocol

from .template import SHARED, own_names, source_of

if TYPE_CHECKING:
    from types import FunctionType

    from .template import Shape


class HasSource(Protocol):
    """The generated source of a function, for tracebacks."""

    def source(self) -> str: ...


class Record(Protocol):
    """The part of `Dispatchable` that documenting it needs."""

    filename: str
    doc: str | None
    wrapper: FunctionType

    @property
    def generated(self) -> HasSource: ...


_sources: dict[Shape, str] = {}
"""Sources by shape, with placeholders between NULs: the `own_names` and the wrapper's name."""


def source(shape: Shape, wrapper: str, own: tuple[Any, ...]) -> str:
    """Return the source of one wrapper.

    Parameters
    ----------
    shape : Shape
        The places of the dispatch arguments, and the nature of the function.
    wrapper : str
        The wrapper's name.
    own : tuple
        The values of its `own_names`, without the first two, which are shown by their names.
    """
    names = own_names(shape)
    text = _sources.get(shape)
    if text is None:  # most functions of a library have one of a few shapes
        words = {each: each for each in [*names[:2], *SHARED]}
        words.update({each: f"\0{each}\0" for each in names[2:]})
        text = _sources[shape] = source_of(shape, "\0wrapper\0", words)
    # A `repr` contains no NULs. The wrapper's name may contain some, so it comes last.
    for name, constant in zip(names[2:], own, strict=True):
        text = text.replace(f"\0{name}\0", repr(constant))
    return text.replace("\0wrapper\0", wrapper)


def document(record: Record, section: str) -> None:
    """Show the backends in the docstring of a function, and its source in tracebacks.

    Parameters
    ----------
    record : Dispatchable
        The function.
    section : str
        The section about the backends, for the end of the docstring; may be empty.
    """
    if not hasattr(record, "generated"):
        return  # it has no wrapper yet: the thread that decorates it documents it afterwards
    show_source(record.generated.source(), record.filename)
    record.wrapper.__doc__ = with_section(record.doc, section)


def show_source(source: str, filename: str) -> None:
    """Let tracebacks show generated code under the file name that it was compiled with."""
    # Without a modification time: `linecache.checkcache` keeps the entry then.
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename


def with_section(doc: str | None, section: str) -> str | None:
    r"""Return a docstring with a section at its end, indented like its other lines.

    Parameters
    ----------
    doc : str or None
        The docstring.
    section : str
        The section, without indentation; may be empty. A prompt (``>>>``) at the start of a line
        gets a backslash, so that doctest does not run a backend's text as an example of the
        library. reStructuredText shows the line without the backslash.

    Examples
    --------
    >>> print(with_section("Double.", "Backends\n--------\nfast\n    Less precise."))
    Double.
    <BLANKLINE>
    Backends
    --------
    fast
        Less precise.
    <BLANKLINE>
    """
    if not section:
        return doc
    margin, text = _margin(doc), section
    # Else the section stays as it is, which saves time: there may be thousands of long ones.
    if margin or ">>>" in section:
        lines = map(without_prompt, section.splitlines())
        text = "\n".join([margin + line if line else "" for line in lines])
    return f"{doc.rstrip()}\n\n{text}\n{margin}" if doc else text


def without_prompt(line: str) -> str:
    """Return a line that doctest does not take for an example."""
    text = line.lstrip()
    return line[: len(line) - len(text)] + "\\" + text if text.startswith(">>>") else line


def _margin(doc: str | None) -> str:
    """Return the indentation of the lines after the first."""
    lines = [line for line in (doc or "").splitlines()[1:] if line.strip()]
    return min((line[: len(line) - len(line.lstrip())] for line in lines), key=len, default="")
