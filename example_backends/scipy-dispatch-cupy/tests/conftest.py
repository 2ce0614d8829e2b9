"""Availability of a GPU, and the report of the comparison on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPORT: dict[str, float] = {}
"""The largest difference from SciPy, relative to the largest value, for each function and type."""


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


@pytest.fixture
def report() -> dict[str, float]:
    """Return the table to which the comparison adds its results."""
    return REPORT


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the report, and write it to the file named by the environment variable."""
    if not REPORT:
        return
    import cupy
    import numpy as np
    import scipy

    runtime = cupy.cuda.runtime
    device = runtime.getDeviceProperties(0)["name"].decode()
    driver, cuda = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    lines = [
        f"Device: {device}, driver {driver}, CUDA {cuda}",
        f"CuPy {cupy.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}",
        "",
        "| function | largest difference |",
        "|---|---|",
        *(f"| {name} | {worst:.1e} |" for name, worst in sorted(REPORT.items())),
    ]
    terminalreporter.section("compared on a GPU")
    terminalreporter.write_line("\n".join(lines))
    target = os.environ.get("SCIPY_DISPATCH_CUPY_REPORT")
    if target:
        Path(target).write_text("\n".join(lines), encoding="utf-8")
