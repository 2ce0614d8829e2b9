"""The hooks that are ready to use."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem, hooks
from spatch_core.testing import run_python
from tests.library import HERE, Foreign, Own, describe, pattern


def one(x: Any, how: str = "") -> Any:
    if how == "raises":
        raise ValueError(how)
    return NotImplemented if how == "defers" else "one"


system = BackendSystem(None, "READYHOOKS", [pattern("Own")], [describe("one", one)])
backend_opts = system.backend_opts


@system.dispatchable("x", identifier="lib:f")
def f(x: Any, how: str = "") -> Any:
    return g(x) if how == "nested" else "default"


@system.dispatchable("x", identifier="lib:g")
def g(x: Any) -> Any:
    return "g"


@system.dispatchable("x", identifier="lib:wait")
async def wait(x: Any) -> Any:
    await asyncio.sleep(0)
    return g(x)


@system.dispatchable("x", identifier="lib:count")
def count(x: Any) -> Any:
    sent = yield g(x)
    yield sent
    return "end"


@system.dispatchable("x", identifier="lib:stream")
async def stream(x: Any) -> Any:
    try:
        yield (yield g(x))
    except KeyError:
        yield "caught"


def call_all() -> None:
    """Call functions of each nature."""

    async def main() -> None:
        assert await wait(Own()) == "g"
        generator = stream(Own())
        assert await generator.__anext__() == "g"
        assert await generator.asend("sent") == "sent"
        assert await generator.athrow(KeyError) == "caught"
        assert [each async for each in generator] == []
        closed = stream(Own())
        await closed.__anext__()
        await closed.aclose()

    f(Own(), "nested")
    generator = count(Own())
    assert next(generator) == "g"
    assert generator.send("sent") == "sent"
    with pytest.raises(StopIteration) as end:
        next(generator)
    assert end.value.value == "end"
    asyncio.run(main())


class Messages(logging.Handler):
    """Keeps messages."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.emit = self.records.append  # type: ignore[assignment, method-assign]

    @property
    def texts(self) -> list[str]:
        """Messages without times."""
        return [each.getMessage().rpartition(" in ")[0] for each in self.records]


@pytest.fixture
def messages() -> Messages:
    return Messages()


@pytest.fixture
def logger(messages: Messages) -> logging.Logger:
    logger = logging.Logger("lib")  # noqa: LOG001  # without the handlers of pytest
    logger.addHandler(messages)
    return logger


# --- log


def test_log(logger: logging.Logger, messages: Messages) -> None:
    """H2: function, types, backend; nested calls come first, and exceptions are logged."""
    with backend_opts(hook=hooks.log(logger)):
        f(Foreign())
        f(Foreign(), "defers")
        f(Own(), "nested")
        with pytest.raises(ValueError, match="raises"):
            f(Foreign(), "raises")
    assert messages.texts == [
        f"lib:f({HERE}:Foreign) -> one",
        f"lib:f({HERE}:Foreign) -> default",
        f"lib:g({HERE}:Own) -> default",
        f"lib:f({HERE}:Own) -> default",
        f"lib:f({HERE}:Foreign) -> one raised ValueError",
    ]
    assert {each.levelno for each in messages.records} == {logging.INFO}
    assert messages.records[0].getMessage().endswith(" ms")


def test_log_shows_the_line_of_the_caller(logger: logging.Logger, messages: Messages) -> None:
    """As warnings of the package do; whatever stands between."""
    line = test_log_shows_the_line_of_the_caller.__code__.co_firstlineno
    with backend_opts(hook=hooks.log(logger)), backend_opts(hook=hooks.log(logger, logging.ERROR)):
        f(Own())
    assert [(each.funcName, each.lineno - line) for each in messages.records] == [
        ("test_log_shows_the_line_of_the_caller", 4)
    ] * 2


def test_log_takes_a_logger_and_a_level(logger: logging.Logger) -> None:
    """Wrong ones are found when the hook is made, and ``hook=hooks.log`` answers no call."""
    wrong: Any = "lib"
    with pytest.raises(TypeError, match=r"^log\(\) takes a logger, e\.g\. logging\.getLogger"):
        hooks.log(wrong)
    with pytest.raises(TypeError, match=r"a level such as logging\.INFO, not 'INFO'$"):
        hooks.log(logger, "INFO")  # type: ignore[arg-type]
    uncalled: Any = hooks.log
    with backend_opts(hook=uncalled), pytest.raises(TypeError, match="takes a logger"):
        f(Own())
    adapter: Any = logging.LoggerAdapter(logger, {})
    with backend_opts(hook=hooks.log(adapter)):
        assert f(Foreign()) == "one"


