from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from scipy_dispatch_threads import set_workers

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("threads", deadline=None, max_examples=50)
settings.load_profile("threads")


@pytest.fixture(autouse=True)
def _three_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Share calls among three threads, on any machine and in any environment."""
    set_workers(3)
    yield
    monkeypatch.undo()
    set_workers(None)
