from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import pytest


@pytest.fixture(autouse=True)
def no_cache() -> Iterator[None]:
    """Each test decides whether NetworkX keeps converted graphs."""
    nx.config.cache_converted_graphs = False
    yield
    nx.config.cache_converted_graphs = True
