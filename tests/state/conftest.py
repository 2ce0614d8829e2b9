"""A library and functions of a user whose options are frozen, in files that processes import."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from spatch_core.types import BackendOptions

# A library and functions of a user, in files that other processes can import.
LIBRARY = """
from spatch_core import BackendSystem


class Foreign:
    pass


def first(x, **options):
    return "first"


def second(x, **options):
    return "second"


def third(x, **options):
    return "third"


system = BackendSystem(
    None,
    "FROZENLIB",
    backends=[
        {
            "name": name,
            "primary_types": [f"{__name__}:Foreign"],
            "requires_opt_in": name == "third",
            "functions": {f"{__name__}:f": {"function": f"{__name__}:{name}"}},
        }
        for name in ("first", "second", "third")
    ],
)
backend_opts = system.backend_opts


@system.dispatchable("x")
def f(x, **options):
    return "default"
"""

WORK = '''
import asyncio

from frozen_library import Foreign, backend_opts, f


def plain(x=None, *rest, **options):
    """Call the library."""
    return f(Foreign())


@backend_opts(prioritize="third")
def decorated(x: "int" = 1, *rest, key: "str" = "") -> "str":
    """Call the library under options."""
    return f(Foreign())


class Work:
    def __init__(self, value=0):
        self.value = value

    @backend_opts(prioritize="third")
    def method(self, x=1):
        return f(Foreign()), self.value, x

    @staticmethod
    @backend_opts(prioritize="second")
    def static(x):
        return f(Foreign()), x

    @classmethod
    @backend_opts(prioritize="third")
    def of_class(cls):
        return f(Foreign()), cls.__name__

    def __call__(self, x):
        return f(Foreign()), self.value, x


@backend_opts(prioritize="third")
async def coroutine(x=1):
    """Wait, and call the library."""
    found = [f(Foreign())]
    await asyncio.sleep(0)
    return [*found, f(Foreign())]


def generator(x=1):
    yield f(Foreign())


async def async_generator(x=1):
    yield f(Foreign())
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on `sys.path` with both modules."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "frozen_library.py").write_text(LIBRARY, encoding="utf-8")
    (folder / "frozen_work.py").write_text(WORK, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
    for name in ("frozen_library", "frozen_work", "frozen_late"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def library(folder: Path) -> Any:
    return import_module("frozen_library")


@pytest.fixture(scope="module")
def options(library: Any) -> type[BackendOptions]:
    found: type[BackendOptions] = library.backend_opts
    return found


@pytest.fixture(scope="module")
def work(library: Any) -> Any:
    return import_module("frozen_work")


@pytest.fixture(scope="module")
def process(work: Any) -> Iterator[ProcessPoolExecutor]:
    """A fresh process, which finds the same modules."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield pool
