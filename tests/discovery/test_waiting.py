"""C11: how long a thread waits for the discovery of another one."""

from __future__ import annotations

import threading

import pytest

from spatch_core._discovery import waiting
from spatch_core._discovery.waiting import Waiting
from spatch_core._locks import Holder


@pytest.mark.parametrize(
    ("is_new", "waits", "seconds"),
    [(True, True, 0.1), (False, True, 5), (True, False, 10), (False, False, 60)],
)
def test_patience(
    is_new: bool, waits: bool, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends when the discovering thread has stood still for so long."""
    ready, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        ready.set()
        if waits:
            go_on.wait()
        lock.acquire()

    lock = threading.Lock()
    lock.acquire()
    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    clock = [100.0]
    monkeypatch.setattr(waiting, "monotonic", lambda: clock[0])
    holder = Holder()
    holder.thread = thread.ident or 0
    known = frozenset() if is_new else frozenset({threading.get_ident()})
    gives_up = Waiting(lambda: known)
    while gives_up._place is None or gives_up(holder) or not _stands(gives_up, holder):
        gives_up(holder)
    clock[0] += seconds * 0.9
    assert not gives_up(holder)
    clock[0] += seconds * 0.2
    assert gives_up(holder)
    go_on.set()
    lock.release()
    thread.join()


def _stands(gives_up: Waiting, holder: Holder) -> bool:
    """Whether the thread has come to where it waits."""
    place = gives_up._place
    for _ in range(50):
        gives_up(holder)
    return gives_up._place == place