def test_log_of_functions_that_suspend(logger: logging.Logger, messages: Messages) -> None:
    """H4: when they have ended."""
    with backend_opts(hook=hooks.log(logger, logging.WARNING)):
        call_all()
    assert [each.split("(")[0] for each in messages.texts] == [
        *("lib:g", "lib:f", "lib:g", "lib:count", "lib:g", "lib:wait", "lib:g", "lib:stream"),
        *("lib:g", "lib:stream"),
    ]
    assert not any("raised" in each for each in messages.texts)  # to close one early is no error


# --- spans


def test_spans_take_a_tracer() -> None:
    """The error says what is needed."""
    wrong: Any = logging
    with pytest.raises(TypeError, match=r"^spans\(\) takes a tracer of OpenTelemetry, e\.g\. "):
        hooks.spans(wrong)


@pytest.fixture
def exporter() -> Any:
    name = "opentelemetry.sdk.trace.export.in_memory_span_exporter"
    return pytest.importorskip(name).InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: Any) -> Any:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    provider = sdk.TracerProvider()
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    return provider.get_tracer("lib")


def test_spans(tracer: Any, exporter: Any) -> None:
    """H2: of each call, with its backend; calls inside are children; exceptions are recorded."""
    with backend_opts(hook=hooks.spans(tracer)):
        f(Foreign())
        f(Own(), "nested")
        with pytest.raises(ValueError, match="raises"):
            f(Foreign(), "raises")
    first, inner, outer, failed = exporter.get_finished_spans()
    assert first.name == "lib:f"
    assert dict(first.attributes) == {
        "code.function.name": "lib.f",
        "spatch_core.types": (f"{HERE}:Foreign",),
        "spatch_core.backend": "one",
    }
    assert (inner.name, outer.name) == ("lib:g", "lib:f")
    assert inner.parent.span_id == outer.context.span_id
    assert outer.parent is None
    assert not failed.status.is_ok
    assert failed.attributes["spatch_core.backend"] == "one"
    assert [event.name for event in failed.events] == ["exception"]


def test_spans_of_functions_that_suspend(
    tracer: Any, exporter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """H4: coroutines are the current span while they run, generators are not."""
    with backend_opts(hook=hooks.spans(tracer)):
        call_all()
    found = exporter.get_finished_spans()
    assert [each.name for each in found] == [
        *("lib:g", "lib:f", "lib:g", "lib:count", "lib:g", "lib:wait", "lib:g", "lib:stream"),
        *("lib:g", "lib:stream"),
    ]
    assert found[4].parent.span_id == found[5].context.span_id
    assert found[2].parent is None
    assert not any(each.events for each in found)
    assert not caplog.records


# --- record


def calls(path: Path) -> list[dict[str, Any]]:
    found = json.loads(path.read_text("utf-8"))
    assert found["format"] == 1
    assert found["spatch_core"] == spatch_core.__version__
    return list(found["calls"])


def test_record(tmp_path: Path) -> None:
    """H2: one object for each function, types, backend and options, in a stable order."""
    path = tmp_path / "run.json"
    with hooks.record(path) as recorded, backend_opts(hook=recorded):
        for _ in range(3):
            f(Foreign())
        f(Foreign(), "defers")
        with pytest.raises(ValueError, match="raises"):
            f(Foreign(), "raises")
        with backend_opts(prioritize="one", type=Foreign):
            g(None)
        f.invoke(backend="default")(Foreign())
    none: dict[str, Any] = {"prioritize": [], "disable": [], "type": None}
    none |= {"fallback": None, "backend": None}
    types = [f"{HERE}:Foreign"]
    common = {"distribution": None, "version": None, "options": none, "invoked": False, "count": 1}
    assert calls(path) == [
        {
            **common,
            "function": "lib:f",
            "types": types,
            "backend": "default",
            "before": [],
            "invoked": True,
        },
        {
            **common,
            "function": "lib:f",
            "types": types,
            "backend": "default",
            "before": ["one"],
        },
        {
            **common,
            "function": "lib:f",
            "types": types,
            "backend": "one",
            "before": [],
            "count": 4,
        },
        {
            **common,
            "function": "lib:g",
            "types": types,
            "backend": "default",
            "before": [],
            "options": {**none, "prioritize": ["one"], "type": types[0]},
        },
    ]


def test_record_is_written_at_the_end_of_the_program(tmp_path: Path) -> None:
    """If not before, and where the program was when it began; not by a child process."""
    run_python(
        """
        import os, sys
        from spatch_core import BackendSystem, hooks

        os.chdir(os.environ["FOLDER"])
        system = BackendSystem(None, "MYLIB")
        f = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
        system.backend_opts(hook=hooks.record("run.json")).enable_globally()
        f(1)
        os.mkdir("other")
        os.chdir("other")
        if hasattr(os, "fork"):
            child = os.fork()
            if child == 0:
                f("in the child")
                sys.exit()
            os.waitpid(child, 0)
            assert not os.path.exists("../run.json")
        """,
        environment={"FOLDER": str(tmp_path)},
    )
    (call,) = calls(tmp_path / "run.json")
    assert call["types"] == ["builtins:int"]
