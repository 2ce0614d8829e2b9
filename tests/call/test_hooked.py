"""Hooks see every call in their scope, before the candidates."""

from __future__ import annotations

import asyncio
import gc
import inspect
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendDeferredError, BackendSystem
from spatch_core.hooks import Call
from tests.library import Foreign, Other, Own, answering, declines, describe, make, pattern


class DefersError(Exception):
    """By which implementations defer."""


def one(x: Any, *args: Any, **kwargs: Any) -> Any:
    if args == ("nested",):
        return "one", system.functions["lib:f"](Own())
    if args == ("defers",):
        return NotImplemented
    if args == ("raises",):
        raise KeyError("one")
    if args == ("defers by an exception",):
        raise DefersError
    return "one"


two = answering("two")


def asked(context: Any, *args: Any, **kwargs: Any) -> Any:
    return "default" if kwargs.get("n") == "next" and not context.call_next(*args) else "one"


async def one_waits(x: Any, *args: Any) -> Any:
    await asyncio.sleep(0)
    return "one", await system.functions["lib:wait"](Own(), *args)


def functions(**implementations: Any) -> dict[str, Any]:
    return {f"lib:{name}": {"function": each} for name, each in implementations.items()}


ONE = functions(f=one, found=one, wait=one_waits, like=two, asked=asked)
ONE["lib:asked"]["uses_context"] = True
system = BackendSystem(
    None,
    "HOOKLIB",
    [pattern("Own")],
    [
        describe("one", functions=ONE),
        describe("two", types="Other", functions=functions(f=two, found=two)),
    ],
    defer_on=[DefersError],
)
backend_opts = system.backend_opts


@system.dispatchable("x", identifier="lib:f")
def f(x: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the name of the implementation."""
    return "default"


@system.dispatchable([], identifier="lib:nothing")
def nothing(n: int = 0) -> Any:
    """Have no dispatch arguments."""
    return n


@system.dispatchable("x", identifier="lib:alone")
def alone(x: Any, *args: Any) -> Any:
    """Be implemented by no backend."""
    return f(x) if args == ("nested",) else x


@system.dispatchable(lambda *args, **kwargs: args[:1], identifier="lib:found")
def found(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Have a finder."""
    return "default"


@system.dispatchable("x", like="like", identifier="lib:like")
def like_default(x: Any, *, like: Any = None) -> Any:
    """Have an argument that is there for its type alone."""
    return "default"


@system.dispatchable("x", identifier="lib:asked")
def asks(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Be implemented with a context."""
    return ""


@system.dispatchable("x", identifier="lib:wait")
async def wait(x: Any, *args: Any) -> Any:
    """Be a coroutine function."""
    await asyncio.sleep(0)
    return "default", *args


@system.dispatchable("x", identifier="lib:count")
def count(x: Any) -> Any:
    """Be a generator function."""
    sent = yield alone(x)
    yield sent, alone(x)
    return "end"


class Seen:
    """A hook that keeps what it sees, and goes on."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.backends: list[str | None] = []

    def __call__(self, call: Call) -> Any:
        self.calls.append(call.function)
        try:
            return call.next(*call.args, **call.kwargs)
        finally:
            self.backends.append(call.backend)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    gc.collect()  # a task that has failed, in a block of another test
    yield
    backend_opts.reset_globally()


def forward(call: Call) -> Any:
    return call.next(*call.args, **call.kwargs)


# --- what a hook sees


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "seen"),
    [
        (f, (Own(),), {}, ((Own,), "default", "default")),
        (f, (Foreign(), 1), {"n": 2}, ((Foreign,), "one", "one")),
        (f, (), {"x": Foreign()}, ((Foreign,), "one", "one")),
        (f, (), {}, ((), "default", "default")),
        (f, (None,), {}, ((), "default", "default")),
        (nothing, (), {"n": 3}, ((), "default", 3)),
        (alone, (4,), {}, ((int,), "default", 4)),
        (found, (Foreign(), 5), {}, ((Foreign,), "one", "one")),
        (asks, (Foreign(),), {}, ((Foreign,), "one", "one")),
        (f, (Foreign(), "defers"), {}, ((Foreign,), "default", "default")),
        (f, (Foreign(), "defers by an exception"), {}, ((Foreign,), "default", "default")),
        (asks, (Foreign(),), {"n": "next"}, ((Foreign,), "one", "default")),
    ],
    ids=[
        *("own", "foreign", "keyword", "no arguments", "None", "no dispatch arguments"),
        *("no backend", "finder", "asked", "defers", "defers by raising", "calls the next one"),
    ],
)
def test_a_hook_sees_every_call(function: Any, args: Any, kwargs: Any, seen: Any) -> None:
    """H1: also those without dispatch arguments; with the arguments and what it is about."""
    calls: list[Call] = []

    def hook(call: Call) -> Any:
        calls.append(call)
        assert call.backend is None
        return call.next(*call.args, **call.kwargs)

    for _ in range(2):  # the first one fills the table
        with backend_opts(hook=hook):
            result = function(*args, **kwargs)
        call = calls.pop()
        assert not calls
        assert call.args == args
        assert all(one is other for one, other in zip(call.args, args, strict=True))
        assert call.kwargs == kwargs
        assert call.callable is function
        assert call.function == next(
            name for name, each in system.functions.items() if each is function
        )
        assert (call.types, call.backend, result) == seen
        assert repr(call) == f"<Call of {call.function}>"
    assert function(*args, **kwargs) == result


