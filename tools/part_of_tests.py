"""A pytest plugin that runs a part of the parametrized tests, the same part in each run.

    PYTHONPATH=tools pytest -p part_of_tests --every 3

All tests without parameters run. Of the others, every third on average runs. The choice depends on
the tests' identifiers alone, so that other changes do not affect it and all workers agree.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every", type=int, default=1, help="run one of this many parametrized tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every: int = config.option.every
    left_out = [each for each in items if not is_kept(each.nodeid, every)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [each for each in items if is_kept(each.nodeid, every)]


def is_kept(identifier: str, every: int) -> bool:
    """Whether a test belongs to the part."""
    return "[" not in identifier or zlib.crc32(identifier.encode()) % every == 0
