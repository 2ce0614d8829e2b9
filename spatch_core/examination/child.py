"""Runs third-party code: in this process, or as a task of a child process.

Imports may hang, crash or end the interpreter. A child writes a line of JSON for each step before
it takes it, and for each result. If a step ends the child, the last line names the module at fault,
and another child does the task again without that module.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from .._description import Finding
from .._errors import in_words
from ..exceptions import SpatchCoreWarning
from .findings import error, from_record, note, to_record

_RESTARTS = 5
"""How many modules may end a child before the task is given up."""

announce: ContextVar[Callable[[str], AbstractContextManager[object]]] = ContextVar(
    "announce", default=nullcontext
)
"""Makes a context manager that shows a step while it lasts. The command line sets it."""
redirects_permanently: ContextVar[bool] = ContextVar("redirects_permanently", default=False)
"""Whether third-party code gets stderr as its stdout, for the rest of the process.

The command line sets it and prints its results to a stream of its own, because threads and exit
handlers of third-party code may print at any time.
"""


def progress(text: str) -> AbstractContextManager[object]:
    """Announce a step that may take long, for a ``with`` block.

    Examples
    --------
    >>> with progress("counting"):
    ...     sum(range(4))
    6
    """
    return announce.get()(text)


# --- In this process ------------------------------------------------------------------------------


@contextmanager
def foreign_code(system: object = None) -> Iterator[None]:
    """Hide warnings about backends in a ``with`` block, because commands report the same problems.

    A vendored copy of this package has its own warnings: `system` says which copy the code uses.
    """
    if redirects_permanently.get():
        sys.stdout = sys.stderr
        with suppress(OSError):  # stderr is closed
            os.dup2(2, 1)  # C libraries write to the descriptor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpatchCoreWarning)
        if system is not None:
            package = type(system).__module__.rpartition(".")[0]
            with suppress(ImportError, AttributeError):
                exceptions: Any = import_module(f"{package}.exceptions")
                warnings.simplefilter("ignore", exceptions.SpatchCoreWarning)
        yield


def attempted(action: Callable[[], object]) -> BaseException | None:
    """Run third-party code; return what it raises, unless the user interrupts it."""
    try:
        with foreign_code():
            action()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever it raises
        return error
    return None


def import_failure(module: str) -> str:
    """Import a module; return why that fails, empty if it does not."""
    error = attempted(lambda: import_module(module))
    absent = error.name if isinstance(error, ModuleNotFoundError) else None
    if absent is not None and f"{module}.".startswith(f"{absent}."):
        return f"the module {absent} is not installed"
    return "" if error is None else f"importing {module} failed with {in_words(error)}"


# --- In a child -----------------------------------------------------------------------------------


class Ending(NamedTuple):
    """How a child ended before it was done."""

    what: str  # the step under way
    module: str  # the module that the step imports; empty for none
    key: str  # where the description names the module; empty for nowhere
    how: str  # the predicate of a sentence about the step
    is_late: bool  # whether it was ended because of its time limit

    def __str__(self) -> str:
        return f"{self.what} {self.how}"


@dataclass(slots=True)
class TaskResult:
    """The results of a task."""

    values: dict[str, list[Any]] = field(default_factory=dict)  # of the last child, by kind
    endings: list[Ending] = field(default_factory=list)  # of the children that did not finish

    @property
    def is_complete(self) -> bool:
        """Whether the last child has finished."""
        return "done" in self.values

    def last(self, kind: str, otherwise: Any = None) -> Any:
        """Return the last value of a kind, or `otherwise`."""
        return self.values.get(kind, [otherwise])[-1]

    @property
    def findings(self) -> list[Finding]:
        """The findings of the last child."""
        return [*map(from_record, self.values.get("finding", ()))]

    def failures(self, remedy: str) -> Iterator[Finding]:
        """Yield an error for each key at which a child ended, and a note if it was given up."""
        for each in self.endings:
            more_time = "Give it more time with --timeout, or repair what hangs"
            found = error(str(each), more_time if each.is_late else remedy)
            skipped = self.values.get("skipped", ())
            keys = [each.key, *(key for _, module, key in skipped if module == each.module)]
            yield from (found._replace(key=key or None) for key in dict.fromkeys(keys))
        if self.endings and self.endings[-1].module and not self.is_complete:
            message = "the rest was not examined, because too many modules ended the interpreter"
            found = note(message, "Repair the modules that end the interpreter")
            yield found._replace(is_unchecked=True)


class Journal:
    """The steps and results of a child, for its parent."""

    def __init__(self, descriptor: int, skip: Collection[str]) -> None:
        self._descriptor = descriptor  # of the file that the parent reads
        self._skip = skip  # modules that have ended a child before

    def add(self, kind: str, value: Any) -> None:
        """Write a value that JSON can represent."""
        line = json.dumps([kind, value]).encode() + b"\n"
        while line:  # the file may take a part only
            line = line[os.write(self._descriptor, line) :]

    def found(self, findings: Iterable[Finding]) -> None:
        """Write findings."""
        for each in findings:
            self.add("finding", to_record(each))

    def begins(self, what: str, key: str = "", module: str = "") -> bool:
        """Write the next step; return False if its module has ended a child before."""
        is_skipped = module in self._skip
        self.add("skipped" if is_skipped else "step", (what, module, key))
        return not is_skipped


def run(
    task: str,
    request: Mapping[str, Any],
    about: str,
    *,
    folders: Iterable[str] = (),
    variables: Mapping[str, str] | None = None,
    limit: float,
) -> TaskResult:
    """Run a task in a fresh interpreter, and again without the modules that end it.

    The `task`, ``"module:function"``, is called with the `request`, which JSON must be able to
    represent, and with a `Journal`. `about` is the text of the progress message. The `folders`
    come first on `sys.path`, `variables` are set in the environment, and each child gets `limit`
    seconds.
    """
    result = TaskResult()
    path = [os.path.abspath(each) for each in (*folders, *sys.path)]
    with progress(about):
        while True:
            skip = [each.module for each in result.endings]
            asked = {"task": task, "request": request, "path": path, "skip": skip}
            result.values, how, is_late = _run_once(asked, variables or {}, limit)
            if result.is_complete:
                break
            what, module, key = result.last("step", ("starting", "", ""))
            result.endings.append(Ending(what, module, key, how, is_late))
            if not module or len(result.endings) > _RESTARTS:
                break
    return result


def _run_once(
    asked: Mapping[str, Any], variables: Mapping[str, str], limit: float
) -> tuple[dict[str, list[Any]], str, bool]:
    """Run a child; return what it wrote by kind, how it ended, and whether that was the limit."""
    # The path comes first: this package may be importable only through it.
    code = (
        "import json, sys; asked = json.load(sys.stdin); sys.path[:] = asked['path']\n"
        f"from {__name__} import perform; perform(asked)"
    )
    values: dict[str, list[Any]] = {}
    # Files, because a process that an import has started would hold a pipe open.
    with TemporaryFile() as question, TemporaryFile() as answers:
        question.write(json.dumps(asked).encode())
        question.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, **variables},
            stdin=question,
            stdout=answers,
            stderr=subprocess.DEVNULL if sys.__stderr__ is None else None,
            start_new_session=True,
        )
        is_late = False
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            is_late = True
        finally:
            _kill(process)
            process.wait()
        answers.seek(0)
        for line in answers:
            with suppress(ValueError):  # a last line that is incomplete
                kind, value = json.loads(line)
                values.setdefault(kind, []).append(value)
    how = f"took longer than {limit:g} s and was ended" if is_late else _how(process.returncode)
    return values, how, is_late


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a child and the processes that it has started, which are in its group."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # macOS, for a child that has ended
            os.killpg(process.pid, signal.SIGKILL)
    else:  # pragma: no cover  # Windows
        process.kill()


def _how(code: int) -> str:
    """Say how a child ended by itself."""
    if code >= 0:
        return f"ended the interpreter with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"crashed the interpreter ({name})"


def perform(asked: Mapping[str, Any]) -> None:
    """Run a task; called in the child."""
    descriptor = os.dup(1)
    os.dup2(2, 1)  # what third-party code prints goes to stderr
    journal = Journal(descriptor, asked["skip"])
    module, _, function = asked["task"].partition(":")
    getattr(import_module(module), function)(asked["request"], journal)
    journal.add("done", True)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # third-party code may have closed or replaced it
            stream.flush()
    os._exit(0)  # threads and exit handlers of third-party code may take forever
