"""What the program that measures the costs of this machine prints."""

from __future__ import annotations

import pytest

from scipy_dispatch_threads import _pool, set_workers
from scipy_dispatch_threads._table import TABLE
from scipy_dispatch_threads.measure import ratio


@pytest.mark.parametrize("name", ["median_filter", "binary_erosion", "rotate", "sobel"])
def test_each_kind_of_call_is_shared_from_the_size_that_its_cost_decides(name: str) -> None:
    """None is compared with itself, or left out."""
    assert name in TABLE
    workers = _pool.workers()
    set_workers(2)
    try:
        assert 0 < ratio(name) < float("inf")
    finally:
        set_workers(workers)