def test_no_hook_sees_calls_outside_of_its_block() -> None:
    """H1: a block's scope is that of all options."""
    hook = Seen()
    f(Own())
    with backend_opts(hook=hook) as options:
        assert options.hooks == backend_opts().hooks == (hook,)
        with backend_opts(prioritize="one"):
            f(Own())
        f(Own())
    f(Own())
    assert hook.calls == ["lib:f", "lib:f"]
    assert backend_opts().hooks == ()


def test_the_result_is_that_of_the_hook() -> None:
    """H2: it need not go on, and may go on with other arguments or several times."""
    with backend_opts(hook=lambda call: "hook"):
        assert f(Foreign()) == nothing() == "hook"
    with backend_opts(hook=lambda call: [call.next(Own()), call.next(x=Foreign())]):
        assert f(Other()) == ["default", "one"]
    with backend_opts(hook=lambda call: call.next(7)):
        assert nothing(n=8) == 7


@pytest.mark.parametrize("function", [f, found], ids=["parameters", "finder"])
def test_other_types_are_resolved_anew(function: Any) -> None:
    """H2: `next` with other types finds their backends, and outer hooks see these types."""
    outer: list[Any] = []

    def see(call: Call) -> Any:
        outer.append(call.types)
        return call.next(*call.args, **call.kwargs)

    def exchange(call: Call) -> Any:
        (given,) = call.args
        result = call.next({Foreign: Other, Own: Foreign}[type(given)]())
        return result, call.backend

    with backend_opts(hook=see), backend_opts(hook=exchange):
        for _ in range(2):
            assert function(Foreign()) == ("two", "two")
            assert function(Own()) == ("one", "one")
    assert outer == [(Other,), (Foreign,)] * 2


@pytest.mark.parametrize("names", [["first"], ["first", "second"]], ids=["one", "several"])
def test_a_backend_that_has_deferred_has_not_answered(names: list[str]) -> None:
    """H2: where none has answered, there is no backend, however many have deferred."""
    refusing, work = make(*(describe(name, declines) for name in names), fallback="raise")
    seen = Seen()
    calls: list[Call] = []

    def keep(call: Call) -> Any:
        calls.append(call)
        return forward(call)

    with (
        refusing.backend_opts(hook=seen),
        refusing.backend_opts(hook=keep),
        pytest.raises(spatch_core.NoImplementationError),
    ):
        work(Foreign())
    assert seen.backends == [None]
    assert calls[0].deferred == dict.fromkeys(names, "it returned NotImplemented")


def test_an_argument_that_is_there_for_its_type() -> None:
    """H1: hooks see `like`, and pass it on; implementations never get it."""
    like = Foreign()
    hook = Seen()
    with backend_opts(hook=hook), backend_opts(hook=lambda call: (call.kwargs, forward(call))):
        assert like_default(1, like=like) == ({"like": like}, "two")
        assert like_default(1, like=None) == ({"like": None}, "default")
        assert like_default(1) == ({}, "default")
        assert like_default.invoke(backend="default")(1, like=like) == ({"like": like}, "default")
    with backend_opts(hook=lambda call: call.next(2, **call.kwargs)):
        assert like_default(1, like=like) == "two"
    with backend_opts(hook=lambda call: call.next(*call.args)):
        assert like_default(1, like=like) == "default"
    assert hook.backends == ["one", "default", "default", "default"]


# --- which hooks, in which order, under which options


def test_a_hook_counts_once() -> None:
    """H2: given again, it is the innermost one, as a prioritized backend is the first one."""
    a, b = Seen(), Seen()
    with backend_opts(hook=a), backend_opts(hook=b), backend_opts(hook=a) as options:
        assert options.hooks == (a, b)
        f(Own())
    assert a.calls == b.calls == ["lib:f"]


