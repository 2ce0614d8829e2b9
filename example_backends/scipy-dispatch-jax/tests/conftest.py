"""Settings for every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile(
    "jax",
    max_examples=3,  # each combination of shape and settings is compiled
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("jax")


@pytest.fixture(params=[True, False], ids=["x64", "x32"])
def precision(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Run a test with and without double precision."""
    yield from _with_x64(request.param)


@pytest.fixture
def double() -> Iterator[bool]:
    """Run a test with double precision."""
    yield from _with_x64(True)


def _with_x64(enabled: bool) -> Iterator[bool]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", enabled)
    yield enabled
    jax.config.update("jax_enable_x64", before)
