"""Whether garbage is being collected: CPython 3.10 may do that while it makes the frame of a call.

The frame is then made for the code that the function had before, and with the code that it has
afterwards. Imported with the library there, so that no collection begins unnoticed.
"""

from __future__ import annotations

import gc

_collections: list[str] = []
"""Not empty while garbage is collected."""


def is_collecting() -> bool:
    """Whether garbage is being collected."""
    return bool(_collections)


def _note(phase: str, _: object) -> None:
    if phase == "start":
        _collections.append(phase)
    else:
        _collections.clear()


gc.callbacks.append(_note)
