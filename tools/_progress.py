"""Lines that say what is going on and how long it takes."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Progress:
    """Prints one line for each thing done, and signs of life while it takes long."""

    heartbeat = 15.0  # seconds between signs of life where lines cannot be overwritten

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._overwrites = sys.stdout.isatty()

    def say(self, text: str) -> None:
        print(f"[{self._clock()}] {text}", flush=True)

    @contextmanager
    def task(self, title: str, *, quiet: bool = False) -> Iterator[None]:
        """Show `title` while the block runs, then whether it went well and how long it took.

        With `quiet`, for a block that prints what it does itself, show no signs of life.
        """
        start = time.monotonic()
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(title, done), daemon=True)
        if not quiet:
            watcher.start()
        outcome = "FAILED"
        try:
            yield
            outcome = "ok"
        finally:
            done.set()
            if not quiet:
                watcher.join()
            self.say(f"{title}: {outcome} ({time.monotonic() - start:.1f} s)")

    def _watch(self, title: str, done: threading.Event) -> None:
        while not done.wait(0.2 if self._overwrites else self.heartbeat):
            text = f"[{self._clock()}] {title} …"
            print(f"\r{text}" if self._overwrites else text, end="", flush=True)
            if not self._overwrites:
                print(flush=True)
        if self._overwrites:
            print("\r\033[K", end="", flush=True)

    def _clock(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._start), 60)
        return f"{minutes}:{seconds:02}"