def test_the_code_of_a_hook_runs_without_it() -> None:
    """H2, H3: innermost first, without those inside of it; the outer ones see its own calls."""
    seen: list[Any] = []

    def hook(name: str) -> Callable[[Call], Any]:
        def run(call: Call) -> Any:
            seen.append((name, call.function, backend_opts().hooks))
            if call.function == "lib:f":
                nothing()
            return call.next(*call.args, **call.kwargs)

        return run

    a, b = hook("a"), hook("b")
    with backend_opts(hook=a), backend_opts(hook=b):
        f(Own())
        assert backend_opts().hooks == (b, a)
    assert seen == [
        ("b", "lib:f", (a,)),
        ("a", "lib:nothing", ()),
        ("a", "lib:f", ()),
    ]


def test_calls_of_implementations_are_seen() -> None:
    """H3: `next` runs under the options of the call, whatever the hook has entered meanwhile."""
    hook = Seen()

    def disables(call: Call) -> Any:
        with backend_opts(disable="one"):
            assert "one" not in backend_opts().backends
            return call.next(*call.args, **call.kwargs)

    with backend_opts(hook=hook), backend_opts(hook=disables):
        assert f(Foreign(), "nested") == ("one", "default")
        assert alone(Foreign(), "nested") == "one"
    assert hook.calls == ["lib:f", "lib:f", "lib:alone", "lib:f"]
    assert hook.backends == ["default", "one", "one", "default"]


def test_options_inside_and_around() -> None:
    """H1, S3: hooks add to all other options."""
    hook = Seen()
    with backend_opts(disable="one"), backend_opts(hook=hook), backend_opts(trace=True) as trace:
        assert f(Foreign()) == "default"
        assert f(Other()) == "two"
    assert hook.backends == ["default", "two"]
    assert [event.backend for event in trace] == ["default", "two"]
    with backend_opts(hook=hook), backend_opts(type=Other):
        assert nothing() == 0
        assert f(None) == "two"
    with backend_opts(hook=hook, fallback="raise"), pytest.raises(TypeError):
        f(Foreign(), "defers")


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        (3, "takes a callable, which is called with each call, not 3"),
        (Seen, r"not <class .*Seen'>; did you mean Seen\(\.\.\.\)\?"),
        (one_waits, "takes a plain function, and .*:one_waits is a coroutine function"),
    ],
    ids=["number", "class", "coroutine function"],
)
def test_what_is_no_hook_is_refused(hook: Any, text: str) -> None:
    """H1: where the block is made."""
    with pytest.raises(TypeError, match=text):
        backend_opts(hook=hook)


# --- NotImplemented and exceptions


def test_not_implemented_before_next_steps_aside() -> None:
    """H2: the call goes on as if the hook were not there."""
    outer = Seen()
    with backend_opts(hook=outer), backend_opts(hook=lambda call: NotImplemented):
        assert f(Foreign(), n=1) == "one"
        assert nothing(3) == 3
        assert found(Foreign()) == "one"
    assert outer.calls == ["lib:f", "lib:nothing", "lib:found"]


def test_not_implemented_after_next_is_the_answer() -> None:
    """H2: the outer hook, and the caller, get it; no other backend is tried."""
    got: list[Any] = []

    def outer(call: Call) -> Any:
        got.append(call.next(*call.args, **call.kwargs))
        return got[-1]

    def inner(call: Call) -> Any:
        call.next(*call.args, **call.kwargs)
        return NotImplemented

    with backend_opts(hook=inner), backend_opts(hook=outer):
        assert f(Foreign()) is NotImplemented
        assert found(Foreign()) is NotImplemented
    assert got == [NotImplemented] * 2


@pytest.mark.parametrize("error", [ValueError, DefersError, KeyboardInterrupt])
def test_exceptions_of_hooks_are_the_callers(error: type[BaseException]) -> None:
    """H3: also those by which implementations defer; nothing else is tried."""

    def fails(call: Call) -> Any:
        raise error("by the hook")

    for function in (f, found, asks, alone):
        with backend_opts(hook=Seen()), backend_opts(hook=fails), pytest.raises(error) as caught:
            function(Foreign())
        assert caught.value.__cause__ is caught.value.__context__ is None
        assert not getattr(caught.value, "__notes__", ())
    assert f(Foreign()) == "one"


