"""`dask.array`, which has no annotations: type checkers see all its names as ``Any``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    da: Any
    dask: Any
    flatten: Any
    parse_bytes: Any
    tokenize: Any
    HighLevelGraph: Any
    Array: TypeAlias = Any
else:
    import dask
    import dask.array as da
    from dask.array import Array
    from dask.base import tokenize
    from dask.core import flatten
    from dask.highlevelgraph import HighLevelGraph
    from dask.utils import parse_bytes

__all__ = ["Array", "HighLevelGraph", "da", "dask", "flatten", "parse_bytes", "tokenize"]
