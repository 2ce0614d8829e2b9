"""The course of one call: what the candidates have said so far."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from spatch_core import IF_NEEDED, BackendSystem, NoImplementationError
from spatch_core._call.course import Course, reason_of


def test_a_course_begins_with_what_was_said_before() -> None:
    said = {"first": "it is too small"}
    course = Course(said)
    course.reasons["second"] = "it is too large"
    assert said == {"first": "it is too small"}
    assert Course().reasons == {}


def test_what_was_postponed_is_taken_once() -> None:
    course = Course()
    course.postponed += [1, 3]
    assert [*course.take_postponed()] == [1, 3]
    assert [*course.take_postponed()] == []


def test_an_exception_without_a_text_is_a_reason() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert reason_of(KeyError()) == "it raised KeyError"
    assert reason_of(ValueError("no")) == "it raised ValueError: no"
    assert reason_of(BrokenError()) == "it raised BrokenError"


# --- exceptions that defer, and call_next, through a library -------------------------------


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


async def raises_later(x: Any) -> Any:
    raise DecliningError("too large")


async def answers_later(x: Any) -> str:
    return "answers"


def goes_on(context: Any, x: Any, **options: Any) -> Any:
    return f"{context.name}({context.call_next(x, **options)})"


def converts(context: Any, x: Any) -> Any:
    return f"{context.name}({context.call_next(Own())})"


def goes_on_and_declines(context: Any, x: Any) -> Any:
    context.call_next(x)
    return NotImplemented


def goes_on_and_raises(context: Any, x: Any) -> Any:
    context.call_next(x)
    raise KeyError


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


def with_context(function: Any, **more: Any) -> dict[str, Any]:
    return {"function": function, "uses_context": True, **more}


@pytest.mark.parametrize("is_guarded", [False, True])
def test_an_exception_that_the_library_names_defers(is_guarded: bool) -> None:
    """C8: as NotImplemented does; for any backend, asked or not, traced or not."""
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


def test_other_exceptions_are_the_caller_s() -> None:
    """C9: nothing else is tried, and without `defer_on` no exception defers."""
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


def test_the_default_runs_outside_of_the_handler() -> None:
    """C8: its own exceptions have no context."""
    _, f = make(raises, default=fails, defer_on=[DecliningError])
    with pytest.raises(ValueError, match="broken") as caught:
        f(Foreign())
    assert caught.value.__context__ is None


def test_a_refusal_has_the_exception_as_its_cause() -> None:
    """V3, C8: and its text as the reason."""
    system, f = make(raises, defer_on=[DecliningError], fallback="raise")
    with pytest.raises(
        NoImplementationError, match="b0 defers: it raised DecliningError: too large"
    ):
        f(Foreign())
    with system.backend_opts(trace=True), pytest.raises(NoImplementationError) as caught:
        f(Foreign())
    assert isinstance(caught.value.__cause__, DecliningError)


def test_an_awaited_exception_defers() -> None:
    """C8, F16: as an awaited NotImplemented."""

    async def default(x: Any) -> str:
        return "default"

    for implementations, answer in [
        ((raises_later, answers_later), "answers"),
        ((raises_later,), "default"),
        (({"function": raises_later, "should_run": decides},), "default"),
    ]:
        _, f = make(*implementations, default=default, defer_on=[DecliningError])
        for _ in range(2):
            assert asyncio.run(f(Foreign())) == answer


@pytest.mark.parametrize("asks", [False, True])
def test_call_next_goes_on_with_the_rest(asks: bool) -> None:
    """C6: it never comes back; keyword arguments are handed on."""
    more = {"should_run": decides} if asks else {}
    _, f = make(with_context(goes_on, **more), with_context(goes_on, **more), answers)
    assert f(Foreign()) == "b0(b1(answers))"
    _, f = make(with_context(goes_on, **more), with_context(goes_on, **more))
    assert f(Foreign()) == "b0(b1(default))"
    system, f = make(with_context(goes_on, **more), fallback="raise")
    with pytest.raises(NoImplementationError):
        f(Foreign())
    with system.backend_opts(trace=True, fallback="default") as trace:
        assert f(Foreign()) == "b0(default)"
    assert [each.backend for each in trace] == ["b0", "default"]


def test_call_next_with_other_types_resolves_anew() -> None:
    """C6: without the backends that were considered before."""
    _, f = make(with_context(converts), answers, fallback="raise")
    assert f(Foreign()) == "b0(default)"
    both = {"name": "b1", "primary_types": [f"{__name__}:Own", f"{__name__}:Foreign"]}
    system, f = make(with_context(converts))
    system.register({**both, "functions": {"lib:f": {"function": answers}}})
    with system.backend_opts(prioritize=["b0", "b1"]):
        assert f(Foreign()) == "b0(answers)"


def test_nobody_is_asked_twice_whatever_goes_on() -> None:
    """C4, C6: also after `IF_NEEDED`, and if the backend that goes on defers itself."""
    lazy = {"function": answers, "should_run": needed}
    asked = {"function": lambda x: NotImplemented, "should_run": decides}
    for implementations, answer in [
        ((lazy, with_context(goes_on), asked), "b1(answers)"),
        ((with_context(goes_on_and_declines), asked), "default"),
        ((with_context(goes_on, should_run=needed), asked, lazy), "b0(answers)"),
        ((with_context(goes_on_and_declines, should_run=needed), asked, lazy), "answers"),
    ]:
        ASKED.clear()
        _, f = make(*implementations)
        assert f(Foreign()) == answer
        assert len(ASKED) == len(set(ASKED))


def in_two_parts(context: Any, x: Any) -> Any:
    return context.call_next("small"), context.call_next(x)


def prefers_large(context: Any, x: Any) -> Any:
    return x != "small"


def declines_small(x: Any) -> Any:
    return NotImplemented if x == "small" else "answers"


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "behind",
    [{"function": answers, "should_run": prefers_large}, {"function": declines_small}],
    ids=["asked", "declines"],
)
def test_call_next_with_other_arguments_is_a_call_of_its_own(
    behind: Any, place: int, is_traced: bool
) -> None:
    """C6: what a backend said of a part of the data does not hold for another part."""
    lazy = {"function": answers, "should_run": lambda context, x: False}
    system, f = make(*[lazy] * place, with_context(in_two_parts), behind)
    with system.backend_opts(type=Foreign, trace=is_traced):
        assert f("large") == ("default", "answers")


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("dispatch_args", ["x", lambda x: (x,)], ids=["name", "finder"])
def test_no_backend_runs_twice_if_one_defers_after_call_next(
    dispatch_args: Any, asks: bool, place: int, is_traced: bool
) -> None:
    """C1, C6: what `call_next` returned for the arguments of the call is the answer."""
    lazy = {"function": answers, "should_run": lambda context, x: False}
    ran = []

    def runs(x: Any) -> str:
        ran.append(x)
        return "answers"

    for declining in [
        with_context(goes_on_and_declines),
        with_context(goes_on_and_raises, should_run=decides),
    ]:
        ASKED.clear()
        ran.clear()
        behind = {"function": runs, **({"should_run": decides} if asks else {})}
        system, f = make(
            *([lazy] * place), declining, behind, dispatch_args=dispatch_args, defer_on=[KeyError]
        )
        with system.backend_opts(trace=is_traced) as trace:
            assert f(Foreign()) == "answers"
        assert len(ran) == 1
        assert len(ASKED) == len(set(ASKED))
        if is_traced:
            assert len(trace) == len({(each.backend, each.outcome) for each in trace})


def test_a_backend_that_defers_after_call_next_with_other_arguments_is_left_out() -> None:
    """C6: then the call goes on with its own arguments."""

    def part(context: Any, x: Any) -> Any:
        assert context.call_next("small") == "default"
        return NotImplemented

    behind = {"function": answers, "should_run": prefers_large}
    system, f = make(with_context(part), behind)
    with system.backend_opts(type=Foreign):
        assert f("large") == "answers"


def test_an_awaited_call_next_asks_no_backend_twice() -> None:
    """C4, C6, F16: also in coroutine functions."""

    async def default(x: Any) -> str:
        return "default"

    async def goes_on_later(context: Any, x: Any) -> Any:
        await context.call_next(x)
        return NotImplemented

    asked = {"function": declines_later, "should_run": decides}
    ASKED.clear()
    _, f = make(with_context(goes_on_later), asked, default=default)
    assert asyncio.run(f(Foreign())) == "default"
    assert ASKED == ["b1"]


def test_a_context_without_a_call_cannot_go_on() -> None:
    """C6: it says where contexts come from."""
    kept = []

    def keeps(context: Any, x: Any) -> str:
        kept.append(context)
        return "kept"

    _, f = make(with_context(keeps))
    f(Foreign())
    again = pickle.loads(pickle.dumps(kept[0]))
    with pytest.raises(RuntimeError, match="this context belongs to none"):
        again.call_next(Foreign())


async def declines_later(x: Any) -> Any:
    CALLED.append("declines")
    return NotImplemented


CALLED: list[str] = []


def test_awaited_answers_go_on_after_if_needed() -> None:
    """C4, F16: nothing is called twice."""

    async def default(x: Any) -> str:
        return "default"

    lazy = {"function": declines_later, "should_run": needed}
    _, f = make(lazy, declines_later, lazy, default=default)
    CALLED.clear()
    assert asyncio.run(f(Foreign())) == "default"
    assert len(CALLED) == 3
    _, f = make(lazy, declines_later, {**lazy, "function": answers_later}, default=default)
    CALLED.clear()
    assert asyncio.run(f(Foreign())) == "answers"
    assert len(CALLED) == 2


def test_a_refusal_says_who_has_gone_on() -> None:
    """V3: a backend that calls `call_next` has run; that none runs the rest is another matter."""

    def goes_on(context: Any, x: Any) -> Any:
        return context.call_next(x)

    backend = {
        "name": "caller",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:refused": {"function": goes_on, "uses_context": True}},
    }
    system = BackendSystem(None, "COURSELIB", ["builtins:int"], [backend], fallback="raise")
    f = system.dispatchable("x", identifier="lib:refused")(lambda x: x)
    with pytest.raises(NoImplementationError) as caught:
        f(Foreign())
    (said,) = caught.value.backends
    assert " ".join(str(said).split()) == "caller defers: it went on with context.call_next()"


class Wide:
    """Another type of the backends."""


def test_call_next_with_other_types_may_be_converted_by_the_backend_itself() -> None:
    """C6, V9: its implementation has had its turn, and its conversions have not."""

    def widens(context: Any, x: Any) -> Any:
        return context.call_next(Wide())

    def default(x: Any) -> str:
        return type(x).__name__

    conversions: dict[str, Any] = {"to_default": lambda x: 3, "from_default": lambda x: x}
    names = [f"{__name__}:Foreign", f"{__name__}:Wide"]
    function = {"function": widens, "uses_context": True}
    backend = {"name": "wide", "primary_types": names, "functions": {"lib:widened": function}}
    for more, policy in [(conversions, "convert"), ({}, "raise")]:
        for asks in (False, True):
            asked = {"should_run": lambda context, x: True} if asks else {}
            functions = {"lib:widened": {**function, **asked}}
            both = [{**backend, **more, "functions": functions}]
            system = BackendSystem(None, "COURSELIB", ["builtins:int"], both, fallback=policy)
            f = system.dispatchable("x", identifier="lib:widened")(default)
            if more:
                assert f(Foreign()) == "int"
                continue
            with pytest.raises(NoImplementationError) as caught:
                f(Foreign())
            (said,) = caught.value.backends
            assert " ".join(str(said).split()) == "wide defers: it went on with context.call_next()"
