"""A run of a library's tests under a backend: the part of the plugin that is loaded on demand."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Generator
from contextlib import nullcontext

import pytest

from ..backend_system import BackendSystem
from ..examination.libraries import find_library, import_public_names, load_library
from ..examination.packages import origin_of
from ..exceptions import GlobalOptionsWarning, UnknownBackendError
from .expected_failures import ExpectedFailures, ExpectedFailuresError, read_expected_failures
from .forced_conversions import ForcedConversions
from .observed_calls import ObservedCalls
from .package_calls import PackageCalls
from .replaced_functions import replace_functions
from .run_report import RunReport

_CONVERT = "convert:"
_NOTED = "spatch_calls"
"""An attribute of test reports, which xdist transfers from its workers to the main process."""


class BackendRun:
    """The plugin of a run of tests under a backend.

    Parameters
    ----------
    backend, library : str
        The name of the backend, with an optional prefix ``convert:``, and that of the library.
    require : bool
        Whether the backend must answer a call in each test.
    expected_failures : str or None
        The file of expected failures.
    json : str or None
        The file for the report.
    is_worker : bool
        Whether another process collects the test reports.

    Raises
    ------
    pytest.UsageError
        If the library, the backend or the file cannot be used.

    Attributes
    ----------
    backend : str
        The name of the backend.
    converts : bool
        Whether each call is made with objects of the backend.
    calls : ObservedCalls
        Records the outcomes of the calls in a test.
    """

    def __init__(
        self,
        backend: str,
        library: str,
        *,
        require: bool = False,
        expected_failures: str | None = None,
        json: str | None = None,
        is_worker: bool = False,
    ) -> None:
        self.converts = backend.startswith(_CONVERT)
        self.backend = backend.removeprefix(_CONVERT)
        self._system = _load(library)
        self._require = require
        self._json = json
        self._is_worker = is_worker
        self._put_back: Callable[[], None] | None = None
        try:
            self._system.backend_opts(prioritize=self.backend)
            self._expected = ExpectedFailures()
            if expected_failures:
                self._expected = read_expected_failures(expected_failures)
        except (UnknownBackendError, ExpectedFailuresError) as error:
            raise pytest.UsageError(str(error)) from None
        description = self._system.backends[self.backend]
        if self.converts and description.conversions is None:
            raise pytest.UsageError(
                f"backend {self.backend!r} has no conversions: to_default and from_default"
            )
        self.calls = ObservedCalls(self._system, self.backend)
        self._package_calls = PackageCalls(description, self.calls)
        self._forced = ForcedConversions(self.backend) if self.converts else None
        functions = self._system.functions
        unknown = [each for each in self._expected.functions if each not in functions]
        if unknown:
            raise pytest.UsageError(
                f"{expected_failures} names functions that {library} does not have: "
                f"{', '.join(unknown)}"
            )
        implemented = [name for name, each in functions.items() if self.backend in each.backends]
        distribution, version = origin_of("", self.backend, self._system.backends)
        about = {
            "library": library,
            "backend": self.backend,
            "converts": self.converts,
            "distribution": distribution,
            "version": version,
        }
        self._report = RunReport(about, implemented)

    def pytest_sessionstart(self) -> None:
        """Prioritize the backend in all threads before tests are collected."""
        self._put_back = replace_functions(self._system, self._package_calls.stand_in)
        options = self._system.backend_opts
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GlobalOptionsWarning)
            options(prioritize=self.backend, hook=self.calls).enable_globally()
            if self._forced is not None:
                # As the inner hook: the outer one observes the converted calls.
                options(hook=self._forced, fallback="convert").enable_globally()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the tests that are expected to fail, and note their modules."""
        modules = (getattr(item, "module", None) for item in items)
        self._package_calls.add_tests({each for each in modules if each is not None})
        for item in items:
            reason = self._expected.of_test(item.nodeid)
            if reason:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record the calls of a test, and disable the backend in a test marked spatch_default."""
        self.calls.begin()
        self._package_calls.begin()
        is_default = item.get_closest_marker("spatch_default") is not None
        if self._forced is not None:
            self._forced.is_active = not is_default
        left_out = self._system.backend_opts(disable=self.backend) if is_default else nullcontext()
        with left_out:
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Change the outcome of a test according to the calls that the backend has answered."""
        report = yield
        outcomes = self.calls.outcomes
        expected = ""
        is_known = hasattr(report, "wasxfail")  # a marker expects it
        fault = self._package_calls.fault if report.when == "call" and not is_known else ""
        if fault and fault not in report.longreprtext:
            report.outcome = "failed"  # also if the backend or the test has caught the error
            report.longrepr = f"{fault}\n\n{report.longreprtext}".rstrip()
        if report.when == "call" and report.failed:
            expected = self._expected.of_functions(outcomes.answered)
            if expected:
                report.outcome = "skipped"
                report.wasxfail = f"{expected}: {self._expected.functions[expected]}"
        needs = report.when == "call" and report.passed and not is_known and self._requires(item)
        if needs and not outcomes.answered:
            report.outcome = "failed"
            report.longrepr = self._unanswered()
        setattr(item, _NOTED, expected or getattr(item, _NOTED, ""))
        if report.when == "teardown":
            setattr(report, _NOTED, (outcomes.as_json(), getattr(item, _NOTED)))
        return report

    def _requires(self, item: pytest.Item) -> bool:
        if item.get_closest_marker("spatch_default") is not None:
            return False
        return self._require or item.get_closest_marker("spatch_require") is not None

    def _unanswered(self) -> str:
        outcomes = self.calls.outcomes
        lines = [f"backend {self.backend!r} has answered no call of this test"]
        for found in (outcomes.deferred, outcomes.unseen):
            lines += [f"{name}: {', '.join(reasons)}" for name, reasons in found.items()]
        return "\n  ".join(lines)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the outcomes that this process or a worker of xdist has recorded."""
        noted = getattr(report, _NOTED, None)
        if noted is not None:
            self._report.add(report.nodeid, *noted)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Reset the options, write the report, and fail if an expected failure did not occur."""
        self._system.backend_opts.reset_globally()
        if self._put_back is not None:
            self._put_back()
        if self._is_worker:
            return
        if self._json:
            with open(self._json, "w", encoding="utf-8") as file:
                json.dump(self._report.content(), file, indent=2)
                file.write("\n")
        if self._report.needless(self._expected.functions) and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the report."""
        how = "converted in all calls" if self.converts else "prioritized"
        terminalreporter.section(f"backend {self.backend}, {how}")
        for line in self._report.lines():
            terminalreporter.write_line(line)
        for name in self._report.needless(self._expected.functions):
            terminalreporter.write_line(f"no test has failed because of {name}, as was expected")


def _load(name: str) -> BackendSystem:
    """Return the system of a library, with all its functions.

    Raises
    ------
    pytest.UsageError
        If no library has this name, or it cannot be used.
    """
    try:
        library = find_library(name)
    except LookupError as error:
        raise pytest.UsageError(str(error)) from None
    loaded = load_library(library, tries=False)
    if loaded.fault is not None:
        raise pytest.UsageError(loaded.describe(loaded.fault))
    import_public_names(library)
    return loaded.usable
