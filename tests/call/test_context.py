"""The context of a call, exceptions that defer, and `call_next`: how a backend goes on."""

from __future__ import annotations

import asyncio
import pickle
from abc import ABC
from typing import Any

import pytest

from spatch_core import IF_NEEDED, BackendDeferredError, DispatchContext, NoImplementationError
from tests import library
from tests.library import Foreign, Own, answering, declines, describe


def prepares(context: DispatchContext, x: Any, number: int) -> bool | str:
    assert context.prepared is None
    context.prepared = [number]
    return number > 0 or "the number is too small"


def is_prepared(context: DispatchContext, x: Any, number: int) -> Any:
    return context.prepared


def test_should_run_prepares_the_call_for_the_implementation() -> None:
    """C5: in this call alone; by force, nothing is prepared."""
    _, f = make(with_context(is_prepared, should_run=prepares))
    assert [f(Foreign(), number) for number in (1, 2, -1, 3)] == [[1], [2], "default", [3]]
    assert f.invoke(backend="b0")(Foreign(), 4) == [4]
    assert f.invoke(backend="b0", force=True)(Foreign(), 5) is None
    assert f.explain(Foreign(), -1).selected == "default"


def test_it_can_be_made_for_a_test_and_pickled() -> None:
    """C5: a backend's tests make one of their own; it cannot be changed."""
    context = DispatchContext((int,), (1,), "b", True, "lib:f")
    for name in ("types", "dispatch_args", "name", "prioritized", "function"):
        with pytest.raises(AttributeError):
            setattr(context, name, None)
    copied = pickle.loads(pickle.dumps(context))
    assert (copied.types, copied.dispatch_args) == ((int,), (1,))
    assert (copied.name, copied.prioritized, copied.function) == ("b", True, "lib:f")
    assert repr(copied) == (
        "DispatchContext(name='b', function='lib:f', types=(<class 'int'>,), prioritized=True)"
    )


class Shape(ABC):  # noqa: B024  # nothing is registered with it
    pass


def call_twice(system: Any, f: Any, *args: Any) -> None:
    f(*args)
    f(*args)


def test_arguments_may_have_any_name() -> None:
    """F1: also if a finder has looked at them, and in every kind of call."""

    def default(x: Any, found: Any = None, function: Any = None, args: Any = None) -> Any:
        return found, function, args

    names = {"found": 1, "function": 2, "args": 3}
    for traits in ({}, {"inside": "x"}):
        system, f = library.make(default=default, dispatch_args=None, traits=traits)
        for options in ({}, {"trace": True}, {"hook": lambda call: NotImplemented}):
            with system.backend_opts(**options):
                assert f(Own(), **names) == (1, 2, 3)


WAYS: dict[str, Any] = {
    "call": lambda system, f, *args: f(*args),
    "second call": call_twice,
    "keyword": lambda system, f, x, y, z: f(x, y, z=z),
    "invoke backend": lambda system, f, *args: f.invoke(backend="b0")(*args),
    "invoke type": lambda system, f, *args: f.invoke(type=Foreign)(*args),
    "explain": lambda system, f, *args: f.explain(*args),
    "trace": lambda system, f, *args: system.backend_opts(trace=True)(f)(*args),
    "hook": lambda system, f, *args: system.backend_opts(
        hook=lambda call: call.next(*call.args, **call.kwargs)
    )(f)(*args),
}


@pytest.mark.parametrize("types", ["Foreign", "~Foreign", f"@{__name__}:Shape Foreign"])
@pytest.mark.parametrize("runs", [True, False], ids=["runs", "defers"])
@pytest.mark.parametrize("way", WAYS)
def test_a_finder_runs_once_however_a_function_is_called(way: str, runs: bool, types: str) -> None:
    """F4: it may be slow, or use up an iterator; the context has what it has found."""
    calls: list[Any] = []
    seen: list[Any] = []
    first, second = Foreign(), Foreign()

    def find(*args: Any, z: Any = None) -> Any:
        calls.append(args)
        return iter((args[0], None, second))

    def asks(context: DispatchContext, *args: Any, **kwargs: Any) -> bool:
        seen.append(context.dispatch_args)
        return runs

    entry = {"function": answers, "should_run": asks, "uses_context": True}
    system, f = make(
        entry, entry, types=types, dispatch_args=find, default=lambda x, y, z: "default"
    )
    try:
        WAYS[way](system, f, first, 2, 3)
    except BackendDeferredError:
        assert way == "invoke backend"
    assert len(calls) == (2 if way == "second call" else 1)
    assert set(seen) == {(first, second)}


