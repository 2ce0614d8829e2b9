"""E7, S3: blocks of options that are interrupted wherever they are entered, run and left."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from spatch_core import accelerated

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here"),
    pytest.mark.skipif(not accelerated, reason="an exit in Python may be kept from running"),
]

INTERRUPTED = [
    *("blocks", "blocks-of-one-object", "blocks-of-a-type"),
    *("blocks-with-a-hook", "blocks-with-a-hook-inside"),
]


@pytest.mark.parametrize("globally", [False, True], ids=["block", "globally"])
@pytest.mark.parametrize("kind", INTERRUPTED)
def test_interrupts_of_blocks(kind: str, globally: bool, interrupt: Callable[..., None]) -> None:
    """At random moments: the options afterwards are those from before the block."""
    interrupt(kind, globally=globally, pure=False)
