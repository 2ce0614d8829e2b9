"""S12: names of backends of one distribution."""

from __future__ import annotations

import pytest

from spatch_core._discovery.distribution_names import is_name, key_of, name_of, of_distribution


@pytest.mark.parametrize("text", ["gpu", "gpu@GPU_dist", "a.b-c@x"], ids=str)
def test_a_name_may_have_a_distribution(text: str) -> None:
    """S12: both are written as entry points and distributions are named."""
    assert is_name(text)
    assert name_of(text) == text.partition("@")[0]


@pytest.mark.parametrize("text", ["", "@dist", "gpu@", "gpu@a b", "gpu@a@b"], ids=repr)
def test_anything_else_names_no_backend(text: str) -> None:
    assert not is_name(text)


def test_distributions_are_compared_as_installers_do() -> None:
    """S12: case and the kind of separators do not count, in the name of the backend they do."""
    assert key_of("Gpu@GPU_dist.x") == of_distribution("Gpu", "gpu-dist-x") == "Gpu@gpu-dist-x"
    assert key_of("Gpu_x") == "Gpu_x"
