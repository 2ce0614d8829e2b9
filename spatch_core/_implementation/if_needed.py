"""The answer of a ``should_run`` whose backend runs only if no other one does."""

from __future__ import annotations


class IfNeeded:
    """The type of `IF_NEEDED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "IF_NEEDED"

    def __reduce__(self) -> str:
        return "IF_NEEDED"


IfNeeded.__module__ = __name__.rpartition("._")[0] + ".backend_utils"  # the path in pickles
IF_NEEDED = IfNeeded()
"""The answer of a ``should_run`` whose backend runs only if no other one does."""
