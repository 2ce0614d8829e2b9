"""Whether the garbage collector is running, which matters on CPython 3.10.

There, a collection may run while the frame of a call is being made. If a finalizer exchanged the
function's code then, the frame would be made for the old code, and run the new one. Imported with
the library on 3.10, so that no collection begins unnoticed.
"""

from __future__ import annotations

import gc

_collections: list[str] = []
"""Not empty while the garbage collector runs."""


def is_collecting() -> bool:
    """Whether the garbage collector is running."""
    return bool(_collections)


def _note(phase: str, _: object) -> None:
    if phase == "start":
        _collections.append(phase)
    else:
        _collections.clear()


gc.callbacks.append(_note)
