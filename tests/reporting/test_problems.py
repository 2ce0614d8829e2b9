"""Where a problem stands, and how it is shown."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import pytest

from spatch_core.types import Problem, Source

SOURCE = Source("gpu = pkg:gpu.toml", "/site-packages/pkg/gpu.toml")


class Metadata:
    """The part of a distribution that a source reads."""

    metadata: ClassVar[dict[str, str | None]] = {"Name": "gpu-images", "Version": "1.2"}


class Nameless:
    metadata: ClassVar[dict[str, str | None]] = {"Name": None, "Version": None}


class Unreadable:
    @property
    def metadata(self) -> dict[str, str]:
        raise OSError("gone")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source(), "a description in the library's code"),
        (Source("a = p:q"), "entry point 'a = p:q'"),
        (Source("a = p:q", "/p/q"), "entry point 'a = p:q', file /p/q"),
        (
            Source("a = p:q", metadata=Metadata()),
            "distribution gpu-images 1.2, entry point 'a = p:q'",
        ),
        (
            Source("a = p:q", "/p/q", Metadata()),
            "distribution gpu-images 1.2, entry point 'a = p:q', file /p/q",
        ),
        (Source("a = p:q", metadata=Nameless()), "entry point 'a = p:q'"),
        (Source("a = p:q", metadata=Unreadable()), "entry point 'a = p:q'"),
        (Source(metadata=Unreadable()), "a distribution without a name"),
    ],
)
def test_a_source_names_distribution_entry_point_and_file(source: Source, expected: str) -> None:
    """E1: as far as they are known."""
    assert str(source) == expected


def test_a_source_knows_its_distribution_and_version() -> None:
    source = Source("a = p:q", metadata=Metadata())
    assert (source.distribution, source.version) == ("gpu-images", "1.2")
    for unknown in (Source(), Source(metadata=Nameless()), Source(metadata=Unreadable())):
        assert (unknown.distribution, unknown.version) == (None, None)


@pytest.mark.parametrize(
    "value", [SOURCE, Problem("it is wrong", "Mend it")], ids=["source", "problem"]
)
def test_sources_and_problems_are_immutable(value: object) -> None:
    """They are handed out, and shown again later."""
    for each in dataclasses.fields(value):  # type: ignore[arg-type]  # both are dataclasses
        with pytest.raises(AttributeError):
            setattr(value, each.name, None)
    with pytest.raises((AttributeError, TypeError)):
        value.other = 1  # type: ignore[attr-defined]  # that is the point


def test_a_problem_is_shown_with_everything_known_about_it() -> None:
    """E1: distribution, entry point, file, key and remedy."""
    assert str(Problem("it is wrong", "Mend it", "gpu", "name", Source("gpu = p:q"))) == (
        "backend 'gpu' is skipped (entry point 'gpu = p:q'), key name: it is wrong. Mend it"
    )
    assert str(Problem("it is wrong", "Mend it", "gpu")) == (
        "backend 'gpu' is skipped: it is wrong. Mend it"
    )
    assert str(Problem("it is wrong", "Mend it", "gpu", skips=False)) == (
        "backend 'gpu': it is wrong. Mend it"
    )
    assert str(Problem("it is wrong", "Mend it", key="LIB_BLOCK")) == (
        "environment variable LIB_BLOCK: it is wrong. Mend it"
    )
