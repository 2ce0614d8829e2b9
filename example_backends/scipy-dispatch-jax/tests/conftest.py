"""Settings for every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


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


@pytest.fixture
def quickly_compiled() -> Iterator[None]:
    """Run a test without XLA's optimizations, where the last bits do not count."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
