"""E7: locks of the import system that an interrupt has left held."""

from __future__ import annotations

import _imp
import importlib
import threading
import time
from typing import TYPE_CHECKING

import pytest

from spatch_core._import_locks import is_importing, outermost_import, release_abandoned_locks

if TYPE_CHECKING:
    from tests.conftest import WritePackage


def test_a_thread_knows_whether_it_is_importing(package: WritePackage) -> None:
    text = (
        "from spatch_core._import_locks import is_importing, outermost_import\n"
        "during = is_importing(), outermost_import().f_code.co_name\n"
    )
    package("importing_now", {"__init__.py": text})
    module = importlib.import_module("importing_now")
    assert module.during == (True, "_gcd_import")
    assert not is_importing()
    assert outermost_import() is None


def test_left_locks_are_released(package: WritePackage) -> None:
    """The global lock and the locks of modules; another thread can import again."""
    package("left_held", {"__init__.py": ""})
    _imp.acquire_lock()
    _imp.acquire_lock()
    lock = importlib._bootstrap._get_module_lock("left_held")  # type: ignore[attr-defined]
    lock.acquire()
    release_abandoned_locks()
    assert lock.owner is None
    with pytest.raises(RuntimeError):
        _imp.release_lock()
    other = threading.Thread(target=importlib.import_module, args=("left_held",), daemon=True)
    other.start()
    other.join(60)
    assert not other.is_alive()


def test_a_release_that_was_interrupted_is_finished(package: WritePackage) -> None:
    """It has counted; it has not yet woken the thread that waits."""
    package("half_released", {"__init__.py": ""})
    lock = importlib._bootstrap._get_module_lock("half_released")  # type: ignore[attr-defined]
    lock.acquire()
    other = threading.Thread(target=importlib.import_module, args=("half_released",), daemon=True)
    other.start()
    while not lock.waiters:
        time.sleep(0.001)
    lock.count = type(lock.count)()  # a number or a list
    release_abandoned_locks()
    other.join(60)
    assert not other.is_alive()


def test_the_locks_of_an_import_stay(package: WritePackage) -> None:
    text = (
        "import importlib\n"
        "from spatch_core._import_locks import release_abandoned_locks\n"
        "release_abandoned_locks()\n"
        "owner = importlib._bootstrap._get_module_lock(__name__).owner\n"
    )
    package("keeps_its_lock", {"__init__.py": text})
    assert importlib.import_module("keeps_its_lock").owner == threading.get_ident()
