"""The progress of one call: what the candidates have said so far."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from spatch_core import IF_NEEDED, BackendDeferredError, BackendSystem, NoImplementationError

# --- exceptions that defer, through a library -------------------------------


class Foreign:
    """The backends' type."""


class Own:
    """The library's type."""


class DecliningError(Exception):
    """An exception of the library's choice."""


def raises(x: Any) -> Any:
    raise DecliningError("too large")


def fails(x: Any) -> Any:
    raise ValueError("broken")


def answers(x: Any) -> str:
    return "answers"


ASKED: list[str] = []


def decides(context: Any, x: Any) -> Any:
    ASKED.append(context.name)
    return True


def needed(context: Any, x: Any) -> Any:
    ASKED.append(context.name)
    return IF_NEEDED


def make(
    *implementations: Any, default: Any = None, dispatch_args: Any = "x", **options: Any
) -> Any:
    backends = []
    for number, given in enumerate(implementations):
        entry = given if isinstance(given, dict) else {"function": given}
        backends.append(
            {
                "name": f"b{number}",
                "primary_types": [f"{__name__}:Foreign"],
                "functions": {"lib:f": entry},
            }
        )
    system = BackendSystem(None, "COURSELIB", [f"{__name__}:Own"], backends, **options)
    decorate = system.dispatchable(dispatch_args, identifier="lib:f")
    return system, decorate(default or (lambda x: "default"))


@pytest.mark.parametrize("is_guarded", [False, True])
def test_an_exception_that_the_library_names_defers(is_guarded: bool) -> None:
    """C6: as NotImplemented does; for any backend, asked or not, traced or not."""
    more = {"should_run": decides}
    for implementations in [
        (raises, answers),
        ({"function": raises, **more}, answers),
        (raises, raises, {"function": answers, **more}),
    ]:
        system, f = make(*implementations, defer_on=[DecliningError])
        if is_guarded:
            system.register({"name": "late", "primary_types": ["tests_course_absent:Foreign"]})
        assert f(Foreign()) == "answers"
        assert f(Foreign()) == "answers"
        with system.backend_opts(trace=True) as trace:
            assert f(Foreign()) == "answers"
        assert trace[1].reason == "it raised DecliningError: too large"
        assert f.invoke(type=Foreign)(3) == "answers"


def steps(x: Any) -> Any:
    yield "default"


async def later_steps(x: Any) -> Any:
    yield "default"


async def collected(steps: Any) -> list[Any]:
    return [each async for each in steps]


@pytest.mark.parametrize("trace", [False, True], ids=["untraced", "traced"])
def test_an_exception_defers_for_generator_functions_too(trace: bool) -> None:
    """C6: whether or not the call is traced."""
    system, f = make(raises, defer_on=[DecliningError], default=steps)
    with system.backend_opts(trace=trace):
        assert [*f(Foreign())] == ["default"]
    system, f = make(raises, defer_on=[DecliningError], default=later_steps)
    with system.backend_opts(trace=trace):
        assert asyncio.run(collected(f(Foreign()))) == ["default"]


def test_a_named_backend_that_defers_by_an_exception() -> None:
    """C6, F8: the exception is the cause."""
    _, f = make(raises, answers, defer_on=[DecliningError])
    with pytest.raises(BackendDeferredError, match="it raised DecliningError") as caught:
        f.invoke(backend="b0")(Foreign())
    assert isinstance(caught.value.__cause__, DecliningError)


def test_other_exceptions_are_the_caller_s() -> None:
    """C7: nothing else is tried, and without `defer_on` no exception defers."""
    _, f = make(fails, answers, defer_on=[DecliningError])
    with pytest.raises(ValueError, match="broken") as caught:
        f(Foreign())
    assert caught.value.__context__ is None
    _, f = make(raises, answers)
    with pytest.raises(DecliningError):
        f(Foreign())
    _, f = make(default=raises, defer_on=[DecliningError])
    with pytest.raises(DecliningError):
        f(Own())


def test_a_refusal_has_the_exception_as_its_cause() -> None:
    """V2, C6: and its text as the reason."""
    system, f = make(raises, defer_on=[DecliningError], fallback="raise")
    with pytest.raises(
        NoImplementationError, match="b0 defers: it raised DecliningError: too large"
    ):
        f(Foreign())
    with system.backend_opts(trace=True), pytest.raises(NoImplementationError) as caught:
        f(Foreign())
    assert isinstance(caught.value.__cause__, DecliningError)
