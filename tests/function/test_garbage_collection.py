"""Whether garbage is being collected, which matters on CPython 3.10."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]


@pytest.fixture(autouse=True)
def _callbacks() -> Iterator[None]:
    """Importing the module adds a callback; where the package does not import it, take it away."""
    is_used = "spatch_core._function.garbage_collection" in sys.modules
    before = [*gc.callbacks]
    yield
    if not is_used:
        gc.callbacks[:] = before
        sys.modules.pop("spatch_core._function.garbage_collection", None)


def test_finalizers_see_the_collection() -> None:
    """A finalizer runs in the middle of it, and may call a function of a library."""
    from spatch_core._function.garbage_collection import is_collecting

    seen: list[bool] = []

    class Cycle:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            seen.append(is_collecting())

    Cycle()
    assert not is_collecting()
    gc.collect()
    assert seen == [True]
    assert not is_collecting()


def test_collections_are_noted_where_that_matters() -> None:
    """From the import of the library on; elsewhere nothing is called in collections."""
    code = """
        import sys
        from spatch_core import BackendSystem
        BackendSystem(None, "LIB")
        print("spatch_core._function.garbage_collection" in sys.modules)
    """
    done = run_python(code, path=[CORE])
    assert done.stdout.strip() == str(sys.version_info < (3, 11))
