"""A pytest plugin that skips tests of features that Pyodide lacks, with the reason.

WebAssembly has no processes and no threads, and only pure-Python packages are installed. A
test is skipped if the platform raises the corresponding error, so no list of tests has to be kept.
A test that fails in any other way fails.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

LACKING = {"_multiprocessing", "ensurepip", "numpy", "venv"}
"""Modules that Pyodide lacks, or has only in its package index."""
OTHERWISE = {
    "test_a_file_that_others_may_have_written": "its file system has no owners",
    "test_a_folder_that_others_may_write_to": "its file system has no owners",
    "test_tasks_that_overlap": "no threads, and a task that waits for one is left behind",
    "test_to_thread": "its executors run in the same context",
}
"""Tests of features that work differently in Pyodide, by name, with the reason."""


def refusal(error: BaseException) -> str:
    """Return the feature that the platform lacks, or an empty string for another error."""
    if parts := getattr(error, "exceptions", ()):  # those of a group
        found = {refusal(each) for each in parts}
        return "" if "" in found else " and ".join(sorted(found))
    if isinstance(error, OSError) and error.errno == errno.ENOTSUP:
        return "no processes"
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "no threads"
    if isinstance(error, NotImplementedError) and "multiprocessing" in str(error):
        return "no processes"
    if isinstance(error, ModuleNotFoundError) and error.name in LACKING:
        return f"no {error.name}"
    # The cleanup of a test may fail, too, after the original error.
    return refusal(error.__context__) if error.__context__ else ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if reason := OTHERWISE.get(getattr(item, "originalname", item.name)):
            item.add_marker(pytest.mark.skip(reason=f"Pyodide: {reason}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    with _refusals_are_skipped():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    with _refusals_are_skipped():
        return (yield)


@contextmanager
def _refusals_are_skipped() -> Generator[None]:
    try:
        yield
    except Exception as error:
        if lacking := refusal(error):
            pytest.skip(f"Pyodide: {lacking}")
        raise
