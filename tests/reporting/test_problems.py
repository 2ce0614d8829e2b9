"""Where a problem stands, and how it is shown."""

from __future__ import annotations

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
    ("value", "fields"),
    [
        (SOURCE, ["entry_point", "file", "metadata"]),
        (Problem("it is wrong", "Mend it"), ["message", "remedy", "key", "skips"]),
    ],
    ids=["source", "problem"],
)
def test_sources_and_problems_are_immutable(value: object, fields: list[str]) -> None:
    """They are handed out, and shown again later."""
    for name in [*fields, "other"]:
        with pytest.raises(AttributeError):
            setattr(value, name, None)
    for name in fields:
        with pytest.raises(AttributeError):
            delattr(value, name)


def test_sources_and_problems_are_compared_and_printed_by_their_fields() -> None:
    """The distribution's metadata is left out: it is read on demand."""
    assert Source("a = p:q", metadata=Metadata()) == Source("a = p:q")
    assert repr(Source("a = p:q")) == "Source(entry_point='a = p:q', file=None)"
    one, other = (Problem("it is wrong", "Mend it", "gpu", source=SOURCE) for _ in range(2))
    assert one == other
    assert len({one, other, Problem("it is wrong", "Mend it")}) == 2
    assert repr(one) == (
        "Problem(message='it is wrong', remedy='Mend it', backend='gpu', key=None, "
        f"source={SOURCE!r}, skips=True, warns=True)"
    )


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
