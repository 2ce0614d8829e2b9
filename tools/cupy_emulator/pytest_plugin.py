"""A pytest plugin that runs GPU tests on the emulator and skips tests that it cannot run."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest

from ._errors import NotEmulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class LeftOut:
    """Count the calls that are not emulated.

    A test that compares many calls does so with a function named ``checked`` in its module. A
    call that is not emulated is skipped there, so that it does not hide the other calls. A test
    in which no call is emulated is skipped.
    """

    def __init__(self) -> None:
        self.compared = 0
        self.errors: list[NotEmulated] = []

    @pytest.fixture(autouse=True)
    def _one_by_one(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        checked = getattr(request.module, "checked", None)
        if checked is not None:
            monkeypatch.setattr(request.module, "checked", self._leaving_out(checked))

    def _leaving_out(self, checked: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(checked)
        def checked_if_emulated(*args: Any, **kwargs: Any) -> None:
            try:
                checked(*args, **kwargs)
            except NotEmulated as error:
                self.errors.append(error)
            else:
                self.compared += 1

        return checked_if_emulated

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Skip the test if no call could be compared."""
        compared, before = self.compared, len(self.errors)
        try:
            yield
        except NotEmulated as error:
            self.errors.append(error)
            pytest.skip(str(error))
        reasons = dict.fromkeys(map(str, self.errors[before:]))
        if reasons and self.compared == compared:
            pytest.skip("; ".join(reasons))

    def pytest_report_header(self) -> str:
        """State that CuPy is emulated."""
        return "CuPy is emulated: its own kernels, on the processor"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Report how many calls were compared, and why the others were not."""
        terminalreporter.section("emulated")
        terminalreporter.write_line(
            f"{self.compared} calls compared, {len(self.errors)} not emulated:"
        )
        names: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for error in self.errors:
            names[error.needs][error.what] += 1
        for needs, counts in names.items():
            what = ", ".join(sorted(counts))
            terminalreporter.write_line(f"{counts.total():5} because {needs}: {what}")