def test_exceptions_of_implementations_pass_through() -> None:
    """H3: a hook may catch them, and the options are those of the block again."""
    seen = Seen()

    def catches(call: Call) -> Any:
        try:
            return call.next(*call.args, **call.kwargs)
        except KeyError:
            return "caught"

    with backend_opts(hook=seen):
        with backend_opts(hook=catches):
            assert f(Foreign(), "raises") == "caught"
        with pytest.raises(KeyError):
            f(Foreign(), "raises")
        assert backend_opts().hooks == (seen,)
        assert f(Own()) == "default"
    assert seen.backends == ["one", "one", "default"]


def test_warnings_are_shown_where_the_hook_goes_on() -> None:
    """H3, V3: the innermost line outside of the package."""
    line = forward.__code__.co_firstlineno + 1

    with (
        backend_opts(fallback="warn", hook=forward),
        pytest.warns(spatch_core.FallbackWarning) as caught,
    ):
        f(type("Unknown", (), {})())
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]


def test_invocations_are_seen() -> None:
    """H1, F8: `next` runs the backend that `invoke` names, for whatever arguments."""
    seen = Seen()
    with backend_opts(hook=seen):
        assert f.invoke(backend="two")(Foreign()) == "two"
        assert f.invoke(type=Other)(None) == "two"
        with pytest.raises(BackendDeferredError):
            f.invoke(backend="one")(Foreign(), "defers")
        with backend_opts(hook=lambda call: call.next(Own())):
            assert f.invoke(backend="two")(Foreign()) == "two"
        with backend_opts(hook=lambda call: call.next(None)):
            assert f.invoke(type=Other)(Own()) == "two"
        assert found.invoke(backend="two")(Own()) == "two"
    assert seen.backends == ["two", "two", None, "two", "two", "two"]


def test_explain_runs_no_hook() -> None:
    """H1: it names them, innermost first."""

    def hook(call: Call) -> Any:
        raise AssertionError

    with backend_opts(hook=Seen()), backend_opts(hook=hook):
        explanation = f.explain(Foreign())
        assert system.explain_types("lib:f", [Foreign]) == explanation
    names = f"{__name__}:test_explain_runs_no_hook.<locals>.hook", f"{__name__}:Seen"
    assert explanation.hooks == names
    assert explanation.selected == "one"
    assert str(explanation).splitlines()[1] == f"  seen first by hooks: {', '.join(names)}"
    assert pickle.loads(pickle.dumps(explanation)) == explanation
    assert f.explain(Foreign()).hooks == ()


# --- functions that suspend


def test_coroutine_functions() -> None:
    """H4: `next` returns what can be awaited, and so does the hook; calls inside are seen."""
    seen: list[Any] = []

    def hook(call: Call) -> Any:
        assert inspect.iscoroutinefunction(call.callable)

        async def run() -> Any:
            seen.append((call.types, backend_opts().hooks))
            result = await call.next(*call.args, "more")
            seen.append((call.backend, backend_opts().hooks))
            return result

        return run()

    outer = Seen()

    async def main() -> Any:
        with backend_opts(hook=outer), backend_opts(hook=hook):
            return await asyncio.gather(wait(Foreign()), wait(Own()))

    assert asyncio.run(main()) == [("one", ("default", "more", "more")), ("default", "more")]
    assert sorted(seen, key=str) == sorted(
        [((each,), (outer,)) for each in (Foreign, Own, Own)]
        + [(each, (outer,)) for each in ("one", "default", "default")],
        key=str,
    )
    assert outer.calls == ["lib:wait"] * 3


def test_generator_functions() -> None:
    """H4: `next` returns an iterator; each step runs under the options of its consumer."""
    seen = Seen()

    def hook(call: Call) -> Any:
        if call.function != "lib:count":
            return NotImplemented

        def run() -> Any:
            assert backend_opts().hooks == (hook, seen)
            result = yield from call.next(*call.args)
            assert backend_opts().hooks == ()
            return f"the {result}"

        return run()

    with backend_opts(hook=seen), backend_opts(hook=hook):
        generator = count(1)
        assert not seen.calls
        assert next(generator) == 1
    assert generator.send("sent") == ("sent", 1)
    with pytest.raises(StopIteration) as end:
        next(generator)
    assert end.value.value == "the end"
    assert seen.calls == ["lib:count", "lib:alone"]


# --- what stays after a hook


def test_calls_are_not_pickled() -> None:
    """H4: the error says so."""
    calls: list[Call] = []
    with backend_opts(hook=calls.append):
        f(Own())
    with pytest.raises(TypeError, match=r"^a call of lib:f cannot be pickled: it belongs to its"):
        pickle.dumps(calls[0])
