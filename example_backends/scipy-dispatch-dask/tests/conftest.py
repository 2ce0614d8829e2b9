"""Settings for every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dask
import pytest
from comparison import forbidden
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile(
    "dask",
    max_examples=25,
    # The first example includes the time for importing SciPy's modules.
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("dask")


@pytest.fixture(autouse=True)
def nothing_is_computed_unasked() -> Iterator[None]:
    """Use a scheduler that fails, unless a test sets another scheduler."""
    with dask.config.set(scheduler=forbidden):
        yield