# --- exceptions that defer ----------------------------------------------------------------


class DecliningError(Exception):
    """An exception of the library's choice."""


def raises(x: Any) -> Any:
    raise DecliningError("too large")


answers = answering("answers")
ASKED: list[str] = []


def decides(context: Any, x: Any) -> Any:
    ASKED.append(context.name)
    return True


def needed(context: Any, x: Any) -> Any:
    ASKED.append(context.name)
    return IF_NEEDED


def default(x: Any, *rest: Any) -> str:
    return "default"


def make(*implementations: Any, types: str = "Foreign", **options: Any) -> Any:
    """Make a library with backends b0, b1, … of these implementations, or tables of a function."""
    backends = [
        describe(f"b{number}", types=types, **each)
        if isinstance(each, dict)
        else describe(f"b{number}", each, types=types)
        for number, each in enumerate(implementations)
    ]
    return library.make(*backends, **{"default": default, **options})


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
            system.register(describe("late", types="tests_course_absent:Foreign"))
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
    """C7: without `defer_on` no exception defers, and that of the default never does."""
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


def with_context(function: Any, **more: Any) -> dict[str, Any]:
    return {"function": function, "uses_context": True, **more}


@pytest.mark.parametrize("asks", [False, True])
def test_call_next_goes_on_with_the_rest(asks: bool) -> None:
    """C5: it never comes back; keyword arguments are handed on."""
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


def test_call_next_goes_on_for_the_type_that_is_given_alone() -> None:
    """C5: implementations do not get ``like``, and need not pass it on."""

    def next_of(context: DispatchContext, *args: Any) -> Any:
        assert context.dispatch_args == (given,)
        return f"{context.name}({context.call_next(*args)})"

    given, more = Foreign(), {"should_run": lambda context, *args: True}
    backends = with_context(next_of), with_context(next_of, **more)
    traits: dict[str, Any] = {"like": "like"}

    def default(n: int, *, like: Any = None) -> Any:
        return "default"

    for fallback, answer in (("default", "b0(b1(default))"), ("raise", None)):
        described = [describe(f"b{n}", **each) for n, each in enumerate(backends)]
        _, f = library.make(
            *described, default=default, dispatch_args=None, traits=traits, fallback=fallback
        )
        if answer is None:
            with pytest.raises(NoImplementationError):
                f(3, like=given)
        else:
            assert f(3, like=given) == answer


def test_call_next_with_other_types_resolves_anew() -> None:
    """C5: without the backends that were considered before."""
    _, f = make(with_context(converts), answers, fallback="raise")
    assert f(Foreign()) == "b0(default)"
    system, f = make(with_context(converts))
    system.register(describe("b1", answers, types="Own Foreign"))
    with system.backend_opts(prioritize=["b0", "b1"]):
        assert f(Foreign()) == "b0(answers)"


def test_no_backend_is_asked_twice_whatever_goes_on() -> None:
    """C3, C5: also after `IF_NEEDED`, and if the backend that goes on defers itself."""
    lazy = {"function": answers, "should_run": needed}
    asked = {"function": declines, "should_run": decides}
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
    """C5: what a backend said of a part of the data does not hold for another part."""
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
    """C1, C5: what `call_next` returned for the arguments of the call is the answer."""
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
    """C5: then the call goes on with its own arguments."""

    def part(context: Any, x: Any) -> Any:
        assert context.call_next("small") == "default"
        return NotImplemented

    behind = {"function": answers, "should_run": prefers_large}
    system, f = make(with_context(part), behind)
    with system.backend_opts(type=Foreign):
        assert f("large") == "answers"


def test_a_context_without_a_call_cannot_go_on() -> None:
    """C5: it says where contexts come from."""
    kept = []

    def keeps(context: Any, x: Any) -> str:
        kept.append(context)
        return "kept"

    _, f = make(with_context(keeps))
    f(Foreign())
    again = pickle.loads(pickle.dumps(kept[0]))
    with pytest.raises(RuntimeError, match="needs the context of a running call"):
        again.call_next(Foreign())


def test_a_demanded_backend_cannot_go_on() -> None:
    """C5, F8: there is no other candidate for what `invoke` names."""
    _, f = make(with_context(goes_on))
    assert f(Foreign()) == "b0(default)"
    with pytest.raises(BackendDeferredError, match="names no other backend") as caught:
        f.invoke(backend="b0")(Foreign())
    assert not hasattr(caught.value, "__notes__")  # it names the backend itself
