"""Availability of a GPU, and the report of the comparison on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from report import REPORT


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that emulates a GPU."""
    group = parser.getgroup("CuPy without a GPU")
    for option, helps in (
        ("--emulate", "compile CuPy's kernels for the processor: see tools/cupy_emulator"),
        ("--emulate-no-fma", "the same, and round products before they are added"),
    ):
        group.addoption(option, dest="emulate", action="store_const", const=option, help=helps)


def pytest_configure(config: pytest.Config) -> None:
    """Install the emulator if requested, before any module imports CuPy."""
    chosen = config.getoption("emulate", default=None)
    if chosen is None:
        return
    from cupy_emulator import Unavailable, install
    from cupy_emulator.pytest_plugin import LeftOut

    try:
        install(fma=chosen == "--emulate")
    except Unavailable as error:
        raise pytest.UsageError(f"{chosen}: {error}") from None
    config.pluginmanager.register(LeftOut())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that need a GPU if there is none, with the reason."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    try:
        import cupy

        reason = "" if cupy.cuda.runtime.getDeviceCount() else "CuPy finds no GPU"
    except Exception as error:  # noqa: BLE001 - drivers raise many classes of exceptions
        reason = f"no GPU: {error}"
    if reason:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the report, and write it to the file named by the environment variable."""
    if not REPORT.rows:
        return
    text = REPORT.text()
    emulated = config.getoption("emulate", default=None)
    where = "on the processor" if emulated else "on a GPU, to be pasted into the documentation"
    terminalreporter.section(f"compared {where}")
    terminalreporter.write_line(text)
    target = os.environ.get("SCIPY_DISPATCH_CUPY_REPORT")
    if target:
        Path(target).write_text(text, encoding="utf-8")
