"""The plugin for pytest: options, markers and a fixture.

pytest imports this module whenever the package is installed. Everything else is imported in runs
with a backend.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .backend_run import BackendInTest

__all__: list[str] = []

_MARKERS = (
    "spatch_default: the library's own implementations run, also with --spatch-backend",
    "spatch_require: with --spatch-backend, fails if the backend answers none of its calls",
)
_RUN = "spatch-backend-run"
"""The name under which the plugin of a run is registered."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add = parser.getgroup("spatch", "a library's tests under a backend (spatch-core)").addoption
    add(
        "--spatch-backend",
        metavar="NAME",
        help="prioritize this backend in all tests; convert:NAME makes each call with its objects",
    )
    add("--spatch-library", metavar="NAME", help="the library, as spatch-core list shows it")
    add(
        "--spatch-require",
        action="store_true",
        help="a test fails if the backend answers none of its calls",
    )
    add("--spatch-json", metavar="FILE", help="write the outcomes of the calls as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and, if a backend is given, the plugin of the run."""
    for each in _MARKERS:
        config.addinivalue_line("markers", each)
    names = ("backend", "library", "require", "json")
    given: dict[str, Any] = {name: config.getoption(f"spatch_{name}") for name in names}
    if not any(given.values()):
        return
    if not (given["backend"] and given["library"]):
        raise pytest.UsageError(
            "--spatch-backend and --spatch-library must be given together: the backend, and the "
            "library whose functions it implements, as `spatch-core list` shows it"
        )
    from .backend_run import BackendRun

    is_worker = hasattr(config, "workerinput")
    config.pluginmanager.register(BackendRun(is_worker=is_worker, **given), _RUN)


@pytest.fixture
def spatch_backend(request: pytest.FixtureRequest) -> BackendInTest:
    """Return the backend under which the test runs, with its answers in the test so far."""
    from .backend_run import BackendInTest

    run = request.config.pluginmanager.get_plugin(_RUN)
    if run is None or request.node.get_closest_marker("spatch_default"):
        return BackendInTest("default")
    return BackendInTest(run.backend, run.converts, run.calls.outcomes)
