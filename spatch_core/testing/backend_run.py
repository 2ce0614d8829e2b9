"""A run of a library's tests under a backend: the part of the plugin that is loaded on demand.

First comes the run, then its hooks around each call, then the report: the table, the JSON, and what
the fixture gives; at last, how calls of a package reach a library that wraps its functions.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from threading import RLock
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from .._convert import Conversion, Unconverted, awaited, leaves
from .._decide import Step, Verdict
from .._hooked import Call
from .._patterns import DEFAULT
from .._wrapper import ASYNC_GENERATOR, COROUTINE, GENERATOR
from ..backend_system import BackendSystem
from ..examination.libraries import find_library, import_public_names, load_library
from ..exceptions import GlobalOptionsWarning, UnknownBackendError
from ..hooks import watched

FORMAT = 1
"""The version of the JSON format. Later versions only add keys."""
SHOWN = 3
"""The largest number of reasons and of tests in each list of the table."""
ANSWERED, DEFERRED, UNSEEN = "answered", "deferred", "unseen"
Outcomes: TypeAlias = "Counter[tuple[str, str, str]]"
"""How many calls the backend has answered, deferred or never seen, by function and reason."""
_HEAD = ("FUNCTION", "ANSWERED", "DEFERRED", "NEVER SAW", "TESTS")
_CONVERT = "convert:"
_NOTED = "spatch_calls"
"""An attribute of test reports, which xdist transfers from its workers to the main process."""


class BackendRun:
    """The plugin of a run of tests under a backend."""

    def __init__(
        self,
        backend: str,
        library: str,
        *,
        require: bool = False,
        json: str | None = None,
        is_worker: bool = False,
    ) -> None:
        self.converts = backend.startswith(_CONVERT)
        self.backend = backend.removeprefix(_CONVERT)
        self._system = _load(library)
        self._require = require
        self._json = json
        self._is_worker = is_worker  # another process collects the test reports
        self._put_back: Callable[[], None] | None = None
        try:
            self._system.backend_opts(prioritize=self.backend)
        except UnknownBackendError as error:
            raise pytest.UsageError(str(error)) from None
        description = self._system.backends[self.backend]
        if self.converts and description.conversions is None:
            raise pytest.UsageError(
                f"backend {self.backend!r} has no conversions: to_default and from_default"
            )
        functions = self._system.functions
        self.calls = ObservedCalls(self._system, self.backend)
        self._forced = ForcedConversions(self.backend) if self.converts else None
        about = {
            "library": library,
            "backend": self.backend,
            "converts": self.converts,
            "distribution": description.source.distribution,
            "version": description.source.version,
        }
        implemented = [name for name, each in functions.items() if self.backend in each.backends]
        self._report = RunReport(about, implemented)

    def pytest_sessionstart(self) -> None:
        """Prioritize the backend in all threads before tests are collected."""
        self._put_back = replace_functions(self._system, self.calls.are_running)
        options = self._system.backend_opts
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GlobalOptionsWarning)
            options(prioritize=self.backend, hook=self.calls).enable_globally()
            if self._forced is not None:
                # As the inner hook: the outer one observes the converted calls.
                options(hook=self._forced, fallback="convert").enable_globally()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record the calls of a test, and disable the backend in a test marked spatch_default."""
        self.calls.begin()
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
        """Let a test fail that requires an answer of the backend and has none."""
        report = yield
        answered = reasons(self.calls.outcomes, ANSWERED)
        has_passed = report.when == "call" and report.passed and not hasattr(report, "wasxfail")
        if has_passed and not answered and self._requires(item):
            report.outcome = "failed"
            report.longrepr = self._unanswered()
        if report.when == "teardown":
            # As lists, which also plugins that write reports as JSON can transfer.
            outcomes = [[*key, number] for key, number in self.calls.outcomes.items()]
            setattr(report, _NOTED, outcomes)
        return report

    def _requires(self, item: pytest.Item) -> bool:
        if item.get_closest_marker("spatch_default") is not None:
            return False
        return self._require or item.get_closest_marker("spatch_require") is not None

    def _unanswered(self) -> str:
        lines = [f"backend {self.backend!r} has answered no call of this test"]
        for outcome in (DEFERRED, UNSEEN):
            found = reasons(self.calls.outcomes, outcome)
            lines += [f"{name}: {', '.join(each)}" for name, each in found.items()]
        return "\n  ".join(lines)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the outcomes that this process or a worker of xdist has recorded."""
        noted = getattr(report, _NOTED, None)
        if noted is not None:
            outcomes = Counter({tuple(key): number for *key, number in noted})
            self._report.add(report.nodeid, outcomes)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Reset the options, and write the report."""
        self._system.backend_opts.reset_globally()
        if self._put_back is not None:
            self._put_back()
        if self._json and not self._is_worker:
            with open(self._json, "w", encoding="utf-8") as file:
                json.dump(self._report.content(), file, indent=2)
                file.write("\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the report."""
        how = "converted in all calls" if self.converts else "prioritized"
        terminalreporter.section(f"backend {self.backend}, {how}")
        for line in self._report.lines():
            terminalreporter.write_line(line)


def _load(name: str) -> BackendSystem:
    """Return the system of a library, with all its functions."""
    try:
        library = find_library(name)
    except LookupError as error:
        raise pytest.UsageError(str(error)) from None
    loaded = load_library(library)
    if loaded.failure:
        raise pytest.UsageError(loaded.failure)
    import_public_names(library)
    return loaded.usable


class ObservedCalls:
    """A hook that records whether a backend answered each call, deferred or never saw it."""

    def __init__(self, system: BackendSystem, backend: str) -> None:
        self._system = system
        self._backend = backend
        self._lock = RLock()  # a finalizer may make a call in it
        self._explained: dict[tuple[str, tuple[type, ...]], str] = {}
        self.begin()

    def begin(self) -> None:
        """Start to record the calls of another test."""
        self.outcomes: Outcomes = Counter()
        self._running: set[int] = set()

    def are_running(self) -> bool:
        """Whether the library runs a call, in any thread."""
        return bool(self._running)

    def __call__(self, call: Call) -> Any:
        """Make the call, and record its outcome."""
        return watched(call, self._watch)

    @contextmanager
    def _watch(self, call: Call, nature: int) -> Iterator[None]:
        outcomes, running = self.outcomes, self._running  # of the test in which the call starts
        running.add(id(call))
        try:
            yield
        finally:
            running.discard(id(call))
            outcome = self._outcome(call)
            with self._lock:
                outcomes[outcome] += 1

    def _outcome(self, call: Call) -> tuple[str, str, str]:
        if call.backend == self._backend:
            return ANSWERED, call.function, ""
        if self._backend in call.deferred:
            return DEFERRED, call.function, call.deferred[self._backend]
        key = call.function, call.types
        if key not in self._explained:
            self._explained[key] = self._why_unseen(call)
        return UNSEEN, call.function, self._explained[key]

    def _why_unseen(self, call: Call) -> str:
        for each in self._system.explain_types(call.function, call.types).backends:
            if each.backend == self._backend:
                if each.verdict in (Verdict.RUNS, Verdict.ASKED):
                    return f"{call.backend or 'a hook'} answered first"
                return f"{each.verdict}: {each.reason}" if each.reason else str(each.verdict)
        return "it takes no part in the call"


class ForcedConversions:
    """A hook that converts the library's objects in arguments for a backend, and results back.

    A call is not changed if its arguments have no such object, if it writes into one, if the
    function is a generator function, or if the backend cannot convert the arguments.
    """

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self.is_active = True

    def __call__(self, call: Call) -> Any:
        """Make the call with converted arguments; see `hooks`."""
        decision = call._decision.current()
        function = decision.function
        if not self.is_active or function.nature & (GENERATOR | ASYNC_GENERATOR):
            return NotImplemented
        description = decision.backends.catalog.descriptions[self._backend]
        trip = _Reversed(decision, Step(self._backend, conversions=description.conversions))
        written = [value for _, value in trip.written(call.args, call.kwargs)]
        given = (*call.args, *call.kwargs.values())
        if leaves(written, trip.is_leaf) or not leaves(given, trip.is_leaf):
            return NotImplemented
        try:
            args, kwargs = trip.arguments(call.args, call.kwargs)
        except Unconverted:
            return NotImplemented
        result = call.next(*args, **kwargs)
        if result is NotImplemented:
            return result
        return awaited(result, trip.result) if function.nature & COROUTINE else trip.result(result)


class _Reversed(Conversion):
    """Converts the library's objects for the backend, and results back."""

    there, back = "from_default", "to_default"

    def is_leaf(self, cls: type) -> bool:
        """Whether a class is a primary type of the library, and not one of Python's own."""
        found = self._match(cls)
        return not found.is_builtin and DEFAULT in found.primary

    def is_returned(self, cls: type) -> bool:
        """Whether a class is one of the backend's, and not the library's."""
        return super().is_leaf(cls)


# --- The report -----------------------------------------------------------------------------------


def reasons(outcomes: Outcomes, outcome: str) -> dict[str, dict[str, int]]:
    """Return the numbers of calls with this outcome, by function and by reason."""
    found: dict[str, dict[str, int]] = {}
    for (each, function, reason), number in outcomes.items():
        if each == outcome:
            found.setdefault(function, {})[reason] = number
    return found


@dataclass(frozen=True, slots=True)
class BackendInTest:
    """The backend under which a test runs: the fixture ``spatch_backend`` for pytest.

    Parameters
    ----------
    name : str
        ``"default"`` without ``--spatch-backend``.
    converts : bool
        Whether each call is made with objects of the backend.
    outcomes : Counter
        The outcomes of the calls of the test so far.
    """

    name: str
    converts: bool = False
    outcomes: Outcomes = field(default_factory=Counter)

    @property
    def answered(self) -> dict[str, int]:
        """By the function's identifier, how many calls the backend has answered."""
        found = reasons(self.outcomes, ANSWERED)
        return {function: sum(numbers.values()) for function, numbers in found.items()}

    @property
    def deferred(self) -> dict[str, list[str]]:
        """By the function's identifier, the reasons for which the backend has deferred."""
        return {name: [*numbers] for name, numbers in reasons(self.outcomes, DEFERRED).items()}


class RunReport:
    """The outcomes of the calls of all tests of a run."""

    def __init__(self, about: Mapping[str, Any], implemented: Iterable[str]) -> None:
        self._about = dict(about)  # the library and the backend, for the JSON
        self._implemented = list(implemented)
        self._outcomes: Outcomes = Counter()
        self._tests_of: Counter[str] = Counter()  # by function
        self._tests: dict[str, bool] = {}  # whether each test has reached the backend

    def add(self, test: str, outcomes: Outcomes) -> None:
        """Add the outcomes of a test."""
        self._outcomes.update(outcomes)
        is_reached = any(outcome != UNSEEN for outcome, _, _ in outcomes)
        self._tests[test] = self._tests.get(test, False) or is_reached
        self._tests_of.update({function for _, function, _ in outcomes})

    def content(self) -> dict[str, Any]:
        """Return the report as a dictionary for JSON."""
        outcomes = (ANSWERED, DEFERRED, UNSEEN)
        answered, deferred, unseen = (reasons(self._outcomes, each) for each in outcomes)
        return {
            "format": FORMAT,
            **self._about,
            "functions": {
                name: {
                    "answered": sum(answered.get(name, {}).values()),
                    "deferred": deferred.get(name, {}),
                    "unseen": unseen.get(name, {}),
                    "tests": self._tests_of[name],
                }
                for name in sorted(self._tests_of)
            },
            "not_called": [each for each in self._implemented if each not in self._tests_of],
            "tests": len(self._tests),
            "not_reached": sorted(
                name for name, is_reached in self._tests.items() if not is_reached
            ),
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table and of the lists below it."""
        content = self.content()
        functions: dict[str, dict[str, Any]] = content["functions"]
        rows: list[tuple[str, ...]] = [_HEAD]
        for name, each in functions.items():
            sums = (sum(each[key].values()) for key in ("deferred", "unseen"))
            rows.append((name, *map(str, (each["answered"], *sums, each["tests"]))))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
            yield "  ".join([first.ljust(widths[0]), *cells])
            for key, words in (("deferred", "deferred"), ("unseen", "never saw")):
                for reason, number in _most_frequent(functions.get(first, {}).get(key, {})):
                    yield f"    {number} {words}: {reason}"
        yield ""
        not_called, not_reached = content["not_called"], content["not_reached"]
        title = f"functions of the backend that were not called ({len(not_called)})"
        yield from _listed(title, not_called)
        title = f"tests that never reached it ({len(not_reached)} of {content['tests']})"
        yield from _listed(title, not_reached)


def _most_frequent(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the most frequent reasons."""
    ordered = sorted(numbers.items(), key=lambda each: (-each[1], each[0]))
    rest = ordered[SHOWN:]
    if rest:
        ordered[SHOWN:] = [(f"{len(rest)} other reasons", sum(number for _, number in rest))]
    return ordered


def _listed(title: str, names: list[str]) -> Iterator[str]:
    yield title + (":" if names else "")
    for each in names[:SHOWN]:
        yield f"    {each}"
    if len(names) > SHOWN:
        yield f"    and {len(names) - SHOWN} more, which the JSON has"


# --- The functions of a package that a library wraps ----------------------------------------------


def replace_functions(
    system: BackendSystem, is_running: Callable[[], object] | None = None
) -> Callable[[], None]:
    """Replace the functions of a package that a library wraps; return the way to undo it.

    The library's functions are bound to the names of the package's functions in its public modules,
    also to names that a module's ``__getattr__`` provides. Dictionaries of the package with a
    function as a key get its replacement as another key.

    With `is_running`, a call reaches the package's own function while the library runs a call, and
    in other processes: it may be the backend that makes it, and would never come to an end.
    """
    process = os.getpid()

    def replacement(default: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
        if (is_inside := is_running) is None:
            return wrapper

        @wraps(wrapper)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            is_own = is_inside() or os.getpid() != process
            return (default if is_own else wrapper)(*args, **kwargs)

        return stand_in

    functions = {
        id(each.default): (each.default, replacement(each.default, each.wrapper))
        for each in system._dispatcher.functions
        if _package(each.default) != _package(each.wrapper)
    }
    undo: list[tuple[dict[Any, Any], Any, Any]] = []

    def put(where: dict[Any, Any], key: Any, value: Any) -> None:
        undo.append((where, key, where.get(key, undo)))  # the list itself: the key was absent
        where[key] = value

    def bind(module: ModuleType, name: str, function: Any) -> None:
        put(vars(module), name, function)
        if is_running is not None:
            # Pickle finds it by this name; in a new process the name leads to the package's own.
            function.__module__, function.__qualname__ = module.__name__, name

    for module in _modules({_package(default) for default, _ in functions.values()}):
        names = vars(module)
        is_public = not any(part.startswith("_") for part in module.__name__.split("."))
        for name, value in [*names.items()]:
            if is_public and id(value) in functions:
                bind(module, name, functions[id(value)][1])
            elif type(value) is dict:
                for default, function in functions.values():
                    if value.get(default) is not None and function not in value:
                        put(value, function, value[default])
        if is_public and "__getattr__" in names:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # many are deprecated aliases
                for default, function in functions.values():
                    name = default.__name__
                    if name not in names and getattr(module, name, None) is default:
                        bind(module, name, function)

    def put_back() -> None:
        for where, key, before in reversed(undo):
            if before is undo:
                where.pop(key, None)
            else:
                where[key] = before

    return put_back


def _package(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def _modules(packages: set[str]) -> Iterator[ModuleType]:
    for name, module in [*sys.modules.items()]:
        if type(module) is ModuleType and name.partition(".")[0] in packages:
            yield module
